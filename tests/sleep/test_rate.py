"""Importance: told from signs at once, rated by a model in one call later."""

from dataclasses import replace

import pytest
from sleep_kit import Bed, answering, bed

from pagemind.runtime.errors import BadRequest
from pagemind.runtime.importance import importance_of
from pagemind.runtime.passage import Facets
from pagemind.runtime.settings import RATE_ATTEMPTS
from pagemind.runtime.sleep.rate import Rate
from pagemind.runtime.testing import ScriptedModel

__all__ = ["bed"]


def test_the_anchors_stand_at_both_ends() -> None:
    """Toast and greetings are 1, a house on fire is 10, the rest lies between in order."""
    assert importance_of("I ate toast.") == importance_of("Hello!") == importance_of("") == 1
    assert importance_of("The house is on fire!") == 10
    told = ["The train is at 8:15.", "My cat is called Miso.", "I owe Ana 850 euros of rent."]
    worth = [importance_of(text) for text in told]
    assert worth == sorted(set(worth))
    assert importance_of("Is the rent 850 euros?") < importance_of("The rent is 850 euros.")


def test_unrated_records_are_rated_in_one_call(bed: Bed) -> None:
    """Each by its place in the list; answers that are none leave a record unrated, for good."""
    for text in ("Sam ate toast.", "Sam's house burned down.", "Sam met Ana.", "Sam sings."):
        bed.note(text)
    bed.note("Rated before.", importance=3)
    model = answering(
        {
            "ratings": [
                {"id": 1, "importance": 1},
                {"id": "2", "importance": 10},
                {"id": 3, "importance": 11},
                {"id": 9, "importance": 5},
                {"id": 4, "importance": "very"},
            ]
        }
    )
    bed.run(Rate(), model)
    assert [bed.record(n).importance for n in range(1, 6)] == [1, 10, None, None, 3]
    assert bed.record(2).version == 2
    bed.run(Rate(), model)
    assert len(model.requests) == 1


def test_a_skill_and_a_piece_of_a_document_are_not_rated(bed: Bed) -> None:
    """Nor does anything happen without a model."""
    bed.note("How to moor.", Facets("skill", key="moor"))
    assert not Rate().due(bed.context(answering({"ratings": []})))
    bed.note("Sam ate toast.")
    assert not Rate().due(bed.context())


@pytest.mark.parametrize("said", ["I cannot.", "这些都很重要。", '{"ratings": "all"}', "[]"])
def test_prose_rates_nothing_and_is_not_asked_for_ever(bed: Bed, said: str) -> None:
    """After some runs the batch is left as it is."""
    bed.note("Sam ate toast.")
    model = ScriptedModel(lambda request: said)
    for _ in range(5):
        bed.run(Rate(), model)
    assert bed.record(1).importance is None
    assert len(model.requests) == 6  # three runs of two questions


def test_a_batch_that_the_model_refuses_to_read_is_not_asked_for_ever(bed: Bed) -> None:
    """After some runs it is left as it is, and the next comes."""
    bed.note("Sam ate toast.")
    model = ScriptedModel([BadRequest("filtered")] * 9)
    for _ in range(9):
        bed.run(Rate(), model)
    assert len(model.requests) == RATE_ATTEMPTS


def test_who_only_reads_its_facts_does_not_rate_them(bed: Bed) -> None:
    """A rating is a new version of a record."""
    bed.note("Sam ate toast.")
    context = replace(bed.context(answering({})), may_write=lambda kind: kind != "semantic")
    assert not Rate().due(context)
