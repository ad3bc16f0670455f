"""`pagemind up`: keep the agents of a home awake, in the foreground."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder
from pagemind.runtime.cli.shell_completion import agent_names
from pagemind.runtime.written_path import expanded

if TYPE_CHECKING:
    from pagemind.runtime.awake.awake import Awake
    from pagemind.runtime.cli.serving import Serving

Agents = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AGENT]…",
        help="Only these agents; by default all.",
        show_default=False,
        autocompletion=agent_names,
    ),
]


def up(
    agents: Agents = None,
    inbox: Annotated[
        list[str] | None,
        typer.Option(
            "--inbox",
            metavar="AGENT=FOLDER",
            help="Files that are put into the folder come to the agent; repeatable.",
        ),
    ] = None,
    at_once: Annotated[
        int, typer.Option("--at-once", metavar="N", min=1, help="Agents in a turn together.")
    ] = 8,
    http: Annotated[
        str | None,
        typer.Option(
            "--http",
            metavar="HOST:PORT",
            help="Serve the agents to other programs there, such as 127.0.0.1:8080 (docs/http.md).",
        ),
    ] = None,
    token_env: Annotated[
        str | None,
        typer.Option(
            "--token-env", metavar="NAME", help="With --http: the variable that holds the token."
        ),
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Keep agents awake: timers, files in inbox folders and queued messages become turns.

    It runs until Ctrl-C (exit code 130) or SIGTERM (0), and lets turns end first; the same again
    insists. Whatever was not done then, or at a kill, the next `up` does. A home that another `up`
    keeps awake is refused with 75 (docs/awake.md).
    """
    from pagemind.runtime.awake.awake import Awake
    from pagemind.runtime.cli.serving import serving
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.cli.up_view import telling

    folders = folders_of(inbox or ())
    with opened(home) as runtime, telling(as_json=as_json) as tell:
        only = agents or None
        awake = Awake(runtime, only=only, inboxes=folders, at_once=at_once, tell=tell)
        with serving(runtime, awake.keeper, http, token_env, only, tell) as server:
            return keep_awake(awake, server)


def folders_of(pairs: Sequence[str]) -> dict[str, Path]:
    """The values of --inbox."""
    found = {}
    for pair in pairs:
        name, equals, folder = pair.partition("=")
        if not equals or not name.strip() or not folder.strip():
            raise typer.BadParameter(f"{pair!r} is not AGENT=FOLDER", param_hint="--inbox")
        found[name.strip()] = expanded(folder.strip())
    return found


def keep_awake(awake: "Awake", server: "Serving | None" = None) -> int:
    """Until a signal; the exit code."""
    from pagemind.runtime.cli.stop_signals import stop_signals

    with stop_signals(insists=lambda: awake.keeper.stop(grace=0.0)) as stop:
        with awake:
            if server is not None:
                server.start()
            awake.run(stop.event)
            if server is not None:
                server.drain()
            ended = awake.stop(why=stop.why)
        if server is not None:
            server.stop()
        if not ended:
            stop.leave_at_once()
        return stop.code
