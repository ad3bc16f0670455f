"""Commands about the past: what it was, taking it back with the memory it left, and returning."""

from typing import TYPE_CHECKING

from pagemind.runtime.cli.commands.command import Command, Scene
from pagemind.runtime.errors import UserError

if TYPE_CHECKING:
    from pagemind.runtime.moved import Moved, Reverted

_TURNS_OF_HISTORY = 10
_TURNS_TOLD = 5
_TEXT_CHARS = 60


def _history(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.past_history import print_history
    from pagemind.runtime.past import Past

    if rest and (not rest.isdecimal() or not int(rest)):
        raise UserError(f"{rest!r} is no number of turns", hint="/history 50 shows fifty")
    runtime = scene.opening.runtime
    with runtime.reader(scene.agent.name) as reader:
        found = Past(reader, runtime.counter).turns(last=int(rest or _TURNS_OF_HISTORY))
        print_history(scene.agent.name, found, reader.zone)


def _diff(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.past_diff import print_diff
    from pagemind.runtime.past import Past

    runtime = scene.opening.runtime
    with runtime.reader(scene.agent.name) as reader:
        print_diff(scene.agent.name, Past(reader, runtime.counter).changes(rest, "now"))


def _undo(scene: Scene, rest: str) -> None:
    if rest and not rest.isdecimal():
        raise UserError(
            f"{rest!r} is no number of turns", hint="/undo takes back one, /undo 3 three"
        )
    tell(scene.agent.undo(int(rest or 1)))


def _rewind(scene: Scene, rest: str) -> None:
    from pagemind.runtime.moment import Moments

    agent = scene.agent
    moment = Moments(agent.name, agent.state, agent.zone).find(rest)
    tell(agent.rewind(moment.seq))


def _bring_back(scene: Scene, rest: str) -> None:
    if rest and not rest.isdecimal():
        raise UserError(f"{rest!r} is no line", hint="without a number it is the last one")
    tell(scene.agent.bring_back(int(rest) if rest else None))


def _fork(scene: Scene, rest: str) -> None:
    from pagemind.runtime.cli.render import plural

    made = scene.opening.runtime.fork(scene.agent, rest)
    print(f"{made.agent} is a copy of {made.source}: {plural(made.messages, 'message')};")
    print(f"/switch {made.agent} talks to it")


def _rewrite(scene: Scene, rest: str) -> None:
    tell(scene.agent.undo(1))
    scene.send(rest)


def tell(moved: "Moved") -> None:
    """Say what a move did, and what it could not do."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import plural

    back = moved.kind == "bring back"
    turns = moved.brought_back if back else moved.taken_back
    print(f"{'brought back' if back else 'taken back'}: {plural(len(turns), 'turn')}")
    for turn in turns[:_TURNS_TOLD]:
        print(f"  turn {turn.turn}: {_short(turn.text)}")
    if len(turns) > _TURNS_TOLD:
        print(f"  … and {len(turns) - _TURNS_TOLD:,} more")
    for each in moved.reverted:
        print(f"  {_change(each)}")
    for call in moved.world:
        say(f"{call.name} in turn {call.turn} ({call.id}) did something outside: that stays done")
    if not back:
        say("it is hidden, not erased: /bring-back undoes this")


def _change(each: "Reverted") -> str:
    yours = " (your own edit)" if each.author == "user" else ""
    if each.change != "reverted":
        return f"{each.kind} {each.id} is {each.change}{yours}"
    last = _short(each.after.splitlines()[-1]) if each.after.strip() else "(empty)"
    return f"{each.id} is as it was: {last}{yours}"


def _short(text: str) -> str:
    from pagemind.runtime.cli.render import one_line

    line = one_line(text)
    return line if len(line) <= _TEXT_CHARS else line[: _TEXT_CHARS - 1] + "…"


COMMANDS = (
    Command("/history", "[N]", "the last ten turns, or N, with flushes and rewinds", _history),
    Command(
        "/diff", "SEQ|TIME", "what changed in memory since m42, or yesterday", _diff, "message"
    ),
    Command("/undo", "[N]", "take back the last turn, or N, with what they noted", _undo),
    Command("/rewrite", "TEXT", "take the last turn back and say this instead", _rewrite),
    Command("/rewind", "SEQ|TIME", "go back to m42, or to 10:30, or yesterday", _rewind, "message"),
    Command("/bring-back", "[LINE]", "undo an /undo or a /rewind", _bring_back),
    Command("/fork", "NAME", "copy the agent as it is now, under another name", _fork),
)
