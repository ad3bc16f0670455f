"""Composite rankings: relevance weighed with recency and importance, as other systems do it. Pure.

For a chat's memory they hurt (evidence is as often old as new), so none is the default; agents that
live in a simulated day, or triage, may want them. RANKINGS is the table:

- `relevance`: no composite, the order of the search itself.
- `park`: Generative Agents as its paper has it: 0.995 for each hour since the last access,
  importance 1–10, relevance; each scaled to 0 … 1 over the candidates, summed 1/1/1.
- `park-raw`: the same unscaled: importance ÷ 10, the cosine as it is.
- `smallville-099`: as its published code has it: 0.99 for each place in the order of the last
  access; weights 0.5 recency, 2 importance, 3 relevance. (The code counts places from the oldest
  access, against its paper; here they count from the newest.)
- `crewai`: 0.5 relevance, 0.3 recency with a half-life of 30 days from creation, and
  0.2 importance ÷ 10.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from typing import Literal

from pagemind.runtime.errors import BadFilter
from pagemind.runtime.importance import importance_of
from pagemind.runtime.services import Hit
from pagemind.runtime.settings import SEARCH_IMPORTANCE

DEFAULT = "relevance"
_EVEN = 0.5  # what all candidates get where they do not differ
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """`decay` to the power of `per`: hours since the last access, days since creation, or places in
    the order of the last access."""

    per: Literal["hours", "days", "places"]
    decay: float
    scaled: bool  # each part to 0 … 1 over the candidates
    recency: float  # the weights
    importance: float
    relevance: float


RANKINGS: Mapping[str, Ranking | None] = {
    DEFAULT: None,
    "park": Ranking("hours", 0.995, True, 1.0, 1.0, 1.0),
    "park-raw": Ranking("hours", 0.995, False, 1.0, 1.0, 1.0),
    "smallville-099": Ranking("places", 0.99, True, 0.5, 2.0, 3.0),
    "crewai": Ranking("days", 0.5 ** (1 / 30), False, 0.3, 0.2, 0.5),
}


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate. `relevance` is its cosine, or its fused score where it has no vector; what was
    never shown was last accessed when it was made."""

    key: str
    relevance: float
    created_at: datetime | None
    last_access: datetime | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class Composite:
    """The score of a candidate, and the parts it is the weighted sum of."""

    score: float
    recency: float
    importance: float
    relevance: float

    @property
    def parts(self) -> dict[str, float]:
        """For Hit.scores."""
        parts = {
            "recency": self.recency,
            "importance": self.importance,
            "relevance": self.relevance,
        }
        return {name: round(value, 4) for name, value in parts.items()}


def ranking_of(name: str | None) -> Ranking | None:
    """The ranking of that name; None for `relevance`, or no name. Raises BadFilter."""
    if not name:
        return None
    if name not in RANKINGS:
        close = get_close_matches(name.lower(), RANKINGS, n=1)
        nearest = f" Did you mean {close[0]}?" if close else ""
        raise BadFilter(
            f"no ranking is called {name[:40]!r}.{nearest} Rankings: {', '.join(RANKINGS)}"
        )
    return RANKINGS[name]


def composite(
    candidates: Sequence[Weighed], ranking: Ranking, now: datetime
) -> dict[str, Composite]:
    """The score of every candidate by its key, best first; ties keep their order."""
    parts = [
        _recency(candidates, ranking, now),
        [_importance(each.importance, ranking.scaled) for each in candidates],
        [each.relevance for each in candidates],
    ]
    if ranking.scaled:
        parts = [_scaled(each) for each in parts]
    scored = {
        each.key: Composite(
            ranking.recency * recent + ranking.importance * weighty + ranking.relevance * relevant,
            recent,
            weighty,
            relevant,
        )
        for each, recent, weighty, relevant in zip(candidates, *parts, strict=True)
    }
    return dict(sorted(scored.items(), key=lambda item: -item[1].score))


def reorder(
    hits: Sequence[Hit],
    ranking: Ranking,
    now: datetime,
    *,
    cosines: Mapping[str, float],
    accessed: Mapping[str, datetime],
) -> list[Hit]:
    """Hits in the order of a ranking, each with its composite as the score and the parts beside the
    scores it has. `cosines` and `accessed` are by the hit's id, as far as they are known."""
    scored = composite(
        [
            Weighed(
                hit.id,
                cosines.get(hit.id, min(1.0, hit.score)),
                hit.said_at,
                accessed.get(hit.id),
                _weight(hit),
            )
            for hit in hits
        ],
        ranking,
        now,
    )
    known = {hit.id: hit for hit in hits}
    return [
        replace(known[key], score=round(each.score, 4), scores={**known[key].scores, **each.parts})
        for key, each in scored.items()
    ]


def _weight(hit: Hit) -> float | None:
    """The importance of a hit; of a passage that nobody has rated, as its words tell it."""
    rated = hit.importance is not None or hit.tier != "archival"
    return hit.importance if rated else importance_of(hit.text)


def _recency(candidates: Sequence[Weighed], ranking: Ranking, now: datetime) -> list[float]:
    if ranking.per == "places":
        order = sorted(range(len(candidates)), key=lambda i: _age(_accessed(candidates[i]), now))
        places = {i: place for place, i in enumerate(order, 1)}
        return [ranking.decay ** places[i] for i in range(len(candidates))]
    if ranking.per == "days":
        return [ranking.decay ** (_age(each.created_at, now) / (24 * _HOUR)) for each in candidates]
    return [ranking.decay ** (_age(_accessed(each), now) / _HOUR) for each in candidates]


def _accessed(candidate: Weighed) -> datetime | None:
    return candidate.last_access or candidate.created_at


def _age(at: datetime | None, now: datetime) -> float:
    """Seconds; what has no time is infinitely old, what lies ahead (a clock was set back) new."""
    return float("inf") if at is None else max(0.0, (now - at).total_seconds())


def _importance(value: float | None, scaled: bool) -> float:
    value = SEARCH_IMPORTANCE if value is None else value
    return value if scaled else value / 10


def _scaled(values: Iterable[float]) -> list[float]:
    """From 0 to 1 over the candidates."""
    held = list(values)
    low, high = min(held, default=0.0), max(held, default=0.0)
    if high == low:
        return [_EVEN] * len(held)
    return [(value - low) / (high - low) for value in held]
