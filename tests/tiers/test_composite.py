"""Composite rankings, each with its arithmetic worked by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from pagemind.runtime.errors import BadFilter
from pagemind.runtime.services import Hit
from pagemind.runtime.tiers.composite import (
    RANKINGS,
    Composite,
    Ranking,
    Weighed,
    composite,
    ranking_of,
    reorder,
)

NOW = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)


def ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


# Relevance, hours since creation, hours since the last access, importance.
BOAT = Weighed("boat", 0.9, ago(720), ago(100), 2)
DOG = Weighed("dog", 0.5, ago(24), None, 10)
RAIN = Weighed("rain", 0.1, ago(0), None, None)
THREE = [BOAT, DOG, RAIN]


def scores(name: str, *candidates: Weighed) -> dict[str, Composite]:
    ranking = ranking_of(name)
    assert isinstance(ranking, Ranking)
    return composite(candidates or THREE, ranking, NOW)


def test_park_scales_each_part_and_adds_them() -> None:
    """0.995 per hour since the last access, importance, relevance; 1/1/1 over the candidates."""
    # Recency: boat .995^100 = .605770, dog (never shown: since its creation) .995^24 = .886653,
    # rain .995^0 = 1. Scaled by (x - .605770) / .394230: 0, .712487, 1.
    # Importance: 2, 10 and, where none was given, 5: scaled 0, 1, 3/8.
    # Relevance: .9, .5, .1: scaled 1, .5, 0.
    found = scores("park")
    assert [found[key].score for key in ("boat", "dog", "rain")] == pytest.approx(
        [0 + 0 + 1, 0.712487 + 1 + 0.5, 1 + 0.375 + 0], abs=1e-5
    )
    assert list(found) == ["dog", "rain", "boat"]
    assert found["dog"].recency == pytest.approx(0.712487, abs=1e-5)


def test_park_raw_adds_the_parts_as_they_are() -> None:
    """Importance ÷ 10 and the raw cosine."""
    # boat .605770 + .2 + .9 = 1.705770; dog .886653 + 1 + .5 = 2.386653; rain 1 + .5 + .1 = 1.6.
    found = scores("park-raw")
    assert [found[key].score for key in ("boat", "dog", "rain")] == pytest.approx(
        [1.705770, 2.386653, 1.6], abs=1e-5
    )


def test_smallville_decays_by_the_order_of_the_last_access() -> None:
    """0.99 to the power of the place, the newest first; 0.5 recency, 2 importance, 3 relevance."""
    # Places: rain 1, dog 2, boat 3. Recency .99, .9801, .970299; scaled by (x - .970299) /
    # .019701: rain 1, dog .497487, boat 0. Importance as in park: 0, 1, .375.
    # boat 3·1 = 3; dog .5·.497487 + 2·1 + 3·.5 = 3.748744; rain .5·1 + 2·.375 + 0 = 1.25.
    found = scores("smallville-099")
    assert [found[key].score for key in ("boat", "dog", "rain")] == pytest.approx(
        [3.0, 3.748744, 1.25], abs=1e-5
    )


def test_crewai_halves_in_thirty_days_from_creation() -> None:
    """0.5 relevance, 0.3 recency, 0.2 importance ÷ 10; an access changes nothing."""
    # boat: 30 days old: .5·.9 + .3·.5 + .2·.2 = .64. dog: 1 day: .5^(1/30) = .977160:
    # .25 + .293148 + .2 = .743148. rain: .05 + .3 + .2·.5 = .45.
    found = scores("crewai")
    assert [found[key].score for key in ("boat", "dog", "rain")] == pytest.approx(
        [0.64, 0.743148, 0.45], abs=1e-5
    )


@pytest.mark.parametrize("name", [name for name, ranking in RANKINGS.items() if ranking])
def test_odd_candidates_have_a_score(name: str) -> None:
    """None, one alone, all alike, no time at all, a time that lies ahead."""
    ranking = ranking_of(name)
    assert ranking is not None
    assert composite([], ranking, NOW) == {}
    alone = scores(name, BOAT)["boat"]
    if ranking.scaled:  # parts that do not differ count a half each
        assert alone.score == (ranking.recency + ranking.importance + ranking.relevance) / 2
    timeless = Weighed("x", 0.5, None)
    assert scores(name, timeless, RAIN)["x"].recency == pytest.approx(0, abs=1.0 - 1e-9)
    ahead = Weighed("y", 0.1, ago(-48))
    assert scores(name, ahead, RAIN)["y"].recency == pytest.approx(
        scores(name, RAIN, ahead)["rain"].recency
    )


def test_a_ranking_goes_by_its_name() -> None:
    """`relevance` and no name are the search's own order; others are errors."""
    assert ranking_of(None) is ranking_of("") is ranking_of("relevance") is None
    with pytest.raises(BadFilter, match=r"no ranking is called 'prak'\. Did you mean park\?"):
        ranking_of("prak")
    with pytest.raises(BadFilter, match="Rankings: relevance, park, park-raw, smallville"):
        ranking_of("x" * 1000)


def test_hits_are_put_in_order_with_their_parts() -> None:
    """Where a hit has no vector its own score is its relevance, 1 at most."""
    hits = [
        Hit("m1", "recall", "boat", 1.7, said_at=ago(720), scores={"line": 0.4}),
        Hit("a2", "archival", "dog", 0.2, said_at=ago(24), importance=10),
    ]
    ranking = ranking_of("park-raw")
    assert ranking is not None
    found = reorder(hits, ranking, NOW, cosines={"a2": 0.5}, accessed={"m1": ago(100)})
    # m1: .605770 + .5 + 1 = 2.10577; a2: .886653 + 1 + .5 = 2.386653.
    assert [(hit.id, hit.score) for hit in found] == [("a2", 2.3867), ("m1", 2.1058)]
    parts = {"recency": 0.6058, "importance": 0.5, "relevance": 1.0}
    assert found[1].scores == {"line": 0.4, **parts}


def test_what_nobody_has_rated_weighs_as_its_words_tell() -> None:
    """Of passages; what was said has no importance in any ranking."""
    texts = ("Sam ate toast.", "Sam's house is on fire.")
    stored = [Hit(f"a{n}", "archival", text, 0.5, said_at=NOW) for n, text in enumerate(texts, 1)]
    said = [Hit(f"m{n}", "recall", text, 0.5, said_at=NOW) for n, text in enumerate(texts, 1)]
    for hits, order in ((stored, ["a2", "a1"]), (said, ["m1", "m2"])):
        ranked = reorder(hits, RANKINGS["crewai"], NOW, cosines={}, accessed={})
        assert [hit.id for hit in ranked] == order
