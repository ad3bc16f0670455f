"""Echoes: whether a text repeats what is erased, and nobody else has said. Pure.

What is told of a text is its runs of five words, and by itself each name, number and identifier in
it. Those that also stand in something that stays, which a person, a file or the world said, are no
tell-tale: they have other evidence.
"""

from collections.abc import Iterable, Iterator

from pagemind.runtime.erasure.named import seen
from pagemind.runtime.gist import telling
from pagemind.runtime.models.plain_talk import words

_RUN = 5  # words: as many are hardly ever said twice by chance
_SHORTEST_RUN = 3  # of a text that has no more
_NAME = 4  # characters of a name that tells something by itself
_DATES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june"
    " july august september october november december today tomorrow yesterday".split()
)


class Echoes:
    """Of some texts that are erased, beside those that stay."""

    def __init__(self, erased: Iterable[str], staying: Iterable[str] = ()) -> None:
        self._runs: set[str] = set()
        for text in erased:
            self._runs.update(_tales(text))
        for text in staying:
            if not self._runs:
                break
            self._runs.difference_update(_tales(text))
            self._runs.difference_update(words(seen(text)))
        self._short = {run for run in self._runs if 0 < run.count(" ") < _RUN - 1}
        self._names = {run for run in self._runs if " " not in run}

    def __bool__(self) -> bool:
        return bool(self._runs)

    def __contains__(self, text: object) -> bool:
        if not isinstance(text, str) or not self._runs:
            return False
        said = words(seen(text))
        if any(run in self._runs for run in _runs(said, _RUN)):
            return True
        if self._names and not self._names.isdisjoint([*_names(text), *said]):
            return True
        sizes = range(_SHORTEST_RUN, _RUN) if self._short else ()
        return any(run in self._short for size in sizes for run in _runs(said, size))


def _tales(text: str) -> Iterator[str]:
    """What tells of a text."""
    said = words(seen(text))
    if _SHORTEST_RUN <= len(said) < _RUN:
        yield " ".join(said)
    yield from _runs(said, _RUN)
    yield from _names(text)


def _runs(said: list[str], size: int) -> Iterator[str]:
    return (" ".join(said[at : at + size]) for at in range(len(said) - size + 1))


def _names(text: str) -> Iterator[str]:
    """Names, numbers and identifiers that are long enough to be somebody's; no years, no days."""
    for name in telling(seen(text)):
        key = name.casefold()
        year = len(key) == _NAME and key.isdecimal() and key[:2] in ("19", "20")
        if len(key) >= _NAME and not year and key not in _DATES and " " not in key:
            yield key
