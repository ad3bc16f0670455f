"""Search: one function for recall, archival and page gists.

The legs find (legs.py), the ranking orders (ranking.py), a ranking of another kind may be asked for
(composite.py), and the authority's own text is shown (hydrate.py). Shared archives are searched
with the passages, as if they were one memory.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from pagemind.runtime.message import clean_text
from pagemind.runtime.model import Embedder
from pagemind.runtime.outbox import Tier
from pagemind.runtime.services import SearchFilters, SearchResult
from pagemind.runtime.settings import (
    SEARCH_OVERFETCH,
    SEARCH_QUERY_CHARS,
    SEARCH_TAIL,
    SEARCH_WEIGHTS,
)
from pagemind.runtime.tiers.hydrate import Ranked, hydrate
from pagemind.runtime.tiers.legs import FAILURES, Candidate, Legs, Place, Source, gather
from pagemind.runtime.tiers.ranking import Asked, features, order
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.tail import match_of
from pagemind.runtime.tiers.vector_cache import VectorCache
from pagemind.runtime.tiers.view import View


class Search:
    """`embedder` is None for text only; `zone` is the agent's time zone; `now` says what "last
    week" in a query means; `archives` are searched with the passages."""

    def __init__(
        self,
        store: TierStore,
        embedder: Embedder | None,
        view: View,
        *,
        zone: tzinfo = UTC,
        now: Callable[[], datetime] | None = None,
        archives: Callable[[], Sequence[Source]] = tuple,
        weights: Mapping[str, float] = SEARCH_WEIGHTS,
        ranking: str | None = None,
    ) -> None:
        self._own = Source(store, view)
        self._archives = archives
        self._zone = zone
        self._now = now
        self._weights = weights
        self._ranking = ranking
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
        speakers = self._own.view.speakers() if tier == "recall" else ()
        sources = [self._own, *(self._archives() if tier == "archival" else ())]
        total = sum(source.view.count(tier) for source in sources)
        places = []
        for source in sources:
            if limit > 0 and (where := _where(source, tier, filters, speakers)) is not None:
                places.append(Place.at(source, tier, where, self._zone))
        warnings = [
            f"more than {SEARCH_TAIL:,} changes wait to be written"
            for place in places
            if len(place.tail.parents) >= SEARCH_TAIL
        ]
        if query is None:
            ranked, more = _newest(tier, places, limit)
        else:
            words = clean_text(query)[:SEARCH_QUERY_CHARS].strip()
            ranked, more = self._best(tier, words, places, speakers)
        hits = hydrate(tier, ranked, limit)
        return SearchResult(tuple(hits), total, tuple(dict.fromkeys(warnings + more)))

    def near(self, text: str, limit: int = 3) -> list[tuple[str, float]]:
        """Passages whose meaning is closest to a text: short ids and cosines. Empty where no
        embedder works."""
        if self._vectors is None:
            return []
        where = RowFilter(statuses=("active",))
        store, view = self._own.store, self._own.view
        try:
            vector = self._vectors.get([text])[0]
            close = store.search_vector("archival", vector, where, SEARCH_OVERFETCH)
        except FAILURES:
            return []
        changed = {item.key for item in view.pending(SEARCH_TAIL) if item.tier == "archival"}
        best: dict[str, float] = {}
        for match in close:
            if match.parent not in changed:
                best.setdefault(match.parent, match.score)
        return list(best.items())[:limit]

    def _best(
        self, tier: Tier, words: str, places: Sequence[Place], speakers: Sequence[str]
    ) -> tuple[list[Ranked], list[str]]:
        if not any(c.isalnum() for c in words) or not places:
            return [], []
        legs = gather(tier, words, places, speakers, self._vectors)
        asked = Asked.of(words, speakers, ())
        table = features(legs, asked, self._weights)
        ranked = [
            Ranked(
                legs.found[key],
                score,
                {
                    name: round(value, 4)
                    for name, value in table[key].items()
                    if name in self._weights
                },
            )
            for key, score in order(legs, table, self._weights)
        ]
        return ranked, legs.warnings


def _where(
    source: Source, tier: Tier, filters: SearchFilters, speakers: Sequence[str]
) -> RowFilter | None:
    """The pushed-down filter of one source; None if nothing of it can match."""
    where = RowFilter(start=filters.start, end=filters.end, tags=filters.tags, statuses=("active",))
    if tier != "recall":
        return where
    names = None
    if filters.speaker is not None:
        wanted = filters.speaker.strip().casefold()
        names = tuple(name for name in speakers if name.casefold() == wanted)
        if not names:
            return None
    live = source.view.live()
    ranges = None if live is None else tuple(live)
    return replace(where, role=filters.role, speakers=names, seqs=ranges)


def _newest(tier: Tier, places: Sequence[Place], limit: int) -> tuple[list[Ranked], list[str]]:
    """The last said first."""
    legs = Legs(tier)
    found: list[Candidate] = []
    for place in places:
        source = place.source
        rows = [row for row in place.tail.rows if row.part == 1]
        try:
            firsts = replace(place.where, first_parts=True)
            written = source.store.scan(tier, firsts, limit + len(place.tail.parents))
            rows.extend(row for row in written if row.parent not in place.tail.parents)
        except FAILURES as error:
            legs.warn(f"the {tier} tier was not read", error)
        found.extend(Candidate(source, match_of(row)) for row in rows)
    found.sort(key=_newest_first)
    return [Ranked(each) for each in found], legs.warnings


def _newest_first(candidate: Candidate) -> tuple[bool, int, int]:
    match = candidate.match
    return bool(candidate.source.archive), -match.seq, -int(match.parent[1:])


@dataclass(frozen=True, slots=True)
class TierSearch:
    """One tier's search: `services.Recall`, and the search side of `services.Archival`."""

    tier: Tier
    engine: Search

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult:
        return self.engine.search(self.tier, query, filters, limit, ranking=ranking)
