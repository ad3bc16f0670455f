"""Echoes: whether a text repeats what is erased, and nobody else has said. Pure.

What tells of a text is its runs of six words that carry some meaning, each identifier in it by
itself (a code, a number, an address), and names, two of them together. Those that also stand in
something that stays, which a person, a file or the world said, are no tell-tale: they have other
evidence. Of what the agent itself said only identifiers tell: its phrases are its own.
"""

import re
from collections.abc import Iterable, Iterator

from pagemind.runtime.erasure.named import seen
from pagemind.runtime.gist import telling
from pagemind.runtime.models.plain_talk import content, words

_RUN = 6  # words: as many are hardly ever said twice by chance …
_MEANING = 3  # … if so many of them mean something
_SHORTEST = 3  # words of a text that is told by all of them, if it has no more …
_SHORT_MEANING = 2  # … and so many mean something
_NAME = 4  # characters of a name or number that tells something
_CODE = 5  # … with letters and digits
_PHONE = 9  # digits with something between them: fewer are a date
_AMOUNT = re.compile(r"\d[\d.,:]*[a-z°%€$£]{1,3}")  # 10:30am, 2.5km
_TOGETHER = 2  # names: one alone is said of anything
_DATES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june"
    " july august september october november december today tomorrow yesterday".split()
)


class Echoes:
    """`said` was said by people and the world, `made` by the agent; both are erased. `staying` has
    its own evidence."""

    def __init__(
        self, said: Iterable[str] = (), made: Iterable[str] = (), staying: Iterable[str] = ()
    ) -> None:
        tales: set[str] = set()
        for text in said:
            tales.update(_telling_runs(text))
            tales.update(_names(text))
        for text in made:
            tales.update(filter(_is_identifier, _names(text)))
        for text in staying:
            if not tales:
                break
            spoken = words(seen(text))
            for size in range(_SHORTEST, _RUN + 1):
                tales.difference_update(_runs(spoken, size))
            tales.difference_update(spoken)
            tales.difference_update(_names(text))
        self._runs = {tale for tale in tales if " " in tale}
        single = tales - self._runs
        self._identifiers = set(filter(_is_identifier, single))
        self._names = single - self._identifiers
        self._sizes = sorted({run.count(" ") + 1 for run in self._runs})

    def __bool__(self) -> bool:
        return bool(self._runs or self._identifiers or self._names)

    def __contains__(self, text: object) -> bool:
        if not isinstance(text, str) or not self:
            return False
        spoken = words(seen(text))
        named = {*_names(text), *spoken}
        if not self._identifiers.isdisjoint(named):
            return True
        if len(self._names & named) >= _TOGETHER:
            return True
        return any(run in self._runs for size in self._sizes for run in _runs(spoken, size))


def _telling_runs(text: str) -> Iterator[str]:
    spoken = words(seen(text))
    if _SHORTEST <= len(spoken) < _RUN:
        whole = " ".join(spoken)
        if len(content(whole)) >= _SHORT_MEANING:
            yield whole
    yield from (run for run in _runs(spoken, _RUN) if len(content(run)) >= _MEANING)


def _runs(spoken: list[str], size: int) -> Iterator[str]:
    return (" ".join(spoken[at : at + size]) for at in range(len(spoken) - size + 1))


def _names(text: str) -> Iterator[str]:
    """Names, numbers and identifiers that are long enough to be somebody's; no years, no days."""
    for name in telling(seen(text)):
        key = name.casefold()
        year = len(key) == _NAME and key.isdecimal() and key[:2] in ("19", "20")
        if len(key) >= _NAME and not year and key not in _DATES and " " not in key:
            yield key


def _is_identifier(name: str) -> bool:
    """Whether it can only be one thing: an address, a code, a long number. Times, dates, amounts
    and round numbers are said of anything."""
    if "@" in name or "://" in name:
        return True
    digits = sum(char.isdigit() for char in name)
    if not digits or _AMOUNT.fullmatch(name):
        return False
    if any(char.isalpha() for char in name):
        return len(name) >= _CODE
    if name.isdecimal():
        return digits >= _NAME and not name.endswith("00")
    return digits >= _PHONE
