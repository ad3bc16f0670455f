"""Fair: no untrusted source fills a search. Pure.

Of so many results so many may be of one untrusted source, while there are others: its further ones
come after those. The order of all else stays; where nothing else was found nothing changes.
"""

from collections import Counter
from collections.abc import Sequence

from pagemind.runtime.services import Hit
from pagemind.runtime.settings import HITS_SHARED
from pagemind.runtime.step_trust import untrusted

Source = tuple[str, str, str]


def crowded(hits: Sequence[Hit], per_source: int) -> bool:
    """Whether one untrusted source has more than its share, so that it is worth to look further."""
    counts = Counter(source for hit in hits if (source := source_of(hit)) is not None)
    return any(many > _share(per_source, len(hits)) for many in counts.values())


def fair(hits: Sequence[Hit], per_source: int) -> list[Hit]:
    """The same hits, with what is over its share behind what comes from others."""
    counts: Counter[Source] = Counter()
    late: list[Hit] = []
    found: list[Hit] = []
    for hit in hits:
        # What waits has its turn as soon as its source may have one more.
        while late and (ready := _next(late, counts, _share(per_source, len(found) + 1))):
            late.remove(ready)
            _take(ready, counts, found)
        source = source_of(hit)
        if source is None or counts[source] < _share(per_source, len(found) + 1):
            _take(hit, counts, found)
        else:
            late.append(hit)
    return [*found, *late]


def source_of(hit: Hit) -> Source | None:
    """What an untrusted hit comes from; None for one that is trusted."""
    if not untrusted(hit.trust):
        return None
    return hit.archive, hit.origin, hit.source


def _next(late: Sequence[Hit], counts: Counter[Source], share: int) -> Hit | None:
    for hit in late:
        source = source_of(hit)
        if source is not None and counts[source] < share:
            return hit
    return None


def _take(hit: Hit, counts: Counter[Source], found: list[Hit]) -> None:
    if (source := source_of(hit)) is not None:
        counts[source] += 1
    found.append(hit)


def _share(per_source: int, many: int) -> int:
    """Of the first so many results, rounded down, and never less than of the first ten."""
    return max(per_source, many * per_source // HITS_SHARED)
