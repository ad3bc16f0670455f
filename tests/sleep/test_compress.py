"""Old episodes in short: when, which, and what stays."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sleep_kit import Bed, answering, bed, made

from pagemind.runtime.passage import Facets
from pagemind.runtime.sleep import compress as job
from pagemind.runtime.sleep import review
from pagemind.runtime.sleep.compress import Compress
from pagemind.runtime.testing import ScriptedModel

__all__ = ["bed"]
EPISODE = Facets("episode")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are many here."""
    monkeypatch.setattr(job, "EPISODES_MANY", 2)


def tried(bed: Bed, *orders: int, days_ago: float = 20, facets: Facets = EPISODE) -> None:
    for n in orders:
        text = f"Sam asked for the status of an order, the order was {n}; looked it up in the list"
        bed.note(text, facets, tags=("ok",), days_ago=days_ago - n / 100)


def standings(bed: Bed) -> list[str]:
    return [bed.record(n).standing for n in range(1, bed.state.passages.last_number + 1)]


def test_old_episodes_that_are_alike_become_one_digest(bed: Bed) -> None:
    """They go cold; what is young, evergreen, of another owner or of something else stays."""
    tried(bed, 1, 2, 3)
    bed.note("Ana wanted a poem about rain; wrote it", EPISODE, days_ago=20)
    tried(bed, 5, facets=replace(EPISODE, evergreen=True))
    tried(bed, 6, facets=replace(EPISODE, owner="ben"))
    tried(bed, 7, days_ago=3)
    bed.run(Compress())
    assert standings(bed) == ["cold"] * 3 + ["episode"] * 4 + ["active"]
    digest = bed.record(8)
    assert (digest.kind, digest.importance, digest.provenance.trust) == ("digest", 8, 80)
    assert digest.text.startswith("3 times from 2026-05-12 to 2026-05-12 (3 ok): ")
    assert "the order was 1;" in digest.text
    assert "the order was 3;" in digest.text
    assert [edge.source for edge in bed.state.lineage.sources_of("a8")] == ["a1", "a2", "a3"]
    assert not Compress().due(bed.context())
    review.undo(bed.state, bed.state.changes.of("a8")[0].number, "user")
    assert standings(bed)[:3] == ["episode"] * 3


def test_few_old_ones_are_left_as_they_are(bed: Bed) -> None:
    """As is everything where the definition says so."""
    tried(bed, 1, 2)
    tried(bed, 3, 4, days_ago=3)
    assert not Compress().due(bed.context())
    bed.clock.advance(days=20)
    assert Compress().due(bed.context())
    assert not Compress().due(bed.context(compress=False))


def test_without_an_embedder_they_wait(tmp_path: Path) -> None:
    """Nothing is passed over."""
    with made(tmp_path, embeds=False) as bed:
        tried(bed, 1, 2, 3)
        bed.run(Compress())
        assert standings(bed) == ["episode"] * 3
        assert Compress().due(bed.context())


@pytest.mark.parametrize(
    ("answer", "better"),
    [
        ({"digests": [{"id": 1, "text": "Sam asked again and again for orders by number."}]}, True),
        ({"digests": [{"id": 1, "text": "Sam asked 77 times for the orders of Beatrix."}]}, False),
        ({"digests": [{"id": 9, "text": "Sam asked again and again for orders."}, None]}, False),
        ("I am sorry, I cannot do that.", False),
    ],
)
def test_a_model_may_word_it_better(bed: Bed, answer: Any, better: bool) -> None:
    """In one call; what names anything else is not taken."""
    tried(bed, 1, 2, 3)
    model: ScriptedModel = answering(answer)
    bed.run(Compress(), model)
    assert bed.record(4).text.startswith("Sam asked again") is better
    assert bed.record(4).text.startswith("3 times") is not better
