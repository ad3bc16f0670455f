"""How a rewind, an undo or a bring-back is shown to a person: what goes, what comes, what stays."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagemind.runtime.moved import Moved, Reverted, TurnSeen

_SHOWN = 12  # turns or changes, of many
_TEXT = 60  # characters of what was said or kept


def show_moved(done: "Moved") -> None:
    """Print it."""
    for line in lines_of(done):
        print(line)


def lines_of(done: "Moved") -> Iterator[str]:
    """What it does, a line each; the chat shows the same."""
    yield from _turns("takes back", done.taken_back, done.hidden)
    yield from _turns("brings back", done.brought_back, done.shown)
    changes = list(done.reverted)
    if changes:
        yield "memory:"
    for change in changes[:_SHOWN]:
        yield f"  {_change(change)}"
    if len(changes) > _SHOWN:
        yield f"  … and {len(changes) - _SHOWN:,} more"
    if done.world:
        yield "not undone, for it happened outside:"
    for call in done.world[:_SHOWN]:
        arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
        failed = "" if call.ok else " (failed, or its end is not known)"
        yield f"  {call.id} {_short(f'{call.name}({arguments})')}{failed}"
    if len(done.world) > _SHOWN:
        yield f"  … and {len(done.world) - _SHOWN:,} more"
    if done.shared:
        yield f"not undone, for other agents share it: block {', '.join(done.shared)}"
    where = f"m{done.seq}" if done.seq else "the beginning"
    from pagemind.runtime.cli.render import plural

    holds = f"{plural(done.messages, 'message')}, {plural(done.passages, 'passage')}"
    yield f"then {done.agent} is at {where}, with {holds} and {plural(done.pages, 'page')}"


def _turns(does: str, turns: "Sequence[TurnSeen]", messages: int) -> Iterator[str]:
    from pagemind.runtime.cli.render import plural

    if not turns and not messages:
        return
    yield f"{does} {plural(len(turns), 'turn')} ({plural(messages, 'message')}):"
    for turn in turns[:_SHOWN]:
        yield f"  m{turn.seq} {turn.speaker}: {_short(turn.text)}"
    if len(turns) > _SHOWN:
        yield f"  … and {len(turns) - _SHOWN:,} more"


def _change(change: "Reverted") -> str:
    by = " (a person's change)" if change.author == "user" else ""
    what = f"{change.kind} {change.id} {change.change}{by}"
    if change.kind in ("pin", "document"):
        return what
    if change.change == "reverted":
        return f"{what}: {_quoted(change.before)} → {_quoted(change.after)}"
    return f"{what}: {_quoted(change.after or change.before)}"


def _quoted(text: str) -> str:
    return f"“{_short(text)}”" if text.strip() else "nothing"


def _short(text: str) -> str:
    from pagemind.runtime.cli.render import one_line

    line = one_line(text)
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 1].rstrip()}…"
