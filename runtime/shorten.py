"""Cut a text to a number of tokens, at its end or at its start, never inside a character. Pure."""

import unicodedata
from collections.abc import Callable

_CLUSTER = 32  # code points; the longest emoji have fewer
MOST_CHARS_A_TOKEN = 12  # more of them to a token only long runs of one character have


def shorten(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The longest start of `text` within `tokens`, cut at a space where one is near."""
    if count(text) <= tokens:
        return text
    size = _largest(len(text), tokens, lambda size: count(text[:size] + "…"))
    size = _boundary(text, size, -1)
    space = text.rfind(" ", int(size * 0.7), size)
    return text[: space if space > 0 else size].rstrip() + "…"


def shorten_start(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The longest end of `text` within `tokens`, cut at a space where one is near."""
    if count(text) <= tokens:
        return text
    size = _largest(len(text), tokens, lambda size: count("…" + text[len(text) - size :]))
    start = _boundary(text, len(text) - size, +1)
    space = text.find(" ", start, start + int(size * 0.3))
    return "…" + text[space + 1 if space >= 0 else start :].lstrip()


def _largest(length: int, tokens: int, cost: Callable[[int], int]) -> int:
    """The largest number of characters that costs at most `tokens`."""
    low, high = 0, min(length, tokens * MOST_CHARS_A_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(middle) <= tokens:
            low = middle
        else:
            high = middle - 1
    return low


def _boundary(text: str, at: int, step: int) -> int:
    """The nearest place from `at` on where a cut goes through no combined character."""
    for tried in range(at, at + step * _CLUSTER, step):
        if not 0 < tried < len(text):
            return tried
        if not _joins(text[tried]) and text[tried - 1] != "\u200d":
            return tried
    return at  # a pile of accents is no character


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it: combining marks, joiners, modifiers."""
    code = ord(character)
    return (
        unicodedata.combining(character) != 0
        or code in (0x200D, 0xFE0E, 0xFE0F)
        or 0x1F3FB <= code <= 0x1F3FF
    )
