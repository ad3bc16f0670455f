"""page_in: reads a page, a directory or an over-long message back, in parts of a bounded size. What
came from outside stands in it as data, in fences of its own (untrusted.py).

A reading is stored as a reference (target, part, part size) and made again from the journal
whenever it is shown, so that reading never grows history. The listing of a directory is kept by
its hash instead: gists may be better by then.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.gist import holds
from pagemind.runtime.message import Message
from pagemind.runtime.page import Page
from pagemind.runtime.page_table import ROOT, local, span
from pagemind.runtime.part_size import must_be_cut_alike
from pagemind.runtime.services import Reading
from pagemind.runtime.shorten import MOST_CHARS_A_TOKEN, shorten
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.untrusted import OPEN, Fences

_LEAST = 24  # tokens of data in a fence: less than that is no part of anything
_ID = re.compile(r"([pPdDmM])(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Data:
    """A text from outside, and what the runtime says before it: who, and when."""

    id: str
    text: str
    head: str = ""

    def shown(self, text: str, fences: Fences) -> str:
        """Some of it in its fence, after what is said of it."""
        fenced = fences.around(self.id, text)
        return f"{self.head}\n{fenced}" if self.head else fenced


class PageReader:
    """Implements services.Pages. `part_tokens` gives the size of one part now, `fences` what data
    stands in; without them it is shown as it is, for people."""

    def __init__(
        self,
        state: State,
        *,
        count: Callable[[str], int],
        zone: tzinfo,
        part_tokens: Callable[[], int],
        fences: Fences = OPEN,
    ) -> None:
        self._state = state
        self._count = count
        self._zone = zone
        self._part_tokens = part_tokens
        self._fences = fences

    def read(self, id: str, part: int) -> Reading:
        """A part of p17, d3 or m42. Raises ToolFailed for an unknown id or part."""
        target, limit = self._target(id), self._part_tokens()
        looked = self.look(id, part)
        must_be_cut_alike(self._state, target, part, limit, looked.parts)
        text = looked.text
        reference: dict[str, Any] = {"target": target, "part": part, "tokens": limit}
        with self._state.database.transaction():
            if target.startswith("d"):
                # Gists get better: what was shown of them is kept, or it could not be shown again.
                reference["sha256"] = self._state.history.keep_text(text)
            self._warm(target)
        return replace(looked, reference=reference)

    def look(self, id: str, part: int) -> Reading:
        """The same beside the agent: nothing is noted, and nothing gets hotter."""
        target = self._target(id)
        parts = self._parts(target, self._part_tokens())
        if not 1 <= part <= len(parts):
            only = "it has 1 part" if len(parts) == 1 else f"its parts are 1 to {len(parts)}"
            raise ToolFailed(f"{target} has no part {part}; {only}")
        text = self._frame(target, part, parts)
        return Reading(text, part, len(parts), None, self._trust(target))

    def part_with(self, page: str, message: str) -> int:
        """The part of a page in which the line of a message begins; 1 where it has none."""
        start = f"{message} ["
        for part, text in enumerate(self._parts(page, self._part_tokens()), 1):
            if text.startswith(start) or f"\n{start}" in text:
                return part
        return 1

    def text_of(self, message: Message) -> str:
        """The text that a stored reading stands for."""
        reference = message.reference or {}
        if "sha256" in reference:
            return self._state.history.text(reference["sha256"])
        if message.erased:
            return message.text
        parts = self._parts(reference["target"], reference["tokens"])
        # What was erased takes less room: the part that was read may not be there any more.
        part = min(reference["part"], len(parts))
        return self._frame(reference["target"], part, parts)

    def _warm(self, target: str) -> None:
        """What is read gets hotter: a page, a directory, or the page that holds a message."""
        pages, number = self._state.pages, int(target[1:])
        if target.startswith("m"):
            for page in pages.of([number]).values():
                pages.warm(page)
        else:
            pages.warm(number, kind="directory" if target.startswith("d") else "page")

    # --- what there is to read ----------------------------------------------------------------

    def _target(self, id: str) -> str:
        """The id as it is written. Raises ToolFailed for what is not there, with what is."""
        state, written = self._state, id.strip()
        if written.isdecimal():
            raise ToolFailed(
                f"{written} alone names nothing; p{written} is a page, d{written} a directory,"
                f" m{written} a message"
            )
        match = _ID.fullmatch(written)
        if not match:
            raise ToolFailed(
                f"{id!r} is not an id; pages are p1, p2, …, directories of pages d1, d2, … and"
                " messages m1, m2, …"
            )
        kind, number = match[1].lower(), int(match[2])
        if kind == "p" and state.pages.get(number) is None:
            raise ToolFailed(f"there is no page p{number}; {self._known()}")
        if kind == "d" and not self._is_directory(number):
            newest = state.pages.last_directory
            known = f"the directories are d1 to d{newest}, and {ROOT} lists what is in none"
            if not newest:
                known = f"there are no directories yet; {self._known()}"
            raise ToolFailed(f"there is no directory d{number}; {known}")
        if kind == "m" and number not in state.journal.get([number]):
            raise ToolFailed(
                f"there is no message m{number}; the newest is m{state.journal.last_seq}"
            )
        if kind == "m" and not state.journal.lines.contains(number):
            raise ToolFailed(f"there is no message m{number} any more: it was taken back")
        return f"{kind}{number}"

    def _is_directory(self, number: int) -> bool:
        pages = self._state.pages
        return pages.count() > 0 if number == 0 else pages.directory(number) is not None

    def _known(self) -> str:
        newest = next(iter(self._state.pages.newest(1)), None)
        if newest is None:
            return "there are no pages yet: everything said is still in view"
        return f"the pages are p1 to {newest.short_id}, and page_find finds one by its words"

    def _parts(self, target: str, limit: int) -> list[str]:
        number = int(target[1:])
        count, fences = self._count, self._fences
        if target.startswith("m"):
            message = self._state.journal.get([number])[number]
            text = message.text + _calls(message)
            data = self._is_data(message)
            return split([Data(message.short_id, text) if data else text], limit, count, fences)
        if target.startswith("d"):
            listed = [entry(local(child, self._zone)) for child in self.listing(number)]
            return split(listed, limit, count)
        page = self._state.pages.ever(number)  # a past request may show one of another line
        assert page is not None
        stored = self._state.journal.span(page.first_seq, page.last_seq)
        rows = [row for message, _, _ in stored if (row := self._row(message))]
        return split(rows, limit, count, fences)

    def _trust(self, target: str) -> int:
        """The least of what stands in it. A directory is made only from what is trusted."""
        number = int(target[1:])
        if target.startswith("m"):
            return self._state.journal.get([number])[number].provenance.trust
        page = self._state.pages.ever(number) if target.startswith("p") else None
        return page.trust if page is not None else 100

    def listing(self, number: int) -> Sequence[Page]:
        """What stands in a directory; for 0 what is in none."""
        pages = self._state.pages
        return pages.children(number) if number else pages.tops()

    def line(self, message: Message) -> str:
        """One message of a page: id, time, who, and what was said or called."""
        row = self._row(message)
        return row.shown(row.text, self._fences) if isinstance(row, Data) else row

    def _row(self, message: Message) -> str | Data:
        if message.kind in ("notice", "reading"):
            return ""
        when = message.said_at.astimezone(self._zone) if message.said_at else None
        who = message.name if message.role == "tool" else message.speaker or message.role
        start = f"{message.short_id} [{when:%Y-%m-%d %H:%M}] {self._fences.name(who)}:"
        text = f"{message.text}{_calls(message)}"
        if text.strip() and self._is_data(message):
            return Data(message.short_id, text, start)
        return f"{start} {text}"

    def _is_data(self, message: Message) -> bool:
        return bool(self._fences.key) and untrusted(message.provenance.trust)

    @staticmethod
    def _frame(target: str, part: int, parts: Sequence[str]) -> str:
        return f"[{target} part {part} of {len(parts)}]\n{parts[part - 1]}"


def entry(page: Page) -> str:
    """One line of a directory: id, span, size, gist, and the keywords that the gist lacks."""
    held = f"{page.pages:,} pages, " if page.level else ""
    more = [word for word in page.keywords if not holds(page.gist, word)]
    words = f" ({', '.join(more)})" if more else ""
    return f"{page.short_id} {span([page])} {held}{page.tokens:,} tokens: {page.gist}{words}"


def _calls(message: Message) -> str:
    return "".join(f" [called {c.name}({c.arguments})]" for c in message.tool_calls)


def split(
    rows: Sequence[str | Data], limit: int, count: Callable[[str], int], fences: Fences = OPEN
) -> list[str]:
    """Rows in parts of at most `limit` tokens; a longer one is cut, nothing is dropped. Each piece
    of what is data has a fence of its own."""
    parts: list[str] = []
    part: list[str] = []
    size = 0
    for row in rows:
        pieces = (
            _pieces(row, limit, count) if isinstance(row, str) else _data(row, limit, count, fences)
        )
        for piece in pieces:
            cost = count(piece) + 1
            if part and size + cost > limit:
                parts.append("\n".join(part))
                part, size = [], 0
            part.append(piece)
            size += cost
    if part or not parts:
        parts.append("\n".join(part))
    return parts


def _data(row: Data, limit: int, count: Callable[[str], int], fences: Fences) -> Iterator[str]:
    """Its pieces as they are shown."""
    frame = count(row.shown("…", fences))
    room = max(limit, frame + _LEAST)
    for number, piece in enumerate(
        _pieces(row.text, room, lambda text: count(row.shown(text, fences)))
    ):
        yield row.shown(piece, fences) if not number else fences.around(row.id, piece)


def _pieces(line: str, limit: int, count: Callable[[str], int]) -> Iterator[str]:
    """The line in pieces of at most `limit` tokens. Only what may fit is counted each time: the
    line may be a book."""
    at = 0
    while at < len(line):
        rest = line[at : at + limit * MOST_CHARS_A_TOKEN + 1]
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
