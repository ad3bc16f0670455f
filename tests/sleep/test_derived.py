"""Changes of derived records under review: what a person approves is made, and can be undone."""

import pytest
from sleep_kit import Bed, answering, bed

from pagemind.runtime.errors import RecordChanged, UserError
from pagemind.runtime.passage import Facets
from pagemind.runtime.sleep import review
from pagemind.runtime.sleep.derived import propose, record_body
from pagemind.runtime.sleep.fallen import Fallen
from pagemind.runtime.sleep.inherited import Inherited
from pagemind.runtime.state.changes import Change

__all__ = ["bed"]
HEIRS = Inherited(70, "", "/", 0)


def waiting(bed: Bed) -> Change:
    return bed.state.changes.in_state("pending")[-1]


def insight(bed: Bed, *evidence: str) -> Change:
    body = record_body("Sam lives by the sea.", "insight", 6, HEIRS, level=1, how="evidence")
    propose(
        bed.context(answering({}), review="ask"),
        *("reflect", "add", body),
        sources=evidence,
        trust=70,
        why="reflection",
    )
    return waiting(bed)


def test_an_approved_insight_has_its_evidence_and_can_be_undone(bed: Bed) -> None:
    """In the person's words, if they gave others."""
    bed.note("Sam swims.")
    change = insight(bed, "a1")
    review.reword(bed.state, change.number, "Sam lives for the sea.", "user")
    made = review.approve(bed.state, change.number, "user")
    assert (made.state, made.result) == ("applied", "a2")
    record = bed.record(2)
    assert (record.text, record.facets.level, record.provenance.trust) == (
        *("Sam lives for the sea.", 1),
        70,
    )
    assert [edge.how for edge in bed.state.lineage.sources_of("a2")] == ["evidence"]
    assert review.undo(bed.state, change.number, "user") == ["a2"]
    assert bed.record(2).provenance.status == "retired"


def test_an_end_that_was_approved_late_is_stale(bed: Bed) -> None:
    """The insight has changed since; a second plan for it is not made meanwhile."""
    bed.note("An insight.", Facets("insight", level=1))
    bed.state.lineage.add("a1", ["a9"], "evidence", seq=0)
    for _ in range(2):
        bed.run(Fallen(), review="ask")
        bed.note("Something new.")
    assert bed.state.changes.counts() == {"pending": 1}
    change = waiting(bed)
    with pytest.raises(UserError, match="no words"):
        review.reword(bed.state, change.number, "Other.", "user")
    bed.state.passages.edit(1, "Another.", author="user", reason="edited", seq=0)
    with pytest.raises(RecordChanged, match="version 2"):
        review.approve(bed.state, change.number, "user")
    assert bed.state.changes.counts() == {"stale": 1}
    assert bed.record(1).standing == "active"
