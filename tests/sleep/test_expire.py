"""The job `expire`: what is over leaves, what is too much goes cold."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sleep_kit import NOTE, NOW, Bed, made

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import Cancelled
from pagemind.runtime.memory_bounds import Forgetting
from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import Facets
from pagemind.runtime.record_heat import Use, coldest, heat
from pagemind.runtime.sleep.expire import Expire
from pagemind.runtime.sleep.job import SleepContext


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    with made(tmp_path) as bed:
        yield bed


def run(bed: Bed, cancel: CancelToken | None = None, **forget: object) -> SleepContext:
    context = replace(bed.context(), forget=Forgetting.model_validate(forget))
    job = Expire()
    if job.due(context):
        job.run(context, cancel or CancelToken())
    return context


def standings(bed: Bed) -> dict[int, str]:
    return {p.number: p.standing for p in bed.state.passages.newest(1000)}


def test_what_has_outlived_its_time_is_hidden_and_recoverable(bed: Bed) -> None:
    """A record goes cold, an item of the store frees its key; before that nothing is due."""
    bed.note("The guest code is 4711.", replace(NOTE, expires_at=NOW + timedelta(days=2)))
    item = bed.note("k", Facets("item", key="k", expires_at=NOW + timedelta(days=2)))
    bed.note("The house is white.")
    assert run(bed).report.done == {}
    bed.clock.advance(days=3)
    assert run(bed).report.done == {"expired": 2}
    assert standings(bed) == {1: "cold", 3: "active"}
    assert bed.record(item.number).provenance.status == "retired"
    assert bed.state.passages.history(1)[-1].reason == "expired"
    assert run(bed).report.done == {}


def test_a_fact_that_has_ended_becomes_past(bed: Bed) -> None:
    """When its time comes, not when it was told."""
    fact = Facets("fact", "Sam", "lives_in", "Faro", valid_to=NOW + timedelta(days=5))
    bed.note("Sam lives in Faro until Saturday.", fact)
    assert standings(bed) == {1: "active"}
    bed.clock.advance(days=6)
    assert run(bed).report.done == {"past": 1}
    assert standings(bed) == {1: "past"}
    assert bed.record(1).facets == fact
    assert run(bed).report.done == {}


def test_over_a_limit_the_least_used_go_cold(bed: Bed) -> None:
    """Of the scope and below it; never what is evergreen, a piece of a document, or on a shelf of
    its own; exactly as many as are too many."""
    for at in range(6):
        bed.note(f"Chatter {at}.", replace(NOTE, scope="/chat/day"), importance=1)
    bed.note("Vital.", replace(NOTE, scope="/chat"), importance=9)
    bed.note("Kept.", replace(NOTE, scope="/chat", evergreen=True), importance=1)
    bed.note("Tagged.", replace(NOTE, scope="/chat"), importance=1, tags=["Evergreen"])
    bed.note("Elsewhere.", replace(NOTE, scope="/chatter"), importance=1)
    bed.note("k", Facets("item", key="k", scope="/chat"))
    bed.state.passages.insert(
        "A piece.",
        tags=(),
        importance=1,
        metadata={},
        seq=0,
        provenance=Provenance("document"),
        author="user",
        facets=replace(NOTE, scope="/chat"),
    )
    bed.clock.advance(days=1)
    bed.state.accesses.record("archival", [2, 3])
    context = run(bed, limits={"/chat": 5})
    assert context.report.done == {"cold": 4}
    cold = {number for number, standing in standings(bed).items() if standing == "cold"}
    assert cold == {1, 4, 5, 6}
    assert bed.state.passages.history(1)[-1].reason == "the least used of more than 5 in /chat"
    assert run(bed, limits={"/chat": 5}).report.done == {}


def test_what_was_unused_for_too_long_goes_cold_unless_it_matters(bed: Bed) -> None:
    """Once a day it looks; a search that showed it counts as use."""
    bed.note("Toast was eaten.", importance=1)
    bed.note("The house burnt down.", importance=10)
    bed.note("Shown of late.", importance=1)
    bed.clock.advance(days=100)
    bed.state.accesses.record("archival", [3])
    bed.note("New.", importance=1)
    forget = {"cold_after": "90 days"}
    assert run(bed, **forget).report.done == {"cold": 1}
    assert standings(bed) == {1: "cold", 2: "active", 3: "active", 4: "active"}
    bed.clock.advance(hours=1)
    assert not Expire().due(replace(bed.context(), forget=Forgetting.model_validate(forget)))


def test_without_leave_to_write_facts_nothing_is_done(bed: Bed) -> None:
    """`memory: {semantic: r}` holds for the worker, too."""
    bed.note("x", replace(NOTE, expires_at=NOW - timedelta(days=1)))
    context = replace(bed.context(), may_write=lambda kind: kind != "semantic")
    assert not Expire().due(context)


def test_a_cancelled_run_is_taken_up_again(bed: Bed) -> None:
    """What was committed stays; the rest is due again."""
    bed.note("x", replace(NOTE, expires_at=NOW))
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        run(bed, cancel)
    assert standings(bed) == {1: "active"}
    assert run(bed).report.done == {"expired": 1}


def test_heat_grows_with_use_importance_and_freshness() -> None:
    """And is the same each time; of two alike the older number goes first."""
    base = Use(1, 5, 2, NOW - timedelta(days=40))
    for warmer in (
        replace(base, visits=3),
        replace(base, importance=6),
        replace(base, used_at=NOW - timedelta(days=39)),
    ):
        assert heat(warmer, NOW) > heat(base, NOW)
    assert heat(replace(base, used_at=NOW + timedelta(days=1)), NOW) == heat(
        replace(base, used_at=NOW), NOW
    )
    two = [replace(base, number=number) for number in (7, 3)]
    assert [use.number for use in coldest(two, 1, NOW)] == [3]
