"""Whether two texts say the same in other words, as far as their words tell it. Pure.

Where no embedder works, likeness() stands for the cosine: runs of three letters in common.
"""

import re
import unicodedata
from functools import lru_cache

from pagemind.runtime.gist import telling
from pagemind.runtime.models.plain_talk import content, words

_NOT = re.compile(
    r"\b(?:no longer|not|never|no|none|without|any ?more|stopped|used to)\b|n['’]t\b",
    re.IGNORECASE,
)
_ARTICLES = frozenset(("the", "a", "an", "my", "our"))
_ENDED = re.compile(
    r"\b(?:no longer|any ?more|used to|never again|stopped)\b|n['’]t\b.{0,80}\bany ?more\b",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """A text as quotes are compared: without regard to case, spaces, dashes and quotation marks."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"[’‘´`]", "'", text)
    text = re.sub(r"[‐-―]", "-", text)
    return " ".join(re.sub(r"[“”«»\"…]", "", text).split()).strip(" .,;:!?-'")


@lru_cache(maxsize=4096)
def _grams(text: str) -> frozenset[str]:
    marked = f" {plain(text)} "
    return frozenset(marked[at : at + 3] for at in range(len(marked) - 2))


def likeness(one: str, other: str) -> float:
    """From 0 to 1: the share of runs of three letters that two texts have in common (Dice)."""
    first, second = _grams(one), _grams(other)
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def same_words(one: str, other: str) -> bool:
    """Whether they differ in case, spaces and punctuation alone."""
    return plain(one) == plain(other)


def tells_alike(one: str, other: str) -> bool:
    """Whether neither names, counts or denies what the other does not: what is left are other words
    for it, perhaps."""
    return _named(one) == _named(other) and denies(one) == denies(other)


def contradicts(one: str, other: str) -> bool:
    """Whether two texts that are much alike begin with the same and go on otherwise: perhaps the
    same subject with another value."""
    return not tells_alike(one, other) and _head(one) == _head(other)


def covers(known: str, new: str) -> bool:
    """Whether a text holds everything that another names."""
    said = plain(known)
    return all(plain(word) in said for word in telling(new)) and denies(known) == denies(new)


def mentions(text: str, value: str) -> bool:
    """Whether a text speaks of a value: has its words, or most of what they mean."""
    if plain(value) in plain(text):
        return True
    words = content(value)
    return bool(words) and words <= content(text)


def denies(text: str) -> bool:
    return _NOT.search(text) is not None


def ends(text: str, value: str) -> bool:
    """Whether a text says of a value that it is over: "no longer likes jazz"."""
    said = _ENDED.search(text)
    if said is None or not value:
        return False
    return plain(value) in plain(text)


def _named(text: str) -> frozenset[str]:
    return frozenset(plain(word) for word in telling(text))


def _head(text: str) -> str:
    """The first word that is more than an article."""
    return next((word for word in words(text) if word not in _ARTICLES), "")
