"""Walks through the tree as a model makes them: from the table, by page_in alone, in any history.

Whatever was read, listed, given a better gist, given up or reopened in between, in any order.
"""

import re
import tempfile
from datetime import UTC
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_kit import page

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.invariants import check_state
from pagemind.runtime.page_reader import PageReader
from pagemind.runtime.page_table import PageTable
from pagemind.runtime.page_tree import read_bound
from pagemind.runtime.settings import HOT_LINES
from pagemind.runtime.state.state import State
from pagemind.runtime.tokens import TokenCounter

count = TokenCounter().count
_ID = re.compile(r"[pd]\d+")

OPERATIONS = st.one_of(
    st.tuples(st.just("flush"), st.integers(1, 40)),
    st.tuples(st.just("read"), st.integers(1, 400)),
    st.tuples(st.just("list"), st.integers(0, 30)),
    st.tuples(st.just("gist"), st.integers(1, 400)),
    st.tuples(st.just("rewind"), st.integers(1, 5)),
    st.tuples(st.just("reopen"), st.just(0)),
)


class World:
    """An agent's pages on disk, and the table that the last flush made."""

    def __init__(self, folder: Path, budget: int, part: int) -> None:
        self.folder, self.budget, self.part = folder, budget, part
        self.clock = FrozenClock()
        self.gap = 0
        self.table = ""
        self.open()

    def open(self) -> None:
        self.state = State(self.folder, self.clock)
        self.state.database.take()
        self.reader = PageReader(self.state, count=count, zone=UTC, part_tokens=lambda: self.part)

    def do(self, what: str, number: int) -> None:
        pages = self.state.pages
        if what == "flush":
            self.flush(number)
        elif what == "read" and pages.get(number):
            pages.warm(number)
        elif what == "list" and (pages.directory(number) or (number == 0 and pages.last_number)):
            assert self.listed(f"d{number}")
        elif what == "gist" and pages.get(number):
            pages.set_gist(number, f"a better line about K{number}", author="a model")
        elif what == "rewind":
            self.gap += number  # numbers and seqs of what was given up are not used again
        elif what == "reopen":
            self.state.close()
            self.open()

    def flush(self, number: int) -> None:
        pages = self.state.pages
        first = pages.last_number + 1 + self.gap
        self.gap = 0
        with self.state.database.transaction():
            pages.add([page(n) for n in range(first, first + number)], line=1, epoch=1)
            pages.close_directories(count, line=1, epoch=1)
            table = PageTable(pages.tops(), pages.children, pages.hot(HOT_LINES))
            self.table = table.render(self.budget, count)

    def listed(self, id: str) -> list[str]:
        """The ids that a page_in of it shows, over all of its parts."""
        first = self.reader.read(id, 1)
        texts = [first.text, *(self.reader.read(id, n).text for n in range(2, first.parts + 1))]
        lines = [line for text in texts for line in text.splitlines()[1:]]
        return [line.split()[0] for line in lines if _ID.fullmatch(line.split()[0])]

    def reads(self) -> dict[str, int]:
        """How many reads reach each page."""
        ids = [line.split()[0] for line in self.table.splitlines()]
        reached: dict[str, int] = {}
        depth = 1
        while ids := [id for id in ids if _ID.fullmatch(id) and id not in reached]:
            reached |= dict.fromkeys(ids, depth)
            ids = [child for id in ids if id[0] == "d" for child in self.listed(id)]
            depth += 1
        return {id: depth for id, depth in reached.items() if id[0] == "p"}


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(OPERATIONS, min_size=1, max_size=12),
    st.integers(20, 700),
    st.integers(200, 900),
)
def test_no_order_of_things_breaks_the_bound(
    operations: list[tuple[str, int]], budget: int, part: int
) -> None:
    """Every page is within the bound from the table that the last flush made, and the table is
    within its budget."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), budget, part)
        for what, number in operations:
            before = world.table
            world.do(what, number)
            if what != "flush":
                assert world.table == before
        state = world.state
        if world.table:
            assert count(world.table) <= budget
            reads = world.reads()
            assert reads.keys() == {each.short_id for each in state.pages.all()}
            assert max(reads.values()) <= read_bound(state.pages.count())
        found = check_state(state)
        assert [each for each in found if each.check == "directories"] == []
        state.close()
