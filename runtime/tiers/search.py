"""Search: one function for recall and archival.

Full text over the line and over the last three lines, n-grams where the query needs them, vectors
where an embedder works; a weighted min-max sum; what is not written yet scored beside it. A leg
that fails is left out and named in the result's warnings: a search never raises for the disk's or
the embedder's sake.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

from pagemind.runtime.errors import ModelError, StorageError, UserError
from pagemind.runtime.message import clean_text
from pagemind.runtime.model import Embedder
from pagemind.runtime.outbox import Tier
from pagemind.runtime.services import SearchFilters, SearchResult
from pagemind.runtime.settings import (
    SEARCH_EXACT_BOOST,
    SEARCH_MIN_COSINE,
    SEARCH_OVERFETCH,
    SEARCH_QUERY_CHARS,
    SEARCH_SPEAKER_BOOST,
    SEARCH_TAIL,
    SEARCH_TAIL_EMBED,
    SEARCH_WEIGHTS,
)
from pagemind.runtime.tiers.fusion import fuse, minmax
from pagemind.runtime.tiers.hydrate import Ranked, hydrate
from pagemind.runtime.tiers.names import exactly, mentioned, without_names
from pagemind.runtime.tiers.recipe import grams_text, identifiers
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.schema import embedded_text
from pagemind.runtime.tiers.store import Match, TierStore
from pagemind.runtime.tiers.tail import Tail, match_of, tail_of, text_leg
from pagemind.runtime.tiers.vector_cache import VectorCache
from pagemind.runtime.tiers.view import View

# What may befall a leg: the disk, the embedder, a table of another embedder or recipe.
_FAILURES = (StorageError, ModelError, UserError)


@dataclass
class _Run:
    """One search under way."""

    tier: Tier
    query: str
    where: RowFilter
    tail: Tail
    total: int
    speakers: Sequence[str]
    found: dict[str, Match]  # every row that any leg found
    warnings: list[str]

    @property
    def limit(self) -> int:
        """Of one leg. Rows that changed since they were written are dropped: that many more."""
        return SEARCH_OVERFETCH + len(self.tail.parents)

    def current(self, matches: Sequence[Match]) -> list[Match]:
        """Without the rows that changed since they were written."""
        return [m for m in matches if m.parent not in self.tail.parents]

    def warn(self, what: str, error: Exception) -> None:
        text = f"{what}: {error}"
        if text not in self.warnings:
            self.warnings.append(text)


class Search:
    """`embedder` is None for text only; `zone` is the agent's time zone."""

    def __init__(
        self, store: TierStore, embedder: Embedder | None, view: View, *, zone: tzinfo = UTC
    ) -> None:
        self._store = store
        self._view = view
        self._zone = zone
        self._vectors = VectorCache(embedder) if embedder is not None else None

    def search(
        self,
        tier: Tier,
        query: str | None,
        filters: SearchFilters,
        limit: int,
        *,
        ranking: str | None = None,
    ) -> SearchResult:
        """The best hits first; without a query (None) the newest. A query without a single letter
        or digit finds nothing."""
        total = self._view.count(tier)
        speakers = self._view.speakers()
        where = self._where(tier, filters, speakers)
        if where is None or limit < 1:
            return SearchResult((), total)
        items = self._view.pending(SEARCH_TAIL + 1)
        tail = tail_of(items, tier, where, self._zone)
        run = _Run(tier, "", where, tail, total, speakers, {}, [])
        if len(items) > SEARCH_TAIL:
            run.warnings.append(f"more than {SEARCH_TAIL:,} changes wait to be written")
        if query is None:
            ranked = self._newest(run, limit)
        else:
            run.query = clean_text(query)[:SEARCH_QUERY_CHARS].strip()
            ranked = self._best(run) if any(c.isalnum() for c in run.query) else []
        hits = hydrate(self._view, tier, ranked, limit)
        return SearchResult(tuple(hits), total, tuple(run.warnings))

    def near(self, text: str, limit: int = 3) -> list[tuple[str, float]]:
        """Passages whose meaning is closest to a text: short ids and cosines. Empty where no
        embedder works."""
        if self._vectors is None:
            return []
        where = RowFilter(statuses=("active",))
        try:
            vector = self._vectors.get([text])[0]
            close = self._store.search_vector("archival", vector, where, SEARCH_OVERFETCH)
        except _FAILURES:
            return []
        changed = {item.key for item in self._view.pending(SEARCH_TAIL) if item.tier == "archival"}
        best: dict[str, float] = {}
        for match in close:
            if match.parent not in changed:
                best.setdefault(match.parent, match.score)
        return list(best.items())[:limit]

    def _where(
        self, tier: Tier, filters: SearchFilters, speakers: Sequence[str]
    ) -> RowFilter | None:
        """The pushed-down filter; None if nobody of the wanted name ever spoke."""
        where = RowFilter(
            start=filters.start, end=filters.end, tags=filters.tags, statuses=("active",)
        )
        if tier == "archival":
            return where
        names = None
        if filters.speaker is not None:
            wanted = filters.speaker.strip().casefold()
            names = tuple(name for name in speakers if name.casefold() == wanted)
            if not names:
                return None
        live = self._view.live()
        ranges = None if live is None else tuple(live)
        return replace(where, role=filters.role, speakers=names, seqs=ranges)

    def _newest(self, run: _Run, limit: int) -> list[Ranked]:
        """The last said first."""
        firsts = replace(run.where, first_parts=True)
        rows = [row for row in run.tail.rows if row.part == 1]
        try:
            written = self._store.scan(run.tier, firsts, limit + len(run.tail.parents))
            rows.extend(row for row in written if row.parent not in run.tail.parents)
        except _FAILURES as error:
            run.warn(f"the {run.tier} tier was not read", error)
        rows.sort(key=lambda row: (-row.seq, -int(row.parent[1:])))
        return [Ranked(match_of(row)) for row in rows]

    def _best(self, run: _Run) -> list[Ranked]:
        legs: dict[str, Mapping[str, float]] = {}
        fields = {"line": run.query, "grams": grams_text(run.query)}
        if run.tier == "recall":  # a passage stands alone
            fields["lines"] = run.query
        for name, words in fields.items():
            if words:
                legs[name] = self._text_leg(run, name, words)
        if vectors := self._vector_leg(run):
            legs["vector"] = vectors
        scores = fuse(legs, SEARCH_WEIGHTS)
        named = mentioned(run.query, run.speakers)
        exact = [exactly(word) for word in identifiers(run.query)]
        for key in scores:
            match = run.found[key]
            if len(named) == 1 and match.speaker == named[0]:
                scores[key] += SEARCH_SPEAKER_BOOST
            if exact:
                held = sum(pattern.search(match.text) is not None for pattern in exact)
                scores[key] += SEARCH_EXACT_BOOST * held / len(exact)
        order = sorted(scores, key=lambda key: (-scores[key], -run.found[key].seq, key))
        return [
            Ranked(
                run.found[key],
                scores[key],
                {name: round(leg[key], 4) for name, leg in legs.items() if key in leg},
            )
            for key in order
        ]

    def _text_leg(self, run: _Run, field: str, words: str) -> dict[str, float]:
        written: list[Match] = []
        try:
            written = self._store.search_text(run.tier, field, words, run.where, run.limit)
        except _FAILURES as error:
            run.warn(f"the {run.tier} index was not searched", error)
        written = run.current(written)
        leg = text_leg(field, words, written, run.tail.rows, run.total)
        for match in (*written, *map(match_of, run.tail.rows)):
            if match.id in leg:
                run.found.setdefault(match.id, match)
        return leg

    def _vector_leg(self, run: _Run) -> dict[str, float]:
        if self._vectors is None:
            return {}
        recent = sorted(run.tail.rows, key=lambda row: -row.seq)[:SEARCH_TAIL_EMBED]
        nameless = without_names(run.query, run.speakers)
        try:
            query, *others = self._vectors.get([nameless, *map(embedded_text, recent)])
            near = run.current(self._store.search_vector(run.tier, query, run.where, run.limit))
        except _FAILURES as error:
            run.warn("meanings were not compared", error)
            return {}
        for row, other in zip(recent, others, strict=True):
            near.append(match_of(row, sum(a * b for a, b in zip(query, other, strict=True))))
        near = [m for m in near if m.score >= SEARCH_MIN_COSINE or m.id in run.found]
        for match in near:
            run.found.setdefault(match.id, match)
        return minmax({match.id: match.score for match in near})


@dataclass(frozen=True, slots=True)
class TierSearch:
    """One tier's search: `services.Recall`, and the search side of `services.Archival`."""

    tier: Tier
    engine: Search

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult:
        return self.engine.search(self.tier, query, filters, limit, ranking=ranking)
