"""Records: facets of passages, their versions, lineage, links, planned changes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import NotFound, RecordChanged, UserError
from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.scope import chain, scope_of, seen
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.decay import Decay
from pagemind.runtime.state.state import State

MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
BY = {"author": "worker", "reason": "test", "seq": 0}
FACT = Facets("fact", "Sam", "lives_in", "Lisbon", scope="/team", valid_from=MAY)


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path, FrozenClock(JUNE))


def insert(
    state: State, text: str, facets: Facets = FACT, sources: tuple[str, ...] = ()
) -> Passage:
    passage, _ = state.passages.insert(
        text,
        tags=(),
        importance=None,
        metadata={},
        seq=0,
        provenance=Provenance("model", trust=80, sources=sources),
        author="worker",
        facets=facets,
    )
    return passage


def test_every_version_keeps_all_facets(state: State) -> None:
    """Going back brings the facets back, too."""
    fact = insert(state, "Sam lives in Lisbon.")
    closed = replace(FACT, valid_to=JUNE, superseded_by=9)
    now = state.passages.edit(fact.number, None, facets=closed, author="w", reason="r", seq=5)
    assert now is not None
    assert now.facets == closed
    assert now.standing == "past"
    state.passages.go_back(fact.number, 5, author="w", reason="undo", seq=6)
    assert state.passages.get([1])[1].facets == FACT
    assert state.passages.get([1])[1].standing == "active"


def test_a_change_planned_on_another_version_is_refused(state: State) -> None:
    """Compare and swap: nothing is written."""
    fact = insert(state, "Sam lives in Lisbon.")
    state.passages.edit(fact.number, "Sam lives in Porto.", base=1, **BY)
    with pytest.raises(RecordChanged, match="a1 is version 2"):
        state.passages.edit(fact.number, "Sam lives in Faro.", base=1, **BY)
    with pytest.raises(RecordChanged):
        state.passages.set_status(fact.number, "retired", base=1, **BY)
    assert state.passages.get([1])[1].text == "Sam lives in Porto."


def test_the_same_may_become_true_again(state: State) -> None:
    """What no longer holds is not the same as what holds now: A → B → A is three records."""
    first = insert(state, "Sam lives in Lisbon.")
    over = replace(FACT, valid_to=MAY)
    state.passages.edit(first.number, None, facets=over, **BY)
    again = insert(state, "Sam lives in Lisbon.")
    assert again.number != first.number
    assert insert(state, "Sam lives in Lisbon.").number == again.number


def test_sources_become_lineage(state: State) -> None:
    """Both ways."""
    fact = insert(state, "Sam lives in Lisbon.", sources=("m4", "a7"))
    assert [edge.source for edge in state.lineage.sources_of(fact.short_id)] == ["a7", "m4"]
    assert [edge.derived for edge in state.lineage.derived_of("m4")] == [fact.short_id]


def test_links_are_both_ways_and_have_two_ends(state: State) -> None:
    """One that dangles is refused."""
    one, other = insert(state, "The mast is new."), insert(state, "The rope is old.")
    assert state.links.add(other.number, one.number, author="worker", seq=0)
    assert not state.links.add(one.number, other.number, author="worker", seq=0)
    assert [link.other(1) for link in state.links.of([1])[1]] == [2]
    assert [link.other(2) for link in state.links.of([2])[2]] == [1]
    with pytest.raises(NotFound):
        state.links.add(1, 99, author="worker", seq=0)
    state.passages.set_status(2, "retired", **BY)
    assert state.links.of([1]) == {}


def test_a_planned_change_dies_only_after_its_attempts(state: State) -> None:
    """It is kept with its error, and can be tried anew."""
    made = state.changes.add("extract", "", {"text": "x"}, state="candidate", seq=0, trust=80)
    assert state.changes.failed(made.number, "prose", most=2) == "candidate"
    assert state.changes.failed(made.number, "prose again", most=2) == "dead"
    assert state.changes.in_state("dead")[0].error == "prose again"
    state.changes.retry(made.number)
    assert state.changes.in_state("candidate")[0].attempts == 0


def test_scopes_match_by_segment() -> None:
    """/app is not above /apple."""
    assert seen("/app/one", ["/app"])
    assert not seen("/apple", ["/app"])
    assert seen("/apple", ["/"])
    assert chain("/a/b") == ("/a", "/a/b")
    assert scope_of("team/project/") == "/team/project"
    for bad in ("/a b", "/../x", "/" + "a/" * 17):
        with pytest.raises(UserError):
            scope_of(bad)


def test_lineage_never_goes_round(state: State) -> None:
    """A version that is taken up again took the other's place, and came before it."""
    state.lineage.add("a2", ["a1"], "supersedes", seq=0)
    state.lineage.add("a3", ["a2", "m1"], "from", seq=0)
    state.lineage.add("a1", ["a2", "a3", "a1", "m2"], "supersedes", seq=0)
    assert [edge.source for edge in state.lineage.sources_of("a1")] == ["m2"]


def test_what_is_kept_for_good_is_not_the_same_as_what_is_kept_for_a_while(state: State) -> None:
    """Else it would be gone when the time of the other is over."""
    brief = insert(state, "The code is 4711.", Facets(expires_at=JUNE + timedelta(hours=1)))
    good = insert(state, "The code is 4711.", Facets())
    assert good.number != brief.number
    again = insert(state, "The code is 4711.", Facets(expires_at=JUNE + timedelta(days=9)))
    assert again.number == good.number


def test_what_is_asked_of_one_kind_does_not_read_all_notes(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million pieces of documents cost a search for facts or episodes nothing."""
    real, plans = Database.rows, list[str]()

    def rows(self: Database, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        plans.extend(each["detail"] for each in real(self, f"EXPLAIN QUERY PLAN {sql}", values))
        return real(self, sql, values)

    monkeypatch.setattr(Database, "rows", rows)
    state.facts.any()
    state.facts.relations()
    state.facts.turnover("likes")
    state.facts.entities()
    state.passages.newest(1, kind="episode")
    state.passages.of_kind("skill")
    state.passages.old("episode", JUNE, 0, 1)
    Decay(state.database).over(JUNE, 1)
    assert not [plan for plan in plans if plan.startswith("SCAN passages")]
    assert not [plan for plan in plans if "PRIMARY KEY (rowid<" in plan]
