"""`pagemind agents rewind|undo|bring-back|lines`: go back to a turn's end, and return."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, DryRun, HomeFolder, Wait, Yes

if TYPE_CHECKING:
    from pagemind.runtime.moved import Moved
    from pagemind.runtime.time_machine import TimeMachine

    Move = Callable[[TimeMachine, bool], Moved]

_DOING = {"rewind": "a rewind", "undo": "an undo", "bring back": "bringing back"}


def rewind(
    agent: AgentName,
    to: Annotated[
        str,
        typer.Argument(
            metavar="SEQ|TIME",
            help="A message (m45), whose turn is the last that stays; or a time: 2026-05-08, "
            "yesterday, 3 days ago. m0 is before the first.",
            show_default=False,
        ),
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Go back to an earlier turn's end, with the memory of then. `bring-back` returns."""
    from pagemind.runtime.time_machine import point

    def move(machine: "TimeMachine", apply: bool) -> "Moved":
        return machine.rewind(point(to, machine.now()), apply=apply)

    return _move(agent, move, dry_run, yes, wait, as_json, home)


def undo(
    agent: AgentName,
    turns: Annotated[int, typer.Argument(metavar="[N]", min=1, help="How many turns.")] = 1,
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Take the last turns back, with what they changed in memory. `bring-back` returns."""

    def move(machine: "TimeMachine", apply: bool) -> "Moved":
        return machine.undo(turns, apply=apply)

    return _move(agent, move, dry_run, yes, wait, as_json, home)


def bring_back(
    agent: AgentName,
    line: Annotated[
        int | None,
        typer.Argument(
            metavar="[LINE]",
            min=1,
            help="Which line (`agents lines`); by default the one of before the last undo or "
            "rewind.",
            show_default=False,
        ),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Return to what was taken back, with the memory that it had."""

    def move(machine: "TimeMachine", apply: bool) -> "Moved":
        return machine.bring_back(line, apply=apply)

    return _move(agent, move, dry_run, yes, wait, as_json, home)


def lines(agent: AgentName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """List what was taken back, when, and how much of it there is."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import listing, local, one_line, table
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.lines_seen import lines_seen

    with opened(home) as runtime, runtime.reader(agent) as reader:
        found = lines_seen(reader.state)
    if as_json:
        listing([each.as_json() for each in found])
        return
    if len(found) == 1:
        say("nothing was ever taken back")
        return
    table(
        ["line", "from", "last", "left", "by", "turns", "messages", "first of it"],
        [
            [
                f"{each.line}{' *' if each.current else ''}",
                each.parent or "",
                f"m{each.last_seq}",
                local(each.left_at),
                each.left_by,
                each.turns or "",
                f"{each.hidden:,}" if each.hidden else "",
                one_line(each.text),
            ]
            for each in found
        ],
        right="turns messages",
        spare="from last left",
    )
    say("* the current one; turns and messages are those that it does not have")


def _move(
    agent: str,
    move: "Move",
    dry_run: bool,
    yes: bool,
    wait: float,
    as_json: bool,
    home: str | None,
) -> int:
    """Look at it, show it, ask, and do it."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.moved_view import show_moved
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import confirmed, opened
    from pagemind.runtime.fingerprint import fingerprint

    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        done = move(writer.time_machine, False)
        if not as_json:
            show_moved(done)
        if not dry_run:
            if not confirmed(f"do this to {writer.name}?", yes=yes, doing=_DOING[done.kind]):
                say("nothing was changed")
                return 1
            done = move(writer.time_machine, True)
        sha256 = fingerprint(writer.state)
    if as_json:
        answer({**done.as_json(), "sha256": sha256})
    elif done.applied:
        say(f"done; `pagemind agents bring-back {done.agent} {done.from_line}` returns")
    return 0
