"""Names of participants in a query: who is meant, and the query without them. Pure.

An embedder ranks "Wow, Ada!" first for a question about Ada: cutting the participants' names from
the embedded query was the largest single gain measured. Words and third persons stay.
"""

import re
from collections.abc import Iterable

_ROLES = frozenset({"user", "assistant", "tool", "system", "agent", "human"})


def _pattern(name: str) -> re.Pattern[str]:
    """The name, or one of its words of three letters or more, with its 's."""
    words = [name, *(word for word in name.split() if len(word) > 2)]
    either = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<!\w)(?:{either})(?:['’]s)?(?!\w)", re.IGNORECASE)


def mentioned(query: str, speakers: Iterable[str]) -> list[str]:
    """The participants a query names; a role is no name."""
    return [
        name
        for name in speakers
        if len(name) > 1 and name.lower() not in _ROLES and _pattern(name).search(query)
    ]


def without_names(query: str, speakers: Iterable[str]) -> str:
    """The query with participants' names cut; unchanged if nothing else would be left."""
    rest = query
    for name in mentioned(query, speakers):
        rest = _pattern(name).sub(" ", rest)
    rest = " ".join(rest.split())
    return rest if any(c.isalnum() for c in rest) else query


def exactly(word: str) -> re.Pattern[str]:
    """An identifier as a whole: ABC-12 is not found in ABC-123."""
    return re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])", re.IGNORECASE)
