"""A call that waits for consent, as a person is shown it: all that would run, to the letter, and
nothing that steers the terminal, hides, or looks like a line of ours."""

import json
from typing import TYPE_CHECKING

from pagemind.runtime.cli.failure import say
from pagemind.runtime.cli.wrapping import cells
from pagemind.runtime.settings import CONSENT_ROWS

if TYPE_CHECKING:
    from pagemind.runtime.person import ApprovalRequest

_FEWEST_COLUMNS = 8
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters by name that show nothing
_REACH = {
    "none": "it changes nothing",
    "memory": "it changes the agent's memory",
    "world": "it acts outside of the agent",
}


def exact(text: str) -> str:
    """Every character is seen: what a terminal would obey, hide, or show as an ordinary space is
    named instead."""
    return "".join(map(_seen, text))


def _seen(letter: str) -> str:
    if letter.isprintable() and letter not in _BLANK:
        return letter
    if ord(letter) < 32:
        return chr(0x2400 + ord(letter))
    return "\u2421" if letter == "\x7f" else f"⟨U+{ord(letter):04X}⟩"


def rows_of(request: "ApprovalRequest", width: int, most: int | None = None) -> list[str]:
    """The call in lines of a terminal so wide. Of more than `most`, the middle is left out, and the
    line in its place says how much that is."""
    about = f", {exact(request.about)}" if request.about else ""
    told = f"{_REACH[request.effect]}{about}"
    rows = [f"{exact(request.agent)} wants to call {exact(request.name)} ({told})"]
    for name, value in request.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        rows.append(f"  {exact(name)}:")
        rows += fenced(text, width)
    if most is None or len(rows) <= most:
        return rows
    tail = most // 3
    left_out = len(rows) - most + 1
    return [
        *rows[: most - tail - 1],
        f"  … {left_out:,} lines are not shown here …",
        *rows[len(rows) - tail :],
    ]


def fenced(text: str, width: int) -> list[str]:
    """Its lines behind a bar, so that none of them looks like ours."""
    rows = []
    for line in text.split("\n"):
        first, *more = _cut(exact(line), max(_FEWEST_COLUMNS, width - 5))
        rows += [f"  │ {first}", *(f"  ┆ {each}" for each in more)]
    return rows


def _cut(text: str, room: int) -> list[str]:
    """In pieces of so many columns: a terminal would go on at its left edge, where we write."""
    if cells(text) <= room:
        return [text]
    pieces, piece, used = [], "", 0
    for letter in text:
        wide = cells(letter)
        if used + wide > room:
            pieces.append(piece)
            piece, used = "", 0
        piece += letter
        used += wide
    return [*pieces, piece]


def tell_waiting(
    request: "ApprovalRequest", *, approve: str, deny: str, whole: bool = False
) -> None:
    """On standard error: what waits, and what answers it."""
    import shutil

    columns = shutil.get_terminal_size().columns
    rows = rows_of(request, columns, None if whole else CONSENT_ROWS)
    for row in rows:
        say(row)
    if len(rows) < len(rows_of(request, columns)):
        say(f"`pagemind agents show {request.agent}` shows all of it")
    say(f"it waits: {approve} runs it, {deny} refuses it; any other message lets it lapse")
