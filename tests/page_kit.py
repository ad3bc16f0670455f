"""Trees of pages for tests, without a database: n pages, their directories, and what is above."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pagemind.runtime.page import Page
from pagemind.runtime.page_tree import closing

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def page(number: int, gist: str = "", at: datetime | None = None) -> Page:
    """Page p<number> of one message, one hour after the one before."""
    at = at or AT + timedelta(hours=number)
    gist = gist or f"gist of page {number}"
    return Page(number, number, number, at, at, 1, 10, gist, (f"K{number}",), 100)


def words(text: str) -> int:
    """A counter that costs no time: a word is a token."""
    return len(text.split())


class Tree:
    """The tree over some pages. `rows` counts what was loaded of it."""

    def __init__(self, pages: Sequence[Page], count: Callable[[str], int] = words) -> None:
        self.nodes = {each.short_id: each for each in pages}
        self._children: dict[int, list[str]] = {}
        for made, children in closing(pages, 1, count):
            self.nodes[made.short_id] = made
            for child in children:
                held = self.nodes[child.short_id]
                self.nodes[child.short_id] = replace(held, parent=made.number)
            self._children[made.number] = [child.short_id for child in children]
        self.rows = 0

    def tops(self) -> list[Page]:
        tops = [each for each in self.nodes.values() if each.parent is None]
        self.rows += len(tops)
        return sorted(tops, key=lambda each: each.first_seq)

    def children(self, number: int) -> list[Page]:
        found = [self.nodes[id] for id in self._children[number]]
        self.rows += len(found)
        return found

    def listing(self, id: str) -> list[str]:
        """What page_in of it shows the ids of."""
        if id == "d0":
            return [each.short_id for each in self.tops()]
        return [each.short_id for each in self.children(int(id[1:]))] if id[0] == "d" else []

    def reads(self, table: str) -> dict[str, int]:
        """How many reads reach each page from the table."""
        reached: dict[str, int] = {}
        shown = [text.split()[0] for text in table.splitlines()]
        ids = [id for id in shown if id == "d0" or id in self.nodes]
        depth = 1
        while ids:
            below: list[str] = []
            for id in ids:
                if id not in reached:
                    reached[id] = depth
                    below += self.listing(id)
            ids, depth = below, depth + 1
        return {id: n for id, n in reached.items() if id[0] == "p"}
