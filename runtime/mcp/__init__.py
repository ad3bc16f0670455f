"""MCP, as client: the functions of servers, beside an agent's own (docs/mcp.md).

The library is imported here only, and only once a server is spoken to.
"""
