"""`pagemind mcp serve`: an agent's memory for other agents, by the Model Context Protocol."""

import signal
import sys
from typing import Annotated

import typer

from pagemind.runtime.cli.options import AgentName, HomeFolder


def serve(
    agent: AgentName,
    http: Annotated[
        str | None,
        typer.Option(
            "--http",
            metavar="HOST:PORT",
            help="Serve over streamable HTTP, instead of standard input and output.",
            show_default=False,
        ),
    ] = None,
    token_env: Annotated[
        str | None,
        typer.Option(
            "--token-env",
            metavar="NAME",
            help="With --http: the variable that holds the token clients must show.",
            show_default=False,
        ),
    ] = None,
    send: Annotated[
        bool,
        typer.Option("--send", help="Let clients talk to the agent, too: each call is a turn."),
    ] = False,
    home: HomeFolder = None,
) -> None:
    """Serve an agent's memory over MCP: search, pages, core memory, and inserts.

    It reads also while another process runs the agent; what is inserted waits in its inbox then.
    """
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.http.address import parse_address
    from pagemind.runtime.http.token import find_token
    from pagemind.runtime.mcp_server.functions import MemoryFunctions
    from pagemind.runtime.mcp_server.server import PATH, serve_http, serve_stdio

    if token_env and http is None:
        raise UserError("--token-env is for --http", hint="say --http 127.0.0.1:8080, too")
    address = parse_address(http) if http is not None else None
    with opened(home) as runtime:
        functions = MemoryFunctions(runtime, agent, sends=send)
        if address is None:
            _ends_on_interrupt()
            if sys.stdin.isatty():
                say(f"an MCP client can talk to {functions.agent} here; Ctrl-C ends it")
            serve_stdio(functions)
            return
        token = find_token(runtime.home.path, token_env, address)
        serve_http(
            functions,
            address,
            token,
            lambda real: say(f"the memory of {functions.agent} is served at {real.url}{PATH}"),
        )


def _ends_on_interrupt() -> None:
    """At once, as on SIGTERM: the thread that waits for a line of standard input cannot be woken,
    and what is stored is stored whole."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
