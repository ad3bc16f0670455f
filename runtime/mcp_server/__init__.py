"""MCP, as server: an agent's memory for other agents (docs/mcp.md)."""
