"""A person's word on planned changes: approve, reject, reword, retry, undo."""

from datetime import timedelta

import pytest
from sleep_kit import NOW, Bed, bed
from write_kit import Worker, changes, current, decision, fact, record, tend

from pagemind.runtime.errors import NotFound, RecordChanged, UserError
from pagemind.runtime.passage import Facets
from pagemind.runtime.sleep import review
from pagemind.runtime.sleep.dedupe import Dedupe

__all__ = ["bed"]

LISBON = fact("I live in Lisbon", "Sam lives in Lisbon.", "Sam", "lives_in", "Lisbon")
PORTO = fact("I live in Porto", "Sam lives in Porto.", "Sam", "lives_in", "Porto")


def told(bed: Bed, worker: Worker, found: dict[str, object], mode: str, who: str = "Sam") -> int:
    """Something is said and found; the number of the newest change."""
    bed.clock.advance(seconds=3600)
    bed.turn(f"{found['quote']}.", speaker=who)
    worker.facts = [found]
    tend(bed, worker, review=mode)
    return max(each.number for each in changes(bed))


def test_with_review_every_change_waits(bed: Bed) -> None:
    """Approved, it is made; rejected, never."""
    worker = Worker()
    first = told(bed, worker, LISBON, "ask")
    assert not current(bed)
    assert review.approve(bed.state, first, "user").state == "applied"
    second = told(bed, worker, PORTO, "ask")
    (waiting,) = bed.state.changes.in_state("pending")
    assert (waiting.op, waiting.target, waiting.base) == ("supersede", "a1", 1)
    review.reject(bed.state, second, "user")
    assert current(bed) == ["Sam lives in Lisbon."]
    assert record(bed, "Sam lives in Lisbon.").provenance.trust == 100
    with pytest.raises(UserError, match="c2 is rejected, not pending"):
        review.approve(bed.state, second, "user")
    with pytest.raises(NotFound, match="there is no change c99"):
        review.approve(bed.state, 99, "user")


def test_reworded_it_is_kept_as_the_person_has_it(bed: Bed) -> None:
    """The rest stays."""
    number = told(bed, Worker(), LISBON, "ask")
    review.reword(bed.state, number, "Sam lives in Lisbon, in Alfama.", "user")
    review.approve(bed.state, number, "user")
    assert current(bed) == ["Sam lives in Lisbon, in Alfama."]
    assert record(bed, "Sam lives in Lisbon, in Alfama.").facets.object == "Lisbon"
    with pytest.raises(UserError, match="empty"):
        review.reword(bed.state, number, " ", "user")


def test_a_value_that_was_reworded_is_that_of_the_fact(bed: Bed) -> None:
    """Said otherwise, it is a note: no fact says what its words do not."""
    worker = Worker()
    for text, value in (
        ("Sam lives in Tavira.", "Tavira"),
        ("Sam has left, nobody knows where to.", ""),
    ):
        number = told(bed, worker, PORTO, "ask")
        review.reword(bed.state, number, text, "user")
        review.approve(bed.state, number, "user")
        assert record(bed, text).facets.object == value


def test_what_changed_since_is_compared_anew(bed: Bed) -> None:
    """Approving makes nothing on what is not true any more."""
    worker = Worker()
    told(bed, worker, LISBON, "auto")
    number = told(bed, worker, PORTO, "ask")
    bed.state.passages.edit(1, "Sam lives in Lisbon!", author="user", reason="", seq=0)
    with pytest.raises(RecordChanged, match="compared anew at the next sleep"):
        review.approve(bed.state, number, "user")
    tend(bed, worker, review="ask")
    review.approve(bed.state, number, "user")
    assert current(bed) == ["Sam lives in Porto."]


def test_what_was_put_aside_is_let_in_by_a_person(bed: Bed) -> None:
    """And ends what it stands against; rejected, it goes."""
    worker = Worker()
    told(bed, worker, LISBON, "auto")
    said = fact("Sam lives in Faro", "Sam lives in Faro.", "Sam", "lives_in", "Faro")
    number = told(bed, worker, said, "auto", who="Eve")
    review.reject(bed.state, number, "user")
    assert bed.record(2).provenance.status == "retired"
    number = told(bed, worker, said, "auto", who="Eve")
    assert current(bed) == ["Sam lives in Lisbon."]
    review.approve(bed.state, number, "user")
    assert current(bed) == ["Sam lives in Faro."]


def test_an_applied_change_can_be_undone(bed: Bed) -> None:
    """Both sides are what they were before; what came after must go first."""
    worker = Worker()
    told(bed, worker, LISBON, "auto")
    second = told(bed, worker, PORTO, "auto")
    assert review.undo(bed.state, second, "user") == ["a1", "a2"]
    assert current(bed) == ["Sam lives in Lisbon."]
    facets = record(bed, "Sam lives in Lisbon.").facets
    assert (facets.valid_to, facets.superseded_by) == (None, None)
    third = told(bed, worker, PORTO, "auto")
    told(bed, worker, LISBON, "auto")
    with pytest.raises(RecordChanged, match="undo what came after it first"):
        review.undo(bed.state, third, "user")
    with pytest.raises(UserError, match="is rejected, not applied"):
        review.undo(bed.state, second, "user")


def test_a_dead_change_can_be_tried_again(bed: Bed) -> None:
    """It becomes what it was before it failed."""
    worker = Worker()
    told(bed, worker, fact("I like tea", "Sam likes tea.", "Sam", "likes", "tea"), "auto")
    worker.decisions = "no"
    number = told(bed, worker, fact("I like rum", "Sam likes rum.", "Sam", "likes", "rum"), "auto")
    review.retry(bed.state, number)
    worker.decisions = [decision(1, "ADD")]
    tend(bed, worker)
    assert len(current(bed)) == 2


@pytest.mark.parametrize("embeds", [True, False])
def test_records_that_say_the_same_become_one(bed: Bed, embeds: bool) -> None:
    """The more trusted stays, with all sources; with or without an embedder, and undone again."""
    bed.embeds = embeds
    bed.note("The spare key lies under the blue pot.", trust=60, sources=("m1",))
    bed.note("The spare key lies  under the blue pot!", trust=80)
    bed.note("The spare key lies under the red pot.")
    bed.note("Pier 41 is where the boat lies, at the far end.")
    bed.note("Pier 42 is where the boat lies, at the far end.")
    bed.run(Dedupe())
    assert len(current(bed)) == 4
    assert bed.record(1).provenance.status == "retired"
    assert {edge.source for edge in bed.state.lineage.sources_of("a2")} == {"a1", "m1"}
    (change,) = changes(bed)
    review.undo(bed.state, change.number, "user")
    assert bed.record(1).standing == "active"
    bed.run(Dedupe())
    assert len(current(bed)) == 5  # a person's word: they are not compared again


@pytest.mark.parametrize("gone", [1, 2])
def test_a_duplicate_is_no_news_once_one_of_both_was_taken_away(bed: Bed, gone: int) -> None:
    """What is forgotten while the change waits does not come back, and the one that is left
    stays."""
    bed.note("The spare key lies under the blue pot.", trust=60)
    bed.note("The spare key lies  under the blue pot!", trust=80)
    bed.run(Dedupe(), review="ask")
    bed.retire(gone)
    with pytest.raises(RecordChanged, match=r"a\d.* is not there any more"):
        review.approve(bed.state, 1, "user")
    tend(bed, Worker(), review="auto")
    assert len(current(bed)) == 1
    assert len(bed.of_kind("note")) == 1
    assert changes(bed)[0].state == "stale"


def test_what_is_kept_for_a_while_is_no_duplicate_of_what_is_kept_for_good(bed: Bed) -> None:
    """It would take the other with it when its time is over."""
    bed.note("The gate code is 4711.", Facets(expires_at=NOW + timedelta(days=1)), trust=80)
    bed.note("The gate code is  4711!")
    bed.run(Dedupe())
    assert len(current(bed)) == 2
