"""Which pages an answer of page_find names, and in which order, over a search that is given."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.message import Message, Text
from pagemind.runtime.page import Page
from pagemind.runtime.page_finder import PageFinder
from pagemind.runtime.services import Hit, PagesFound, SearchFilters, SearchResult
from pagemind.runtime.settings import FIND_IN_VIEW
from pagemind.runtime.state.state import State
from pagemind.runtime.telling import Telling
from pagemind.runtime.tiers.search import Search

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def said(id: str, page: str | None, score: float) -> Hit:
    """A message, evicted if it has a page."""
    return Hit(id, "recall", f"text of {id}", score, page=page, in_context=page is None)


def gist(id: str, score: float) -> Hit:
    return Hit(id, "pages", f"gist of {id}", score, page=id)


@dataclass
class FakeSearch:
    """Gives these hits whatever it is asked, and remembers the filters."""

    talk: tuple[Hit, ...] = ()
    gists: tuple[Hit, ...] = ()
    asked: list[tuple[str, SearchFilters]] = field(default_factory=list)

    def search(self, tier: str, query: str | None, filters: SearchFilters, limit: int) -> Any:
        self.asked.append((tier, filters))
        hits = self.talk if tier == "recall" else self.gists
        return SearchResult(hits, 99, ("slow",))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    """Five pages, one a day from 1 January on."""
    state = State(tmp_path, FrozenClock())
    for number in range(1, 6):
        at = FIRST + timedelta(days=number - 1)
        page = Page(number, number, number, at, at, 1, 1, f"gist {number}", (), 100)
        state.pages.add([page], line=1, epoch=1)
    yield state
    state.close()


def find(
    state: State, search: FakeSearch, query: str | None = "boat", limit: int = 8, **dates: Any
) -> PagesFound:
    finder = PageFinder(state, cast("Search", search), Telling(state))
    return finder.find(query, SearchFilters(**dates), limit)


def ids(found: PagesFound) -> list[str]:
    return [page.id for page in found.pages]


def test_the_best_message_of_a_page_speaks_for_it(state: State) -> None:
    """Pages in the order of their best message, each with it."""
    hits = (said("m2", "p2", 0.9), said("m4", "p4", 0.8), said("m5", "p2", 0.7))
    found = find(state, FakeSearch(hits))
    assert ids(found) == ["p2", "p4"]
    assert [page.why.id for page in found.pages if page.why] == ["m2", "m4"]
    assert (found.searched, found.warnings) == (5, ("slow",))


def test_more_messages_and_the_gist_decide_between_equals(state: State) -> None:
    """They add a little, and never put a page before one with a clearly better message."""
    hits = (said("m1", "p1", 0.8), said("m2", "p2", 0.8), said("m3", "p2", 0.8))
    assert ids(find(state, FakeSearch(hits))) == ["p2", "p1"]
    assert ids(find(state, FakeSearch(hits, (gist("p1", 0.9),)))) == ["p1", "p2"]
    many = tuple(said(f"m{n}", "p2", 0.5) for n in range(10, 40))
    assert ids(find(state, FakeSearch((said("m1", "p1", 0.8), *many)))) == ["p1", "p2"]


def test_a_gist_alone_finds_its_page(state: State) -> None:
    """Without a message: there is no line to say why. A directory is no page."""
    found = find(state, FakeSearch((), (gist("d1", 0.9), gist("p3", 0.5))))
    assert ids(found) == ["p3"]
    assert found.pages[0].why is None
    assert found.pages[0].gist == "gist 3"


def test_a_gist_counts_only_within_the_time_asked_for(state: State) -> None:
    """The search of messages keeps to the filters itself; a page is a span."""
    search = FakeSearch((said("m2", "p2", 0.4),), (gist("p4", 0.9), gist("p3", 0.8)))
    wanted = {"start": FIRST + timedelta(days=1), "end": FIRST + timedelta(days=3)}
    assert ids(find(state, search, **wanted)) == ["p2", "p3"]
    assert search.asked[0] == ("recall", SearchFilters(**wanted))


def test_what_is_in_view_is_told_if_it_is_among_the_best(state: State) -> None:
    """A weak match in the window says nothing."""
    best = tuple(said(f"m{n}", "p1", 0.9) for n in range(FIND_IN_VIEW - 1))
    found = find(state, FakeSearch((*best, said("m8", None, 0.8), said("m9", None, 0.1))))
    assert [hit.id for hit in found.in_context] == ["m8"]


def test_without_words_the_newest_come_first(state: State) -> None:
    """The gists are not asked: they have no order of their own."""
    search = FakeSearch((said("m4", "p4", 0.0), said("m1", "p1", 0.0), said("m5", "p5", 0.0)))
    assert ids(find(state, search, None, start=FIRST)) == ["p5", "p4", "p1"]
    assert [tier for tier, _ in search.asked] == ["recall"]


def test_no_more_than_asked_for(state: State) -> None:
    """And a page that is not there any more is left out."""
    hits = tuple(said(f"m{n}", f"p{n}", 1 - n / 10) for n in (9, 1, 2, 3))
    assert ids(find(state, FakeSearch(hits), limit=2)) == ["p1", "p2"]


def line(id: str, page: str, text: str, score: float) -> Hit:
    return Hit(id, "recall", text, score, page=page, speaker="sam")


def tell(state: State, *texts: str) -> None:
    with state.database.transaction():
        for text in texts:
            state.journal.append(Message("user", (Text(text),)), tokens=1)


def test_a_statement_goes_before_its_echoes(state: State) -> None:
    """The question itself, asked before, and what is said at every turn match better, and tell
    nothing."""
    question = "Which allergy does Nour have?"
    echo = "Nour and that allergy, I know, I know."
    statement = "Peanuts make Nour ill."
    tell(state, *[question] * 3, *[echo] * 3, statement)
    hits = (
        line("m1", "p1", question, 1.1),
        line("m4", "p2", echo, 0.9),
        line("m7", "p3", statement, 0.6),
    )
    found = find(state, FakeSearch(hits), question)
    assert ids(found)[0] == "p3"
    assert next(page.why.id for page in found.pages if page.why) == "m7"


def test_whom_the_question_names_goes_before_others(state: State) -> None:
    """As the subject or the speaker of a line; somebody's cousin is somebody else."""
    hits = (
        line("m1", "p1", "Ines's boat is called Nomad.", 0.52),
        line("m2", "p2", "Nour's cousin's boat is called Gull.", 0.51),
        line("m3", "p3", "Nour's boat is called Heron.", 0.5),
    )
    assert ids(find(state, FakeSearch(hits), "What is Nour's boat called?")) == ["p3", "p1", "p2"]
    asked = find(state, FakeSearch(hits), "What is Nour's cousin's boat called?")
    assert "p1" not in ids(asked)[:1]
    assert ids(find(state, FakeSearch(hits), "What is Sam's boat called?"))[0] == "p1"
