"""`pagemind agents good|bad`: say what the last answer was worth."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait

Why = Annotated[
    str,
    typer.Argument(
        metavar="[WHY]", help="Your reason; - reads standard input.", show_default=False
    ),
]


def good(
    agent: AgentName,
    why: Why = "",
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Mark the agent's last answer as good. It is kept with the turn; marking again replaces it."""
    _judge("good", agent, why, wait, as_json, home)


def bad(
    agent: AgentName,
    why: Why = "",
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Mark the agent's last answer as bad. It is kept with the turn; marking again replaces it."""
    _judge("bad", agent, why, wait, as_json, home)


def _judge(
    verdict: str, agent: str, why: str, wait: float, as_json: bool, home: str | None
) -> None:
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened, text_or_stdin
    from pagemind.runtime.feedback import judge

    said = text_or_stdin(why)
    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        turn = judge(writer.state, verdict, said)
        name = writer.name
    if as_json:
        answer({"agent": name, "turn": turn, "verdict": verdict, "why": said})
    else:
        print(f"turn {turn} is marked {verdict}{', with your reason' if said else ''}")
