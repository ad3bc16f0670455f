"""Facts in time: what ends what, and what never does."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import RecordChanged, ToolFailed
from pagemind.runtime.fact import FactAdded
from pagemind.runtime.fact_timeline import EVER, NEVER
from pagemind.runtime.facts import FactBook
from pagemind.runtime.message import TRUST, Provenance
from pagemind.runtime.passage import Passage
from pagemind.runtime.relations import Relation, relation_of
from pagemind.runtime.state.state import State

MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
JULY = datetime(2026, 7, 1, tzinfo=UTC)
DOCUMENT = Provenance("document", trust=TRUST["document"])


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(MAY)


@pytest.fixture
def state(tmp_path: Path, clock: FrozenClock) -> State:
    return State(tmp_path, clock)


@pytest.fixture
def book(state: State) -> FactBook:
    return FactBook(state, single=["shelf"])


def said(facts: "list[Passage] | tuple[Passage, ...]") -> list[str]:
    return [each.facets.object for each in facts]


def now_of(book: FactBook, name: str, relation: str | None = None) -> list[str]:
    entity = book.entity(name)
    return said(book.current(entity, relation)) if entity is not None else []


def test_a_new_value_ends_the_one_before(book: FactBook, state: State, clock: FrozenClock) -> None:
    """The old one is kept with its window and with what took its place; both ways in lineage."""
    old = book.add("Sam", "lives in", "Lisbon", "Sam lives in Lisbon.", sources=["m1"]).passage
    clock.advance(days=31)
    new = book.add("Sam", "moved_to", "Porto", sources=["m9"])
    assert new.new
    assert [each.number for each in new.closed] == [old.number]
    assert now_of(book, "sam", "lives_in") == ["Porto"]
    past = state.passages.get([old.number])[old.number]
    assert (past.facets.valid_to, past.facets.superseded_by) == (JUNE, new.passage.number)
    assert past.standing == "past"
    edges = {(e.source, e.how) for e in state.lineage.sources_of(new.passage.short_id)}
    assert edges == {("m9", "from"), (old.short_id, "supersedes")}


def test_values_of_other_relations_stand_side_by_side(book: FactBook) -> None:
    """And the result tells of them."""
    book.add("Sam", "likes", "football")
    tea = book.add("Sam", "likes", "tea")
    assert tea.closed == ()
    assert said(tea.near) == ["football"]
    assert now_of(book, "Sam", "likes") == ["football", "tea"]


def test_the_same_again_is_no_second_fact(book: FactBook, state: State) -> None:
    """Its window may begin earlier than was known; its new source is kept."""
    first = book.add("Sam", "employer", "the Acme Company", valid_from=JUNE)
    again = book.add("Sam", "works_at", "Acme Company", valid_from=MAY, sources=["m3"])
    assert not again.new
    assert again.passage.number == first.passage.number
    assert again.passage.facets.valid_from == MAY
    assert [e.how for e in state.lineage.derived_of("m3")] == ["merged"]
    assert book.add("Sam", "likes", "Tea").new
    assert not book.add("Sam", "likes", "tea ").new


def test_the_same_words_about_another_value_are_another_fact(book: FactBook, state: State) -> None:
    """They came from one quote: the new value ends the old one, and no record ends itself."""
    text = "I am called Kit, and Sam."
    first = book.add("Sam", "name", "Kit", text, valid_from=MAY).passage
    second = book.add("Sam", "name", "Samuel", text, valid_from=MAY).passage
    assert second.number != first.number
    old = state.passages.get([first.number])[first.number]
    assert old.facets.superseded_by == second.number


def test_what_was_before_is_born_past(book: FactBook, state: State, clock: FrozenClock) -> None:
    """A fact older than the current one ends where that begins."""
    clock.advance(days=90)
    porto = book.add("Sam", "lives_in", "Porto", valid_from=JUNE)
    lisbon = book.add("Sam", "lives_in", "Lisbon", valid_from=MAY)
    assert lisbon.passage.facets.valid_to == JUNE
    assert lisbon.passage.facets.superseded_by == porto.passage.number
    assert lisbon.closed == ()
    assert now_of(book, "Sam") == ["Porto"]


def test_there_and_back_again_is_three_facts(book: FactBook, clock: FrozenClock) -> None:
    """A → B → A, in the same words."""
    for city in ("Lisbon", "Porto", "Lisbon"):
        assert book.add("Sam", "lives_in", city).new
        clock.advance(days=30)
    entity = book.entity("Sam")
    assert entity is not None
    assert said(book.history(entity)) == ["Lisbon", "Porto", "Lisbon"]
    assert now_of(book, "Sam") == ["Lisbon"]


def test_an_episode_in_the_middle_leaves_what_goes_on(book: FactBook, clock: FrozenClock) -> None:
    """What was true before it and after it is two records, and the current one is the old one."""
    clock.advance(days=365)
    lisbon = book.add("Sam", "lives_in", "Lisbon", valid_from=MAY)
    book.add("Sam", "lives_in", "Porto", valid_from=JUNE, valid_to=JULY)
    entity = book.entity("Sam")
    assert entity is not None
    assert [
        (each.facets.object, each.facets.valid_from, each.facets.valid_to)
        for each in book.history(entity)
    ] == [("Lisbon", MAY, JUNE), ("Porto", JUNE, JULY), ("Lisbon", JULY, None)]
    assert [each.number for each in book.current(entity)] == [lisbon.passage.number]


def test_what_is_to_come_ends_nothing_yet(book: FactBook, clock: FrozenClock) -> None:
    """The old value holds until then."""
    book.add("Sam", "lives_in", "Lisbon")
    book.add("Sam", "lives_in", "Porto", valid_from=JULY)
    assert now_of(book, "Sam") == ["Lisbon"]
    clock.advance(days=70)
    assert now_of(book, "Sam") == ["Porto"]


def test_a_relation_has_two_sides(book: FactBook, state: State) -> None:
    """Alice manages Bob: Bob's manager is Alice, until Carol is."""
    book.add("Alice", "manages", "Bob")
    book.add("Alice", "manages", "Dan")
    carol = book.add("Bob", "reportsTo", "Carol")
    assert said(carol.closed) == ["Alice"]
    assert now_of(book, "Bob") == ["Carol"]
    assert now_of(book, "Dan") == ["Alice"]


def test_a_definition_may_name_single_relations(book: FactBook, clock: FrozenClock) -> None:
    """Besides those that are shipped."""
    book.add("book 7", "shelf", "A12")
    clock.advance(days=1)
    book.add("book 7", "shelf", "B3")
    assert now_of(book, "book 7") == ["B3"]


def test_only_the_same_scope_and_owner_end_one_another(book: FactBook) -> None:
    """What is private never ends what all see."""
    book.add("Sam", "lives_in", "Lisbon", scope="/app")
    book.add("Sam", "lives_in", "Porto", scope="/apple")
    book.add("Sam", "lives_in", "Faro", scope="/app", owner="spy")
    assert sorted(now_of(book, "Sam")) == ["Faro", "Lisbon", "Porto"]


def test_nobody_ends_what_another_says_of_itself(book: FactBook, clock: FrozenClock) -> None:
    """It is kept aside, once, until a person approves it."""
    book.add("I", "lives_in", "Lisbon", speaker="Mara")
    clock.advance(days=1)
    claim = book.add("Mara", "lives_in", "Porto", speaker="Joris")
    assert claim.aside
    assert said(claim.near) == ["Lisbon"]
    assert not book.add("Mara", "lives_in", "Porto", speaker="Joris").new
    assert now_of(book, "Mara") == ["Lisbon"]
    done = book.approve(claim.passage.number)
    assert said(done.closed) == ["Lisbon"]
    assert now_of(book, "Mara") == ["Porto"]
    with pytest.raises(ToolFailed, match="does not wait"):
        book.approve(claim.passage.number)


def test_a_document_does_not_end_what_a_person_said(book: FactBook) -> None:
    """Trust decides."""
    book.add("Sam", "lives_in", "Lisbon", provenance=Provenance("user"))
    assert book.add("Sam", "lives_in", "Porto", provenance=DOCUMENT).aside
    assert now_of(book, "Sam") == ["Lisbon"]


def test_a_name_that_is_told_leads_to_who_has_it(book: FactBook) -> None:
    """From then on "I" and Sam are one; a name that is another's stays."""
    book.add("I", "lives_in", "Lisbon")
    book.add("user", "is called", "Sam")
    assert now_of(book, "Sam", "lives_in") == ["Lisbon"]


def test_a_fact_is_closed_once(book: FactBook, state: State, clock: FrozenClock) -> None:
    """At a time that it had begun by, on the version that was read."""
    fact = book.add("Sam", "likes", "tea", valid_from=MAY).passage
    clock.advance(days=31)
    with pytest.raises(RecordChanged):
        book.close(fact.number, base=7)
    with pytest.raises(ToolFailed, match="begins at"):
        book.close(fact.number, MAY - timedelta(days=1))
    other = book.add("Sam", "likes", "coffee").passage
    assert book.close(fact.number, by=other.number).facets.valid_to == JUNE
    assert now_of(book, "Sam") == ["coffee"]
    with pytest.raises(ToolFailed, match="is over"):
        book.close(fact.number)
    with pytest.raises(ToolFailed, match="no record a99"):
        book.close(99)


@pytest.mark.parametrize(
    ("subject", "relation", "object", "window", "told"),
    [
        ("he", "lives_in", "Lisbon", {}, "names nobody"),
        ("", "lives_in", "Lisbon", {}, "subject is empty"),
        ("Sam", "?!", "Lisbon", {}, "relation says nothing"),
        ("Sam", "lives_in", " ", {}, "object is empty"),
        ("Sam", "manager", "she", {}, "names nobody"),
        ("Sam", "lives_in", "Faro", {"valid_from": datetime(2026, 1, 1)}, "no time zone"),
        ("Sam", "lives_in", "Faro", {"valid_from": JUNE, "valid_to": MAY}, "before it begins"),
    ],
)
def test_what_is_no_fact_is_refused(
    book: FactBook, state: State, subject: str, relation: str, object: str,
    window: dict[str, datetime], told: str,
) -> None:  # fmt: skip
    """And nothing is kept of it."""
    with pytest.raises(ToolFailed, match=told):
        book.add(subject, relation, object, **window)  # type: ignore[arg-type] # few of many
    assert state.passages.count() == 0
    assert state.entities.count() == 0


def test_one_relation_has_one_name() -> None:
    """However it is written, and from whichever side."""
    for written in ("reportsTo", "BOSS", "is managed by", "Reports-To"):
        assert relation_of(written) == Relation("manager")
    assert relation_of("manages") == Relation("manager", inverted=True)
    assert relation_of("favourite colour") == Relation("favorite_colour")
    assert relation_of("住んでいる") == Relation("住んでいる")
    assert relation_of("'); DROP") == Relation("drop")
    assert relation_of("...") is None


DAY = st.integers(0, 30)
TOLD = st.tuples(
    st.sampled_from(["Sam", "Bob"]),
    st.sampled_from(["lives_in", "works_at", "likes"]),
    st.sampled_from("ABC"),
    st.none() | DAY,
    st.none() | DAY,
    st.integers(0, 3),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(TOLD, max_size=10))
def test_windows_never_overlap_and_others_are_left_alone(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, str, str, int, int, int]]
) -> None:
    """At most one value is current, whatever is told in whatever order, of whatever time."""
    clock = FrozenClock(MAY + timedelta(days=10))
    state = State(tmp_path_factory.mktemp("facts"), clock)
    book = FactBook(state)

    def others(subject: str, relation: str) -> dict[int, Passage]:
        every = state.passages.newest(1000)
        same = (subject, relation)
        return {e.number: e for e in every if (e.facets.subject, e.facets.relation) != same}

    for subject, relation, value, first, last, later in told:
        clock.advance(days=later)
        begins, ends = (None if day is None else MAY + timedelta(days=day) for day in (first, last))
        if begins is not None and ends is not None and ends <= begins:
            continue
        before = others(subject, relation)
        done: FactAdded = book.add(
            subject, relation, f"town {value}", valid_from=begins, valid_to=ends
        )
        assert others(subject, relation) == before
        assert done.passage.facets.object == f"town {value}"
        for name in ("Sam", "Bob"):
            entity = book.entity(name)
            for kind in ("lives_in", "works_at"):
                if entity is None:
                    continue
                assert len(book.current(entity, kind)) <= 1
                windows = [
                    (each.facets.valid_from or EVER, each.facets.valid_to or NEVER)
                    for each in book.history(entity, kind)
                ]
                lived = [window for window in windows if window[0] < window[1]]
                for one, other in pairwise(lived):
                    assert one[1] <= other[0]
    state.close()
