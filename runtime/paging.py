"""What the paging functions do, for one turn: read, find, pin, unpin. Implements services.Pages.

What one turn reads shares a part of room: beyond it the answer says what was read, and how to
look for the right page instead of the next one. Nothing that still stands in view is read twice.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pagemind.runtime.fifo_queue import Entry
from pagemind.runtime.page_finder import PageFinder
from pagemind.runtime.page_reader import PageReader
from pagemind.runtime.passage_reader import PassageReader
from pagemind.runtime.pinning import Pinning
from pagemind.runtime.services import FoundPage, PagesFound, PinAnswer, Reading, SearchFilters
from pagemind.runtime.template import load


@dataclass(frozen=True, slots=True)
class Paging:
    """`shown` gives what is in the queue now, `own` the ids of turn `turn` among it, `share` the
    tokens that the readings of that turn may take together, `searching` the function that finds
    pages."""

    reader: PageReader
    passages: PassageReader
    finder: PageFinder
    pinning: Pinning
    shown: Callable[[], Iterable[Entry]]
    own: Callable[[], tuple[str, ...]]
    share: Callable[[], int]
    count: Callable[[str], int]
    searching: str
    turn: int

    def read(self, id: str, part: int) -> Reading:
        reader = self.passages if self.passages.reads(id) else self.reader
        reading = reader.read(id, part)
        assert reading.reference is not None
        name = _name(reading.reference)
        before = [entry for entry in self._read() if entry.message.reference is not None]
        for entry in before:
            if _name(entry.message.reference or {}) == name:
                text = load("read_before").fill(reading=name, id=entry.message.short_id)
                return Reading(text.strip(), reading.part, reading.parts, None)
        used = sum(self._cost(entry.shown.text) for entry in before)
        if before and used + self._cost(reading.text) > self.share():
            names = ", ".join(_name(entry.message.reference or {}) for entry in before)
            text = load("read_enough").fill(
                reading=name, read=names, tokens=f"{used:,}", searching=self.searching
            )
            return Reading(text.strip(), reading.part, reading.parts, None)
        return reading

    def _cost(self, text: str) -> int:
        """What is read, without the line that says what it is: so that full parts fill a share."""
        return self.count(text.partition("\n")[2])

    def _read(self) -> list[Entry]:
        """What this turn has read and still sees. Directories are not counted: a way down the
        tree is bounded, and cutting it off would put pages out of reach."""
        return [
            entry
            for entry in self.shown()
            if entry.view.form == "reading"
            and entry.message.turn == self.turn
            and not str((entry.message.reference or {}).get("target", "")).startswith("d")
        ]

    def find(self, query: str | None, filters: SearchFilters, limit: int) -> PagesFound:
        # The question itself is no find.
        others = replace(filters, without=(*filters.without, *self.own()))
        found = self.finder.find(query, others, limit)
        return replace(found, pages=tuple(map(self._with_part, found.pages)))

    def _with_part(self, page: FoundPage) -> FoundPage:
        """With the part that has its line: so that no other is read for nothing."""
        if page.why is None:
            return page
        return replace(page, part=self.reader.part_with(page.id, page.why.id))

    def pin(self, id: str) -> PinAnswer:
        return self.pinning.pin(id)

    def unpin(self, id: str) -> PinAnswer:
        return self.pinning.unpin(id)


def _name(reference: dict[str, object]) -> str:
    return f"{reference['target']} part {reference['part']}"
