"""Promotion: a warm segment is read for facts, and what they say of the person comes into its
block."""

from dataclasses import replace
from typing import Any

import pytest
from sleep_kit import NOW, Bed, answering, bed
from write_kit import Worker, current, fact

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.core_editor import CoreEditor
from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.errors import BadRequest
from pagemind.runtime.sleep.consolidate import Consolidate
from pagemind.runtime.sleep.extract import Extract
from pagemind.runtime.sleep.job import Job, SleepContext
from pagemind.runtime.sleep.lift import Lift, changed
from pagemind.runtime.sleep.promote import Promote
from pagemind.runtime.sleep.recent import Memory
from pagemind.runtime.sleep.segments import Segmenting
from pagemind.runtime.testing import ScriptedModel

__all__ = ["bed"]
BOAT = fact("My boat is called Nomad", "Sam's boat is called Nomad.", "Sam", "boat", "Nomad")


def warm(bed: Bed, *said: str, visits: int = 5) -> None:
    """A segment of pages of one turn each, come upon so often."""
    for text in said:
        bed.turn(text)
        last = bed.state.journal.last_seq
        bed.page("the boat in the harbour", "boat", "harbour", seqs=(last - 1, last))
    bed.run(Segmenting())
    for _ in range(visits):
        bed.state.segments.visit([1])


def with_core(bed: Bed, job: Job, model: ScriptedModel, **spec: Any) -> SleepContext:
    """Run a job that may edit core memory."""
    core = CoreMemory(bed.state.blocks.all())
    context = replace(
        bed.context(model, **spec),
        core=lambda trust: CoreEditor(bed.state, core, author="worker", trust=trust),
    )
    if job.due(context):
        job.run(context, CancelToken())
    return context


def human(bed: Bed, value: str, limit: int = 200) -> Block:
    block = Block("human", value, limit)
    bed.state.blocks.save(block, author="user", reason="made", seq=0, origin="user", trust=None)
    return block


def test_a_warm_segment_gives_candidates_once(bed: Bed) -> None:
    """With their messages as sources; then its heat begins anew. A cold one is left alone."""
    worker = Worker()
    worker.facts = [BOAT]
    warm(bed, "My boat is called Nomad.", visits=1)
    assert not Promote().due(bed.context(worker.model))
    for _ in range(4):
        bed.state.segments.visit([1])
    assert not Promote().due(bed.context())
    assert not Promote().due(bed.context(worker.model, promote=False))
    bed.run(Promote(), worker.model)
    (candidate,) = bed.state.changes.in_state("candidate")
    assert (candidate.job, candidate.sources, candidate.trust) == ("promote", ("m1",), 80)
    assert bed.state.segments.get([1])[1].heat(NOW) == 1
    for _ in range(9):
        bed.state.segments.visit([1])
    assert not Promote().due(bed.context(worker.model))


def test_turns_that_were_read_are_not_read_again(bed: Bed) -> None:
    """The model sees only the others: not those of which something was kept, nor those that were
    looked at when they ended."""
    worker = Worker()
    warm(bed, "My boat is called Nomad.", "I moor it in Porto harbour.")
    bed.note("Sam's boat is called Nomad.", sources=("m1",))
    bed.run(Promote(), worker.model)
    assert len(worker.prompts) == 1
    assert "Porto" in worker.prompts[0]
    assert "[m1," not in worker.prompts[0]
    bed.run(Extract(), worker.model)
    bed.state.database.write("UPDATE segments SET promoted_length = 0, visits = 9")
    bed.run(Promote(), worker.model)
    assert len(worker.prompts) == 2
    assert bed.state.segments.get([1])[1].promoted_length == 2


@pytest.mark.parametrize("says", [["prose", "more prose"], [BadRequest("no")]])
def test_turns_whose_answer_cannot_be_read_are_put_aside(bed: Bed, says: list[Any]) -> None:
    """As those of `extract`, which tries them again on request."""
    warm(bed, "My boat is called Nomad.")
    bed.run(Promote(), ScriptedModel([*says, *says]))
    (dead,) = bed.state.changes.in_state("dead")
    assert (dead.job, dead.body["turns"]) == ("extract", [1])
    bed.state.changes.retry(dead.number)
    worker = Worker()
    worker.facts = [BOAT]
    bed.run(Extract(), worker.model)
    assert bed.state.changes.in_state("candidate")


def lifted(bed: Bed, answer: Any, **spec: Any) -> str:
    """What the block is after a whole sleep in which a model chose this."""
    worker = Worker()
    worker.facts = [BOAT]
    warm(bed, "My boat is called Nomad.")
    bed.run(Promote(), worker.model)
    bed.run(Consolidate(), worker.model)
    assert current(bed) == ["Sam's boat is called Nomad."]
    with_core(bed, Lift(), answering(answer), **spec)
    return next(block.value for block in bed.state.blocks.all())


def test_a_fact_comes_into_the_block_in_its_own_words(bed: Bed) -> None:
    """As one version, with its lineage, and once."""
    human(bed, "Sam has a dog.")
    after = lifted(bed, {"add": [1, 1, 9, "x"], "replace": []})
    assert after == "Sam has a dog.\nSam's boat is called Nomad."
    (change,) = bed.state.changes.of("human")
    assert (change.op, change.state, change.result) == ("block", "applied", "human@2")
    edges = bed.state.lineage.sources_of("block:human")
    assert [(edge.source, edge.how, edge.version) for edge in edges] == [("a1", "promoted", 2)]
    context = bed.context(ScriptedModel())
    assert not Lift().due(replace(context, core=lambda trust: CoreEditor(bed.state, CoreMemory())))


def test_under_review_the_block_waits_for_a_person(bed: Bed) -> None:
    """Nothing is changed, and nothing else is planned for it meanwhile."""
    human(bed, "Sam has a dog.")
    assert lifted(bed, {"add": [1], "replace": []}, review="ask") == "Sam has a dog."
    (change,) = bed.state.changes.in_state("pending")
    assert change.body == {
        "before": "Sam has a dog.",
        "after": "Sam has a dog.\nSam's boat is called Nomad.",
    }


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ({"add": [1], "replace": [{"line": 1, "fact": 2}]}, "Sam has two cats.\nSam likes tea."),
        ({"add": [], "replace": [{"line": 1, "fact": 1}]}, ""),  # of another matter
        ({"add": [3], "replace": []}, ""),  # longer than the limit
        ({"add": [], "replace": [{"line": 9, "fact": 1}, {"line": 1}, 7]}, ""),
        ({"add": [], "replace": []}, ""),
        (None, ""),
    ],
)
def test_the_block_is_never_emptied_or_overfull(answer: Any, after: str) -> None:
    """A line goes only for a fact of the same matter."""
    block = Block("human", "Sam has a cat.", 60)
    facts = [
        Memory(f"a{n}", text, "", NOW, 80, 5.0)
        for n, text in enumerate(("Sam likes tea.", "Sam has two cats.", "Sam " * 30), 1)
    ]
    assert changed(block, facts, answer) == after
