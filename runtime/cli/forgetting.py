"""Which passages are to be forgotten: those named, and those that a query finds. For the chat's
/forget and `pagemind memory forget`, which differ in what they ask and say."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pagemind.runtime.errors import NotFound

if TYPE_CHECKING:
    from pagemind.runtime.passage import Passage
    from pagemind.runtime.state.passages import Passages
    from pagemind.runtime.tiers.search import Search

_MOST = 10  # matches of a query


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
    from pagemind.runtime.services import SearchFilters

    hits = search.search("archival", query, SearchFilters(), _MOST).hits
    return list(dict.fromkeys(hit.id for hit in hits if not hit.archive))
