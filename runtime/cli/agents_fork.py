"""`pagemind agents fork`: a copy of an agent under another name, as it is or as it was."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder


def fork(
    agent: AgentName,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What the copy is called.", show_default=False)
    ],
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="SEQ|TIME",
            help="As it was after the turn of m45, or at a time: 2026-05-08, yesterday.",
            show_default=False,
        ),
    ] = "",
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Copy an agent with everything it remembers; also one that is in use."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, plural
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.fingerprint import fingerprint
    from pagemind.runtime.time_machine import point

    with opened(home) as runtime:
        then = None
        if at:
            with runtime.reader(agent) as reader:
                then = point(at, runtime.clock.now().astimezone(reader.zone))
        made = runtime.fork(agent, name, then)
        if as_json:
            with runtime.reader(made.agent) as reader:
                answer({**made.as_json(), "sha256": fingerprint(reader.state)})
            return
    holds = f"{plural(made.messages, 'message')}, {plural(made.passages, 'passage')}"
    when = f" as of m{made.moved.seq}" if made.moved else ""
    print(f"{made.agent} is a copy of {made.source}{when}: {holds}, {plural(made.pages, 'page')}")
    if not made.indexed:
        say(f"{made.source} is in use: the search tables of {made.agent} are made anew")
