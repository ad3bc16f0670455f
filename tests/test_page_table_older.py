"""The page table counts the older pages that it does not show, also those it was not given."""

from datetime import UTC, datetime

from pagemind.runtime.page import Page
from pagemind.runtime.page_table import PageTable

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def page(number: int) -> Page:
    return Page(number, number, number, AT, AT, 1, 10, f"gist {number}", (), 100)


def words(text: str) -> int:
    return len(text.split())


def test_older_pages_are_counted_from_the_first() -> None:
    """Whoever gives only the newest pages gets the same table as with all of them."""
    every = [page(n) for n in range(1, 101)]
    table = PageTable(every).render(40, words)
    assert PageTable(every[-10:]).render(40, words) == table
    shown = [line for line in table.splitlines() if "gist" in line]
    assert table.splitlines()[0] == f"p1–p{100 - len(shown)}: {100 - len(shown)} older pages"


def test_a_table_with_room_for_all_counts_none() -> None:
    """Nothing is older than p1."""
    assert PageTable([page(1), page(2)]).render(100, words).splitlines() == [
        "p1 [2026-03-02] gist 1",
        "p2 [2026-03-02] gist 2",
    ]


def test_without_room_for_a_page_all_are_counted() -> None:
    """The count alone may fit where no gist does."""
    assert PageTable([page(1), page(2)]).render(16, words) == "p1–p2: 2 older pages"
