"""The job "settle": old values left beside new ones end, once a relation is known to hold one."""

import pytest
from sleep_kit import Bed, bed

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.facts import FactBook
from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import Passage
from pagemind.runtime.sleep import review
from pagemind.runtime.sleep.settle import Settle

__all__ = ["bed"]


def tell(bed: Bed, value: str, *, speaker: str = "", trust: int = 80) -> Passage:
    """Another value of a relation that nobody has said to hold one."""
    bed.state.facts.set_single([])
    bed.clock.advance(seconds=86_400)
    told = Provenance("model", trust=trust)
    added = FactBook(bed.state).add("Sam", "mascot", value, speaker=speaker, provenance=told)
    return added.passage


def settle(bed: Bed, mode: str = "auto") -> list[str]:
    """The values that hold after a run, once the relation is known to hold one."""
    bed.state.facts.set_single(["mascot"])
    context = bed.context(review=mode)
    job = Settle()
    if job.due(context):
        job.run(context, CancelToken())
    sam = FactBook(bed.state).entity("Sam")
    assert sam is not None
    return sorted(each.facets.object for each in FactBook(bed.state).current(sam, "mascot"))


def test_the_newest_of_several_values_is_left(bed: Bed) -> None:
    """The older ones end where it begins; nothing is lost, and it can be undone."""
    first, _, last = [tell(bed, each) for each in ("the otter", "the gull", "the seal")]
    assert settle(bed) == ["the seal"]
    ended = bed.state.passages.get([first.number])[first.number].facets
    assert (ended.superseded_by, ended.valid_to) == (last.number, last.created_at)
    assert not Settle().due(bed.context())
    review.undo(bed.state, bed.state.changes.of(first.short_id)[0].number, "user")
    assert bed.state.passages.get([first.number])[first.number].facets.valid_to is None


@pytest.mark.parametrize(("speaker", "trust"), [("Jo", 80), ("Sam", 40)])
def test_nobody_ends_what_is_not_theirs_to_end(bed: Bed, speaker: str, trust: int) -> None:
    """What one said of itself stands against others, and what is trusted against what is not."""
    tell(bed, "the otter", speaker="Sam")
    tell(bed, "the gull", speaker=speaker, trust=trust)
    assert settle(bed) == ["the gull", "the otter"]


def test_with_review_it_waits_and_is_asked_once(bed: Bed) -> None:
    """Approved, it is made."""
    tell(bed, "the otter")
    tell(bed, "the gull")
    assert len(settle(bed, "ask")) == 2
    bed.state.facts.set_single([])
    FactBook(bed.state).add("Jo", "mascot", "the crab")
    assert len(settle(bed, "ask")) == 2
    (waiting,) = bed.state.changes.in_state("pending")
    assert review.approve(bed.state, waiting.number, "user").state == "applied"
    assert settle(bed, "ask") == ["the gull"]
