"""The protocol around MemoryFunctions: over standard input and output, or over HTTP.

On standard output stands the protocol and nothing else: what anything prints goes to standard
error while it serves.
"""

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import MissingExtra, PagemindError
from pagemind.runtime.http.address import Address
from pagemind.runtime.http.token import Token
from pagemind.runtime.mcp.library import quiet
from pagemind.runtime.mcp_server.functions import MemoryFunctions, failure
from pagemind.runtime.template import load

if TYPE_CHECKING:
    from mcp.server import Server

_log = logging.getLogger("pagemind.mcp")
PATH = "/mcp"


def serve_stdio(functions: MemoryFunctions) -> None:
    """Serve one client, until its end of standard input. Raises MissingExtra."""
    server = _server(functions)
    import anyio
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def serve_http(
    functions: MemoryFunctions,
    address: Address,
    token: Token | None,
    listening: Callable[[Address], None],
) -> None:
    """Serve many, until Ctrl-C or SIGTERM; `listening` is told the real port. Raises MissingExtra,
    UserError where nobody can listen there."""
    server = _server(functions)
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    from pagemind.runtime.http.guard import Guard
    from pagemind.runtime.http.server import bound

    # The guard before it checks hosts, origins and tokens as it does for all that is served.
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    listener = bound(address)
    listening(Address(address.host, listener.getsockname()[1]))
    config = uvicorn.Config(
        _Guarded(app, Guard(app, token)),
        loop="asyncio",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


class _Guarded:
    """The lifespan goes to the application itself; it has the sessions."""

    def __init__(self, app: Any, guard: Any) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await (self._app if scope["type"] == "lifespan" else self._guard)(scope, receive, send)


def _server(functions: MemoryFunctions) -> "Server[Any]":
    try:
        import anyio.to_thread
        import mcp_types as types
        from mcp.server import Server
    except ImportError:
        raise MissingExtra(
            "the library for MCP is not installed", hint="pip install 'pagemind[mcp]'"
        ) from None
    quiet()
    offered = {tool.name: (tool, reads) for tool, reads in functions.tools()}

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema={**tool.parameters, "additionalProperties": False},
                    annotations=types.ToolAnnotations(
                        read_only_hint=reads, destructive_hint=False, open_world_hint=False
                    ),
                )
                for tool, reads in offered.values()
            ]
        )

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in offered:
            known = ", ".join(offered)
            return _answer({"error": f"no tool is called {params.name!r}; tools: {known}"}, True)
        tool, _ = offered[params.name]
        client = _client(ctx)

        def call() -> dict[str, Any]:
            return functions.call(tool, params.arguments or {}, client)

        try:
            return _answer(await anyio.to_thread.run_sync(call))
        except PagemindError as error:
            return _answer(failure(error), True)
        except Exception as error:
            _log.exception("%s failed", tool.name)
            return _answer({"error": f"{tool.name} failed: {type(error).__name__}"}, True)

    def _answer(body: dict[str, Any], failed: bool = False) -> types.CallToolResult:
        text = json.dumps(body, ensure_ascii=False, default=str)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)],
            structured_content=json.loads(text),
            is_error=failed,
        )

    from importlib.metadata import version

    return Server(
        "pagemind",
        version=version("pagemind"),
        instructions=_instructions(functions.agent),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _instructions(agent: str) -> str:
    about = load("mcp_server").fill(agent=agent).strip()
    return f"{about}\n\n{load('data').text.strip()}"


def _client(ctx: Any) -> str:
    """What the client calls itself: a word, trusted no more than any."""
    params = getattr(ctx.session, "client_params", None)
    name = getattr(getattr(params, "client_info", None), "name", "") if params else ""
    name = "".join(c for c in str(name) if c.isprintable())[:60].strip()
    return f"mcp:{name or 'client'}"
