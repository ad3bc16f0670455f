"""estimate(): how many word pieces an embedder's tokenizer makes of a text; never too few. Pure.

Counts as WordPiece does, greedily over BERT's uncased vocabulary, without its library. English has
a piece for every four or five characters, code and URLs for two, digits and punctuation each.
"""

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files

# Han characters stand for themselves, other letters and digits make words, the rest is single.
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_WORDS = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+|[^\s]")
_LONGEST = 100  # of a word: a longer one is a single unknown piece, whatever it holds
_KNOWN_WORDS = 1 << 14


def estimate(text: str) -> int:
    """At least as many as the tokenizer makes, and one for every four characters: so that a word
    which it does not know, a hundred digits long, has a size as well."""
    ascii_ = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    pieces = sum(map(_pieces_of, _WORDS.findall(text.lower())))
    return max(ascii_ // 4 + len(text) - ascii_ + 1, pieces)


def fits(text: str, limit: int) -> bool:
    """estimate(text) ≤ limit, without counting where the length says it."""
    size = len(text)
    if size < limit and text.isascii():  # no character makes more than a piece
        return True
    return size // 4 < limit and estimate(text) <= limit


@lru_cache(maxsize=_KNOWN_WORDS)
def _pieces_of(word: str) -> int:
    """Of one word: the longest known beginning is cut off again and again."""
    if not word.isascii():  # accents fall off, Hangul falls apart into its letters
        found = unicodedata.normalize("NFD", word)
        word = "".join(c for c in found if unicodedata.category(c) != "Mn")
    if len(word) <= 1 or len(word) > _LONGEST:
        return 1
    known = _vocabulary()
    count = start = 0
    while start < len(word):
        end, mark = len(word), "##" if start else ""
        while end > start and mark + word[start:end] not in known:
            end -= 1
        if end == start:  # the tokenizer gives up the whole word
            return 1
        start = end
        count += 1
    return count


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    text = files("pagemind.runtime.models").joinpath("vocab.txt").read_text(encoding="utf-8")
    return frozenset(text.splitlines())
