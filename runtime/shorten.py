"""Cut a text to a number of tokens, never inside a character. Pure."""

import unicodedata
from collections.abc import Callable


def shorten(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """The longest start of `text` within `tokens`, cut at a space where one is near."""
    if count(text) <= tokens:
        return text
    low, high = 0, min(len(text), tokens * 12)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle] + "…") <= tokens:
            low = middle
        else:
            high = middle - 1
    head = text[:low]
    # Never end on half of a combined character.
    while head and low < len(text) and _joins(text[low]):
        low -= 1
        head = text[:low]
    space = head.rfind(" ", int(low * 0.7))
    return (head[:space] if space > 0 else head).rstrip() + "…"


def _joins(character: str) -> bool:
    """Whether a character belongs to the one before it: combining marks, joiners, modifiers."""
    code = ord(character)
    return (
        unicodedata.combining(character) != 0
        or code in (0x200D, 0xFE0E, 0xFE0F)
        or 0x1F3FB <= code <= 0x1F3FF
    )
