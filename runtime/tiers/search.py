"""Search: one function for recall, archival and page gists.

The legs find (legs.py), the ranking orders (ranking.py), a ranking of another kind may be asked for
(composite.py), and the authority's own text is shown (hydrate.py). Shared archives are searched
with the passages, as if they were one memory.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.fact import was_true
from pagemind.runtime.message import TRUST, clean_text
from pagemind.runtime.model import Embedder
from pagemind.runtime.outbox import Tier
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Hit, SearchFilters, SearchResult
from pagemind.runtime.settings import (
    HITS_OF_ONE_SOURCE,
    SEARCH_OVERFETCH,
    SEARCH_QUERY_CHARS,
    SEARCH_TAIL,
    SEARCH_WEIGHTS,
    SUCCESSION_LONGEST,
    SUCCESSION_LOOK,
)
from pagemind.runtime.sight import EVERYTHING, Sight, visible
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.tiers.composite import Ranking, ranking_of, reorder
from pagemind.runtime.tiers.fair import crowded, fair
from pagemind.runtime.tiers.hydrate import Ranked, hydrate, message_for
from pagemind.runtime.tiers.legs import (
    FAILURES,
    Candidate,
    Legs,
    Place,
    Source,
    add_vectors,
    gather,
)
from pagemind.runtime.tiers.ranking import Asked, features, order
from pagemind.runtime.tiers.row_filter import where_of
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.succession import in_time, newest_told, passages_of
from pagemind.runtime.tiers.tail import match_of
from pagemind.runtime.tiers.vector_cache import VectorCache
from pagemind.runtime.tiers.view import View
from pagemind.runtime.time_asked import NOW, TimeAsked, time_asked
from pagemind.runtime.when import find_spans

_ALL = SearchFilters()
_TRUSTED = tuple(origin for origin, trust in TRUST.items() if not untrusted(trust))


class Search:
    """`embedder` is None for text only; `zone` is the agent's time zone; `now` says what "last
    week" in a query means; `archives` are searched with the passages; `sight` bounds which of them
    may be seen, before anything is ranked; `per_source`: how many of ten results may be of one
    untrusted source, while there are others."""

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
        sight: Sight = EVERYTHING,
        per_source: int = HITS_OF_ONE_SOURCE,
    ) -> None:
        self._per_source = per_source
        self._own = Source(store, view)
        self._sight = sight
        self._archives = archives
        self._zone = zone
        self._now = now or SystemClock().now
        self._weights = weights
        self._ranking = ranking
        self._vectors = VectorCache(embedder) if embedder is not None else None

    def seeing(self, sight: Sight) -> "Search":
        """The same search, otherwise bounded."""
        other = copy(self)
        other._sight = sight
        return other

    @property
    def store(self) -> TierStore:
        """The agent's own tables."""
        return self._own.store

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
        or digit finds nothing. Raises BadFilter for a ranking that is none, or ids that are none.
        """
        chosen = ranking_of(ranking or self._ranking)
        speakers = self._own.view.speakers() if tier == "recall" else ()
        sources = [self._own, *(self._archives() if tier == "archival" else ())]
        totals = [source.view.count(tier) for source in sources]
        asked = self._time_asked(tier, query, filters)
        if tier == "archival" and asked is not NOW:
            filters = replace(filters, standings=("active", "past"))
        narrowed = self._sight.narrowed(filters) if tier == "archival" else filters
        if narrowed is None:
            return SearchResult((), sum(totals))
        filters = narrowed
        counted = list(zip(sources, totals, strict=True)) if limit > 0 else []
        places = self._places(tier, filters, counted, speakers)
        warnings = [
            f"more than {SEARCH_TAIL:,} changes wait to be written"
            for place in places
            if len(place.tail.parents) >= SEARCH_TAIL
        ]
        keep = _current(filters, self._now())
        if query is None:
            ranked, more = _newest(tier, places, limit)
        else:
            words = clean_text(query)[:SEARCH_QUERY_CHARS].strip()
            ranked, more = self._best(tier, words, places, speakers)
        if chosen is not None and query is not None:
            hits = self._composed(tier, ranked, chosen, limit, keep)
        else:
            hits = hydrate(tier, ranked, limit, keep)
            if query is not None and crowded(hits, self._per_source):
                wider = hydrate(tier, ranked, max(limit, SEARCH_OVERFETCH), keep)
                hits = fair(wider, self._per_source)[:limit]
                if crowded(hits, self._per_source) and not filters.origins:
                    # So many of one source that nothing else was among the candidates.
                    trusted = replace(filters, origins=_TRUSTED)
                    others = self._places(tier, trusted, counted, speakers)
                    found = hydrate(tier, self._best(tier, words, others, speakers)[0], limit, keep)
                    known = {hit.id for hit in wider}
                    both = [*wider, *(hit for hit in found if hit.id not in known)]
                    hits = fair(both, self._per_source)[:limit]
        if query is not None:
            hits = self._in_time(tier, query, filters, hits, asked, sources, keep)[:limit]
        return SearchResult(tuple(hits), sum(totals), tuple(dict.fromkeys(warnings + more)))

    def _places(
        self,
        tier: Tier,
        filters: SearchFilters,
        counted: Sequence[tuple[Source, int]],
        speakers: Sequence[str],
    ) -> list[Place]:
        """Where to look, of each source and how much it holds."""
        places = []
        for source, total in counted:
            where = where_of(
                _seen_at(source, filters),
                tier,
                speakers=speakers,
                live=source.view.live(),
                archive=source.archive,
            )
            if where is not None:
                without = () if source.archive else filters.without
                places.append(Place.at(source, tier, where, self._zone, total, without))
        return places

    def _time_asked(self, tier: Tier, query: str | None, filters: SearchFilters) -> TimeAsked:
        """The time that a question is about, where the filters do not say it."""
        said = filters.as_of is not None or filters.standings != ("active",)
        return NOW if query is None or said else time_asked(query, self._local_now())

    def _in_time(
        self,
        tier: Tier,
        query: str,
        filters: SearchFilters,
        hits: Sequence[Hit],
        asked: TimeAsked,
        sources: Sequence[Source],
        keep: Callable[[Passage], bool],
    ) -> list[Hit]:
        """What was, or what is, before the other, as the question asks for it."""
        if tier == "archival" and asked is not NOW:
            views = {source.archive: source.view for source in sources}
            known = passages_of(hits, lambda archive: views[archive].passages)
            earlier: dict[str, list[Passage]] = {
                hit.id: kept
                for hit in hits[:SUCCESSION_LOOK]
                if hit.id in known
                and (kept := _earlier(views[hit.archive], known[hit.id], asked, keep))
            }
            return in_time(hits, known, asked, self._now(), earlier)
        if tier == "recall" and asked is NOW:
            first = [hit.seq for hit in hits[:SUCCESSION_LOOK]]
            newer = self._own.view.newer(first, query)
            plain = replace(filters, without=(), viewer=None) == _ALL

            def shown_for(seq: int, stale: Hit) -> Hit | None:
                message = self._own.view.messages([seq]).get(seq)
                if message is None or not plain or message.short_id in filters.without:
                    return None
                return message_for(self._own.view, message, stale)

            return newest_told(hits, newer, shown_for) if newer else list(hits)
        return list(hits)

    def near(
        self,
        text: str,
        limit: int = 3,
        filters: SearchFilters = _ALL,
        tier: Tier = "archival",
    ) -> list[tuple[str, float]]:
        """Passages, or gists of pages, whose meaning is closest to a text: short ids and cosines.
        Empty where no embedder works."""
        if self._vectors is None:
            return []
        narrowed = self._sight.narrowed(filters) if tier == "archival" else filters
        if narrowed is None:
            return []
        where = where_of(_seen_at(self._own, narrowed), tier, live=self._own.view.live())
        if where is None:
            return []
        total = self._own.view.count(tier)
        place = Place.at(self._own, tier, where, self._zone, total)
        legs = Legs(tier)
        add_vectors(legs, [place], text, self._vectors)
        closest: dict[str, float] = {}
        for key, cosine in legs.scores.get("vector", {}).items():
            parent = legs.found[key].match.parent
            closest[parent] = max(cosine, closest.get(parent, cosine))
        return sorted(closest.items(), key=lambda each: -each[1])[:limit]

    def _best(
        self, tier: Tier, words: str, places: Sequence[Place], speakers: Sequence[str]
    ) -> tuple[list[Ranked], list[str]]:
        if not any(c.isalnum() for c in words) or not places:
            return [], []
        legs = gather(tier, words, places, speakers, self._vectors)
        windows = find_spans(words, self._local_now())
        about = frozenset(
            (place.source.archive, id)
            for place in places
            if tier == "archival"
            for id in place.source.view.about(words)
        )
        table = features(legs, Asked.of(words, speakers, windows, about), self._weights)
        cosines = legs.scores.get("vector", {})
        ranked = [
            Ranked(legs.found[key], score, table[key], cosines.get(key))
            for key, score in order(legs, table, self._weights)
        ]
        return ranked, legs.warnings

    def _composed(
        self,
        tier: Tier,
        ranked: Sequence[Ranked],
        chosen: Ranking,
        limit: int,
        keep: Callable[[Passage], bool],
    ) -> list[Hit]:
        """The best candidates in the order of another ranking."""
        hits = hydrate(tier, ranked, SEARCH_OVERFETCH, keep)
        cosines: dict[str, float] = {}
        for each in ranked:
            if each.cosine is not None:
                cosines.setdefault(each.id, each.cosine)
        numbers = {int(hit.id[1:]): hit.id for hit in hits if not hit.archive}
        seen = self._own.view.accessed(tier, list(numbers))
        accessed = {numbers[number]: at for number, at in seen.items()}
        ordered = reorder(hits, chosen, self._local_now(), cosines=cosines, accessed=accessed)
        return fair(ordered, self._per_source)[:limit]

    def _local_now(self) -> datetime:
        return self._now().astimezone(self._zone)


def _earlier(
    view: View, passage: Passage, asked: TimeAsked, keep: Callable[[Passage], bool]
) -> list[Passage]:
    """What a passage took the place of, as far back as is asked for, the last first."""
    found: list[Passage] = []
    at = passage
    while len(found) < SUCCESSION_LONGEST:
        before = [each for each in view.superseded([at.number])[at.number] if was_true(each)]
        if not before:
            break
        at = before[0]
        found += filter(keep, before)
        if asked.at is None or at.holds(asked.at):
            break
    return found


def _seen_at(source: Source, filters: SearchFilters) -> SearchFilters:
    """Where nothing is private the question costs nothing."""
    asked = filters.viewer is not None and source.view.private()
    return filters if asked or filters.viewer is None else replace(filters, viewer=None)


def _current(filters: SearchFilters, now: datetime) -> Callable[[Passage], bool]:
    """Whether a passage is true at the time that is asked about, and may be seen: which may be
    other than it was when its row was written."""
    at, past, cold = filters.as_of or now, "past" in filters.standings, "cold" in filters.standings

    def keep(passage: Passage) -> bool:
        facets = passage.facets
        if not visible(passage, filters.scopes, filters.viewer):
            return False
        fresh = cold or facets.expires_at is None or now < facets.expires_at
        if filters.as_of is None and (past or cold):
            return fresh
        return fresh and passage.holds(at)

    return keep


def _newest(tier: Tier, places: Sequence[Place], limit: int) -> tuple[list[Ranked], list[str]]:
    """The last said first."""
    legs = Legs(tier)
    found: list[Candidate] = []
    for place in places:
        source = place.source
        rows = [row for row in place.tail.rows if row.part == 1]
        try:
            firsts = replace(place.where, first_parts=True)
            written = source.store.scan(tier, firsts, limit + len(place.left_out))
            rows.extend(row for row in written if row.parent not in place.left_out)
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
    """One tier's search: `services.Recall`, and the search side of `services.Archival`. `without`
    gives short ids that it never finds."""

    tier: Tier
    engine: Search
    without: Callable[[], tuple[str, ...]] = tuple

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult:
        filters = replace(filters, without=(*filters.without, *self.without()))
        return self.engine.search(self.tier, query, filters, limit, ranking=ranking)
