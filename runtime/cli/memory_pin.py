"""`pagemind memory pin|unpin`: keep a message or page in an agent's view, or let it go."""

from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait

if TYPE_CHECKING:
    from pagemind.runtime.services import PinAnswer

Target = Annotated[
    str,
    typer.Argument(metavar="ID", help="A message such as m42, or a page such as p17."),
]


def pin(
    agent: AgentName,
    target: Target,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Keep a copy of a message or page in the window, from the next flush on."""
    made, name = _change("pin", agent, target, wait, home)
    if as_json:
        _answer(name, made)
        return
    already = "" if made.changed else " already"
    print(
        f"{made.target} is pinned{already}: {made.tokens:,} tokens, {max(0, made.free):,} left for"
        " pins"
    )


def unpin(
    agent: AgentName,
    target: Target,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Let a pinned copy go; it leaves the window at the next flush."""
    gone, name = _change("unpin", agent, target, wait, home)
    if as_json:
        _answer(name, gone)
    else:
        print(f"{gone.target} is not pinned any more: {max(0, gone.free):,} tokens left for pins")


def _change(
    doing: str, agent: str, target: str, wait: float, home: HomeFolder
) -> "tuple[PinAnswer, str]":
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import ToolFailed, UserError

    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        pinning = writer.queue_manager.pinning
        try:
            made = pinning.pin(target) if doing == "pin" else pinning.unpin(target)
        except ToolFailed as refused:
            raise UserError(refused.message) from None
        return made, writer.name


def _answer(name: str, made: "PinAnswer") -> None:
    from pagemind.runtime.cli.render import answer

    answer({"agent": name, "id": made.target, "tokens": made.tokens, "free": max(0, made.free)})
