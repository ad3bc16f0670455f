"""Legs: what each field of a tier finds for a query, over every source that is searched.

Two lexical fields, n-grams where the query needs them, vectors where an embedder works. Raw scores
are on one scale for all sources (BM25, cosine), what is not written yet is scored beside the rest,
and a leg that fails is left out and named: nothing here raises for the disk's or the embedder's
sake.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo

from pagemind.runtime.errors import ModelError, StorageError, UserError
from pagemind.runtime.outbox import Tier
from pagemind.runtime.settings import (
    SEARCH_MIN_COSINE,
    SEARCH_OVERFETCH,
    SEARCH_TAIL,
    SEARCH_TAIL_EMBED,
)
from pagemind.runtime.tiers.names import without_names
from pagemind.runtime.tiers.recipe import grams_text
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.schema import embedded_text
from pagemind.runtime.tiers.store import Match, TierStore
from pagemind.runtime.tiers.tail import Tail, match_of, tail_of, text_leg
from pagemind.runtime.tiers.vector_cache import VectorCache
from pagemind.runtime.tiers.view import View

# What may befall a leg: the disk, the embedder, a table of another embedder or recipe.
FAILURES = (StorageError, ModelError, UserError)


@dataclass(frozen=True, slots=True)
class Source:
    """One memory that is searched: the agent's own, or the shared `archive` of that name."""

    store: TierStore
    view: View
    archive: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that some leg found, and where."""

    source: Source
    match: Match

    @property
    def parent(self) -> tuple[str, str]:
        """What is shown once: archive and short id."""
        return self.source.archive, self.match.parent


@dataclass(slots=True)
class Place:
    """One source as one search sees it: what is asked for, and what it has not written yet."""

    source: Source
    where: RowFilter
    tail: Tail
    total: int  # messages, passages or pages it holds

    @classmethod
    def at(cls, source: Source, tier: Tier, where: RowFilter, zone: tzinfo) -> "Place":
        items = source.view.pending(SEARCH_TAIL)
        tail = tail_of(items, tier, where, zone)
        return cls(source, where, tail, source.view.count(tier))

    @property
    def limit(self) -> int:
        """Of one leg. Rows that changed since they were written are dropped: that many more."""
        return SEARCH_OVERFETCH + len(self.tail.parents)

    def current(self, matches: Sequence[Match]) -> list[Match]:
        """Without the rows that changed since they were written."""
        return [m for m in matches if m.parent not in self.tail.parents]


@dataclass(slots=True)
class Legs:
    """Raw scores by leg and candidate key, the candidates, and what could not be searched."""

    tier: Tier
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    found: dict[str, Candidate] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def warn(self, what: str, error: Exception) -> None:
        text = f"{what}: {error}"
        if text not in self.warnings:
            self.warnings.append(text)

    def add(self, leg: str, source: Source, match: Match, score: float) -> None:
        key = f"{source.archive}:{match.id}"
        self.scores.setdefault(leg, {})[key] = score
        self.found.setdefault(key, Candidate(source, match))


def gather(
    tier: Tier,
    query: str,
    places: Sequence[Place],
    speakers: Sequence[str],
    vectors: VectorCache | None,
) -> Legs:
    """What every leg finds at every place; `speakers` are cut from what is embedded."""
    legs = Legs(tier)
    fields = {"line": query, "grams": grams_text(query)}
    if tier == "recall":  # passages and gists stand alone
        fields["lines"] = query
    for name, words in fields.items():
        if words:
            for place in places:
                _text(legs, place, name, words)
    if vectors is not None:
        add_vectors(legs, places, without_names(query, speakers), vectors)
    return legs


def _text(legs: Legs, place: Place, name: str, words: str) -> None:
    source = place.source
    written: list[Match] = []
    try:
        written = source.store.search_text(legs.tier, name, words, place.where, place.limit)
    except FAILURES as error:
        named = f" of {source.archive}" if source.archive else ""
        legs.warn(f"the {legs.tier} index{named} was not searched", error)
    written = place.current(written)
    scores = text_leg(name, words, written, place.tail.rows, place.total)
    for match in (*written, *map(match_of, place.tail.rows)):
        if match.id in scores:
            legs.add(name, source, match, scores[match.id])


def add_vectors(legs: Legs, places: Sequence[Place], query: str, vectors: VectorCache) -> None:
    """The nearest rows; one that is near to nothing counts only if words found it too."""
    for place in places:
        source = place.source
        recent = sorted(place.tail.rows, key=lambda row: -row.seq)[:SEARCH_TAIL_EMBED]
        try:
            asked, *others = vectors.get([query, *map(embedded_text, recent)])
            near = place.current(
                source.store.search_vector(legs.tier, asked, place.where, place.limit)
            )
        except FAILURES as error:
            named = f" in {source.archive}" if source.archive else ""
            legs.warn(f"meanings were not compared{named}", error)
            continue
        for row, other in zip(recent, others, strict=True):
            near.append(match_of(row, sum(a * b for a, b in zip(asked, other, strict=True))))
        for match in near:
            known = f"{source.archive}:{match.id}" in legs.found
            if match.score >= SEARCH_MIN_COSINE or known:
                legs.add("vector", source, match, match.score)
