"""Which passages are to be forgotten: those named, and those that a query or conditions find. For
the chat's /forget and `pagemind memory forget`, which differ in what they ask and say."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pagemind.runtime.errors import NotFound

if TYPE_CHECKING:
    from pagemind.runtime.passage import Passage
    from pagemind.runtime.state.passages import Passages
    from pagemind.runtime.tiers.search import Search

_MOST = 10  # matches of a query
_ROWS = 500


@dataclass(frozen=True, slots=True)
class Wanted:
    """All conditions hold; `most` None: all that do, or the best ten of a query."""

    query: str = ""
    scopes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    older_than: timedelta | None = None
    most: int | None = None

    @property
    def nothing(self) -> bool:
        """Whether it says no condition at all."""
        return not (self.query or self.scopes or self.kinds or self.tags or self.older_than)


def active(
    passages: "Passages", numbers: Sequence[int], absent: Callable[[int], NotFound]
) -> "list[Passage]":
    """These passages, each once. Raises what `absent` makes of a number that is not there."""
    found = passages.get(numbers)
    for number in numbers:
        if number not in found or found[number].provenance.status != "active":
            raise absent(number)
    return [found[number] for number in dict.fromkeys(numbers)]


def matching(search: "Search", query: str) -> list[str]:
    """The ids of the agent's own, best first; those of shared archives are not its to forget."""
    return _hits(search, Wanted(query), None)


def found_by(
    search: "Search", passages: "Passages", wanted: Wanted, now: datetime
) -> "list[Passage]":
    """Those of a query the best first, else the oldest."""
    before = now - wanted.older_than if wanted.older_than is not None else None
    if wanted.query:
        numbers = [int(id[1:]) for id in _hits(search, wanted, before)]
        known = passages.get(numbers)
        return [known[number] for number in numbers if number in known]
    found = []
    for passage in _all(passages):
        if _fits(passage, wanted, before):
            found.append(passage)
            if len(found) == wanted.most:
                break
    return found


def evergreen(passage: "Passage") -> bool:
    """Whether it is kept where nobody names it."""
    from pagemind.runtime.passage import EVERGREEN

    return passage.facets.evergreen or any(tag.casefold() == EVERGREEN for tag in passage.tags)


def _hits(search: "Search", wanted: Wanted, before: datetime | None) -> list[str]:
    from pagemind.runtime.services import SearchFilters

    filters = SearchFilters(scopes=wanted.scopes, kinds=wanted.kinds, tags=wanted.tags, end=before)
    most = wanted.most or _MOST
    # Shared archives are searched, too: more are asked for, so that theirs crowd nothing out.
    hits = search.search("archival", wanted.query, filters, most * 5).hits
    return list(dict.fromkeys(hit.id for hit in hits if not hit.archive))[:most]


def _all(passages: "Passages") -> "Iterator[Passage]":
    number = 0
    while some := passages.after(number, _ROWS):
        yield from some
        number = some[-1].number


def _fits(passage: "Passage", wanted: Wanted, before: datetime | None) -> bool:
    from pagemind.runtime.passage import ORDINARY
    from pagemind.runtime.scope import seen

    assert passage.created_at is not None
    return (
        passage.kind in (wanted.kinds or ORDINARY)
        and seen(passage.facets.scope, wanted.scopes)
        and set(wanted.tags) <= set(passage.tags)
        and (before is None or passage.created_at < before)
    )
