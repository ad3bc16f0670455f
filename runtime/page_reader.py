"""page_in: reads a page or an over-long message back, in parts of a bounded size.

A reading is stored as a reference (target, part, part size) and made again from the journal
whenever it is shown, so that reading never grows history.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import tzinfo

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.message import Message
from pagemind.runtime.services import Reading
from pagemind.runtime.shorten import shorten
from pagemind.runtime.state.state import State

_CHARACTERS = 12  # more of them to a token only long runs of one character have
_ID = re.compile(r"\s*([pPmM])(\d{1,18})\s*")


class PageReader:
    """Implements services.Pages. `part_tokens` gives the size of one part now."""

    def __init__(
        self,
        state: State,
        *,
        count: Callable[[str], int],
        zone: tzinfo,
        part_tokens: Callable[[], int],
    ) -> None:
        self._state = state
        self._count = count
        self._zone = zone
        self._part_tokens = part_tokens

    def read(self, id: str, part: int) -> Reading:
        """A part of p17 or m42. Raises ToolFailed for an unknown id or part."""
        target = self._target(id)
        limit = self._part_tokens()
        parts = self._parts(target, limit)
        if not 1 <= part <= len(parts):
            raise ToolFailed(f"{target} has {len(parts)} parts; there is no part {part}")
        reference = {"target": target, "part": part, "tokens": limit}
        if target.startswith("p"):
            self._state.pages.warm(int(target[1:]))
        return Reading(self._frame(target, part, parts), part, len(parts), reference)

    def text_of(self, message: Message) -> str:
        """The text that a stored reading stands for."""
        reference = message.reference or {}
        parts = self._parts(reference["target"], reference["tokens"])
        return self._frame(reference["target"], reference["part"], parts)

    def _target(self, id: str) -> str:
        state = self._state
        match = _ID.fullmatch(id)
        if not match:
            raise ToolFailed(f"{id!r} is not an id; pages are p1, p2, … and messages m1, m2, …")
        kind, number = match[1].lower(), int(match[2])
        if kind == "p" and state.pages.get(number) is None:
            count = state.pages.count()
            known = f"the pages are p1 to p{count}" if count else "there are no pages yet"
            raise ToolFailed(f"there is no page p{number}; {known}")
        if kind == "m" and number not in state.journal.get([number]):
            raise ToolFailed(
                f"there is no message m{number}; the newest is m{state.journal.last_seq}"
            )
        return f"{kind}{number}"

    def _parts(self, target: str, limit: int) -> list[str]:
        number = int(target[1:])
        if target.startswith("m"):
            message = self._state.journal.get([number])[number]
            return split([message.text + _calls(message)], limit, self._count)
        page = self._state.pages.get(number)
        assert page is not None
        stored = self._state.journal.range(page.first_seq, page.last_seq)
        return split(
            [line for message, _, _ in stored if (line := self.line(message))], limit, self._count
        )

    def line(self, message: Message) -> str:
        """One message of a page: id, time, who, and what was said or called."""
        if message.kind in ("notice", "reading"):
            return ""
        when = message.said_at.astimezone(self._zone) if message.said_at else None
        who = message.name if message.role == "tool" else message.speaker or message.role
        return f"{message.short_id} [{when:%Y-%m-%d %H:%M}] {who}: {message.text}{_calls(message)}"

    @staticmethod
    def _frame(target: str, part: int, parts: Sequence[str]) -> str:
        return f"[{target} part {part} of {len(parts)}]\n{parts[part - 1]}"


def _calls(message: Message) -> str:
    return "".join(f" [called {c.name}({c.arguments})]" for c in message.tool_calls)


def split(lines: Sequence[str], limit: int, count: Callable[[str], int]) -> list[str]:
    """Lines in parts of at most `limit` tokens; a longer line is cut, nothing is dropped."""
    parts: list[str] = []
    part: list[str] = []
    size = 0
    for line in lines:
        for piece in _pieces(line, limit, count):
            cost = count(piece) + 1
            if part and size + cost > limit:
                parts.append("\n".join(part))
                part, size = [], 0
            part.append(piece)
            size += cost
    if part or not parts:
        parts.append("\n".join(part))
    return parts


def _pieces(line: str, limit: int, count: Callable[[str], int]) -> Iterator[str]:
    """The line in pieces of at most `limit` tokens. Only what may fit is counted each time: the
    line may be a book."""
    at = 0
    while at < len(line):
        rest = line[at : at + limit * _CHARACTERS + 1]
        # Most text has four characters to a token: one count instead of a search.
        end = min(len(rest), limit * 4)
        if count(rest) <= limit:
            piece = rest
        elif count(rest[:end]) <= limit:
            space = rest.rfind(" ", end // 2, end)
            piece = rest[: space + 1] if space > 0 else rest[:end]
        else:
            # shorten() marks the cut with "…", which is not part of the text.
            piece = shorten(rest, limit, count).removesuffix("…") or rest[:1]
        yield piece
        at += len(piece)
