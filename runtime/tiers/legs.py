"""Legs: what each field of a tier finds for a query, over every source that is searched.

Two lexical fields, n-grams where the query needs them, vectors where an embedder works. Raw scores
are on one scale for all sources (BM25, cosine), what is not written yet is scored beside the rest,
and a leg that fails is left out and named: nothing here raises for the disk's or the embedder's
sake.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from pagemind.runtime.errors import ModelError, PagemindError, StorageError, UserError
from pagemind.runtime.outbox import Tier
from pagemind.runtime.settings import (
    SEARCH_MIN_COSINE,
    SEARCH_OVERFETCH,
    SEARCH_TAIL,
    SEARCH_TAIL_EMBED,
)
from pagemind.runtime.tiers.leg_query import Leg
from pagemind.runtime.tiers.names import without_names
from pagemind.runtime.tiers.recipe import grams_text
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.schema import TierRow, embedded_text
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
    left_out: frozenset[str] = frozenset()  # short ids whose written rows do not count

    @classmethod
    def at(
        cls,
        source: Source,
        tier: Tier,
        where: RowFilter,
        zone: tzinfo,
        total: int,
        without: Sequence[str] = (),
    ) -> "Place":
        """`without` leaves short ids out here, not in the store: a condition that nearly all rows
        meet costs every leg a look at all of them."""
        items = source.view.pending(SEARCH_TAIL)
        tail = tail_of(items, tier, where, zone)
        rows = tuple(row for row in tail.rows if row.parent not in without)
        return cls(source, where, replace(tail, rows=rows), total, tail.parents.union(without))

    @property
    def limit(self) -> int:
        """Of one leg. Rows that do not count are dropped: that many more."""
        return SEARCH_OVERFETCH + len(self.left_out)

    def current(self, matches: Sequence[Match]) -> list[Match]:
        """Without the rows that are left out, or changed since they were written."""
        return [m for m in matches if m.parent not in self.left_out]


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
    texts = {name: words for name, words in fields.items() if words}
    for place in places:
        _ask(legs, place, texts, without_names(query, speakers), vectors)
    return legs


def add_vectors(legs: Legs, places: Sequence[Place], query: str, vectors: VectorCache) -> None:
    """The nearest rows alone."""
    for place in places:
        _ask(legs, place, {}, query, vectors)


def _ask(
    legs: Legs,
    place: Place,
    texts: Mapping[str, str],
    meant: str,
    vectors: VectorCache | None,
) -> None:
    """All legs of one place at once: lexical fields with their words, and what is meant."""
    source = place.source
    asked = [Leg(name, words, with_field=bool(place.tail.rows)) for name, words in texts.items()]
    recent = sorted(place.tail.rows, key=lambda row: -row.seq)[:SEARCH_TAIL_EMBED]
    embedded: list[list[float]] = []
    if vectors is not None:
        try:
            embedded = vectors.get([meant, *map(embedded_text, recent)])
        except FAILURES as error:
            _missed(legs, source, "vector", error)
    if embedded:
        asked.append(Leg("vector", vector=embedded[0]))
    answers: Sequence[list[Match] | PagemindError]
    try:
        answers = source.store.search_legs(legs.tier, asked, place.where, place.limit)
    except FAILURES as error:
        answers = [error] * len(asked)
    for leg, answer in zip(asked, answers, strict=True):
        if isinstance(answer, PagemindError):
            _missed(legs, source, leg.field, answer)
        written = [] if isinstance(answer, PagemindError) else place.current(answer)
        if leg.vector is None:
            _add_text(legs, place, leg, written)
        elif not isinstance(answer, PagemindError):
            _add_near(
                legs, place, written, list(zip(recent, embedded[1:], strict=True)), leg.vector
            )


def _missed(legs: Legs, source: Source, leg: str, error: Exception) -> None:
    named = source.archive
    if leg == "vector":
        legs.warn(f"meanings were not compared{f' in {named}' if named else ''}", error)
    else:
        legs.warn(f"the {legs.tier} index{f' of {named}' if named else ''} was not searched", error)


def _add_text(legs: Legs, place: Place, leg: Leg, written: Sequence[Match]) -> None:
    scores = text_leg(leg.field, leg.words, written, place.tail.rows, place.total)
    for match in (*written, *map(match_of, place.tail.rows)):
        if match.id in scores:
            legs.add(leg.field, place.source, match, scores[match.id])


def _add_near(
    legs: Legs,
    place: Place,
    written: Sequence[Match],
    unwritten: Sequence[tuple[TierRow, Sequence[float]]],
    asked: Sequence[float],
) -> None:
    """The nearest rows; one that is near to nothing counts only if words found it too."""
    near = list(written)
    for row, other in unwritten:
        near.append(match_of(row, sum(a * b for a, b in zip(asked, other, strict=True))))
    for match in near:
        known = f"{place.source.archive}:{match.id}" in legs.found
        if match.score >= SEARCH_MIN_COSINE or known:
            legs.add("vector", place.source, match, match.score)
