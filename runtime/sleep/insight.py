"""What a model says follows from memories, held against the memories that it was shown. Pure.

Each is looked at alone: a bad one spoils no other, and none is ever made up in its place.
"""

from collections.abc import Sequence
from typing import Any

from pagemind.runtime.gist import holds, telling
from pagemind.runtime.importance import importance_of
from pagemind.runtime.settings import INSIGHT_CHARS
from pagemind.runtime.sleep.asked import whole
from pagemind.runtime.sleep.recent import Memory

_LEAST_CHARS = 8  # of a text that says something


def checked(
    said: Any, found: Sequence[Memory], shown: str
) -> tuple[dict[str, Any], list[Memory]] | None:
    """An insight with its evidence, out-of-range numbers left out; None for one that has none, or
    says what no memory could have told it."""
    if not isinstance(said, dict) or not isinstance(said.get("text"), str):
        return None
    text = " ".join(said["text"].split())
    cited = said.get("evidence")
    numbers = [whole(each) for each in cited] if isinstance(cited, list) else []
    valid = dict.fromkeys(n for n in numbers if n is not None and 1 <= n <= len(found))
    evidence = [found[n - 1] for n in valid]
    repeats = any(text.casefold() == " ".join(m.text.split()).casefold() for m in found)
    if (
        not evidence
        or repeats
        or not _LEAST_CHARS <= len(text) <= INSIGHT_CHARS
        or text.endswith("?")
    ):
        return None
    lower = shown.lower()
    if not all(
        holds(shown, word) or (word.isalpha() and word.lower() in lower) for word in telling(text)
    ):
        return None
    rated = whole(said.get("importance"))
    rating = float(rated) if rated is not None and 1 <= rated <= 10 else importance_of(text)
    return {"text": text, "importance": rating}, evidence
