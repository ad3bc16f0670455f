"""Named: whether a text names somebody, however the name is written there. Pure.

Case, compatibility forms, characters that cannot be seen, what stands between the words of a name
and a possessive make no difference; part of a longer word is no name. A name that is an everyday
word (Will, May) counts with a capital only.
"""

import re
import unicodedata
from collections.abc import Iterable

from pagemind.runtime.entity_names import plain
from pagemind.runtime.models.plain_talk import content

_BETWEEN = r"[\W_]{1,3}"  # dana.reyes@example.org, Dana  Reyes, Dana-Reyes
_EVERYDAY = frozenset("may march april june august will mark bill rose hope grace art".split())


class Named:
    """`names` are those of one person or thing; none names nobody."""

    def __init__(self, names: Iterable[str]) -> None:
        self.keys = frozenset(key for name in names if (key := plain(name)))
        any_case = sorted((k for k in self.keys if not _everyday(k)), key=len, reverse=True)
        capital = sorted(self.keys.difference(any_case))
        patterns = [rf"(?i:{'|'.join(map(_pattern, any_case))})"] if any_case else []
        patterns += [_pattern(key[0].upper() + key[1:]) for key in capital]
        patterns += [_pattern(key.upper()) for key in capital]
        inner = "|".join(patterns)
        self._found = re.compile(rf"(?<![^\W_])(?:{inner})(?![^\W_])") if inner else None

    def __call__(self, text: str) -> bool:
        return self._found is not None and self._found.search(seen(text)) is not None

    def is_name(self, name: str) -> bool:
        """Whether that is the name, and nothing else."""
        return bool(name) and plain(name) in self.keys


def seen(text: str) -> str:
    """A text as it is read: compatibility forms made plain, without what cannot be seen."""
    if text.isascii():
        return text
    plain_text = unicodedata.normalize("NFKC", text)
    return "".join(char for char in plain_text if unicodedata.category(char) != "Cf")


def _everyday(key: str) -> bool:
    """Whether a name is a word that is said of anything."""
    return " " not in key and (key in _EVERYDAY or (key.isalpha() and not content(key)))


def _pattern(key: str) -> str:
    words = [_BETWEEN.join(map(re.escape, re.findall(r"[^\W_]+|[^\w\s]", w))) for w in key.split()]
    return _BETWEEN.join(word for word in words if word) + r"(?:['’]s)?"
