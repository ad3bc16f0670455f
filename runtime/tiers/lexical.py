"""Lexical scores without an index: how much of a query a text covers. For unwritten rows. Pure.

The words are those of the full-text index (folded, without stop words, roughly stemmed), so that
a row scores alike before and after it is written.
"""

import functools
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from pagemind.runtime.tiers.recipe import grams_text

_WORD = re.compile(r"[^\W_]+")
_WORDS = 16_384  # remembered: the same few thousand make most of any talk
_STOP = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)


def terms(text: str) -> list[str]:
    """The words of a text as an index would hold them."""
    plain = text.lower()
    if not plain.isascii():
        folded = unicodedata.normalize("NFKD", plain)
        plain = "".join(c for c in folded if not unicodedata.combining(c))
    return [stem(word) for word in _WORD.findall(plain) if word not in _STOP]


@functools.lru_cache(_WORDS)
def stem(word: str) -> str:
    """A rough English stem: enough that `boats` finds `boat` and `sailing` finds `sailed`."""
    if len(word) < 4 or not word.isascii():
        return word
    for suffix, replacement in (
        ("sses", "ss"), ("ies", "i"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""), ("s", ""),
    ):  # fmt: skip
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            if suffix == "s" and word.endswith(("ss", "us", "is")):
                break
            word = word[: len(word) - len(suffix)] + replacement
            if suffix in ("ing", "ed", "edly") and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]  # running, planned
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


def rarity(query: Iterable[str], texts: Sequence[set[str]], total: int) -> dict[str, float]:
    """A weight for each term of a query: the rarer among the candidates, the heavier."""
    weights = {}
    for term in query:
        holding = sum(term in text for text in texts)
        weights[term] = math.log(1 + (max(total, holding) + 1) / (holding + 0.5))
    return weights


def coverage(weights: Mapping[str, float], text: Iterable[str]) -> float:
    """The share of a query's weight that a text holds: 0 to 1."""
    whole = sum(weights.values())
    held = set(text)
    return sum(w for term, w in weights.items() if term in held) / whole if whole else 0.0


def grams(text: str) -> set[str]:
    """One to three characters in a row, of what the n-gram field holds of a text."""
    found: set[str] = set()
    for piece in grams_text(text).lower().split():
        for size in (1, 2, 3):
            found.update(piece[i : i + size] for i in range(len(piece) - size + 1))
    return found
