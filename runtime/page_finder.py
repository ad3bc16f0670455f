"""page_find: which pages hold what is looked for.

Messages and gists are searched; the hits of a page speak for it together, the best most. A line
that states something goes before one that only speaks of the same. A page is worth finding when it
can be read next: matches that are still in the window are told apart.
"""

from dataclasses import dataclass, field, replace

from pagemind.runtime.page import Page
from pagemind.runtime.services import FoundPage, Hit, PagesFound, SearchFilters
from pagemind.runtime.settings import FIND_GIST, FIND_HITS, FIND_IN_VIEW, FIND_MORE
from pagemind.runtime.state.state import State
from pagemind.runtime.telling import Telling
from pagemind.runtime.tiers.search import Search


@dataclass
class _Evidence:
    """What speaks for one page."""

    hits: list[Hit] = field(default_factory=list)
    gist: float = 0.0

    @property
    def score(self) -> float:
        """The best message, a share of each further one (half as much each time), and the gist."""
        scores = sorted((hit.score for hit in self.hits), reverse=True)
        talk = sum(score * FIND_MORE**at for at, score in enumerate(scores))
        return talk + FIND_GIST * self.gist


class PageFinder:
    """Finds pages of one agent with its one search."""

    def __init__(self, state: State, search: Search, telling: Telling) -> None:
        self._state = state
        self._search = search
        self._telling = telling

    def find(self, query: str | None, filters: SearchFilters, limit: int) -> PagesFound:
        """The best pages first; without a query the newest that the filters leave."""
        talk = self._search.search("recall", query, filters, FIND_HITS)
        evidence: dict[int, _Evidence] = {}
        resident: list[Hit] = []
        for rank, hit in enumerate(talk.hits):
            if hit.in_context or hit.page is None:
                if rank < FIND_IN_VIEW:
                    resident.append(hit)
            else:
                more = 0.0 if query is None else self._telling.of(hit, query)
                told = replace(hit, score=round(hit.score + more, 4))
                evidence.setdefault(int(hit.page[1:]), _Evidence()).hits.append(told)
        warnings = talk.warnings
        if query is not None:
            # A gist has no speaker, and the time of a page is a span: those filters come after.
            gists = self._search.search("pages", query, SearchFilters(), FIND_HITS)
            warnings = tuple(dict.fromkeys([*warnings, *gists.warnings]))
            for hit in gists.hits:
                if hit.id[0] != "p":  # a directory: page_in lists it
                    continue
                evidence.setdefault(int(hit.id[1:]), _Evidence()).gist = hit.score
        known = self._state.pages.get_all(list(evidence))
        found = [
            _found(known[number], each)
            for number, each in evidence.items()
            if number in known and (each.hits or _may_hold(known[number], filters))
        ]
        if query is None:
            found.sort(key=lambda page: -int(page.id[1:]))
        else:
            found.sort(key=lambda page: (-page.score, -int(page.id[1:])))
        count = self._state.pages.count()
        return PagesFound(tuple(found[:limit]), count, tuple(resident), warnings)


def _found(page: Page, evidence: _Evidence) -> FoundPage:
    best = max(evidence.hits, key=lambda hit: hit.score, default=None)
    return FoundPage(
        page.short_id, page.first_at, page.last_at, page.gist, round(evidence.score, 4), best
    )


def _may_hold(page: Page, filters: SearchFilters) -> bool:
    """Whether a page found by its gist alone may hold what the filters leave: with others than
    times only its messages could tell."""
    if replace(filters, start=None, end=None, without=()) != SearchFilters():
        return False
    after = filters.start is None or page.last_at >= filters.start
    return after and (filters.end is None or page.first_at < filters.end)
