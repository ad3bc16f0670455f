"""The estimate of word pieces against the embedder's own tokenizer: never too few."""

import random
import string
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagemind.runtime.models.minilm_embedder import MAX_TOKENS, tokenizer
from pagemind.runtime.settings import CHUNK_TOKENS
from pagemind.runtime.tiers.recipe import chunks
from pagemind.runtime.tiers.word_pieces import estimate, fits

_WORDS = "the a of boat harbour sailing international antidisestablishmentarianism Nomad".split()
_EMOJI = "😀🚀👩\u200d💻🏳️\u200d🌈"


@lru_cache(maxsize=1)
def _whole() -> Any:
    made = tokenizer()
    made.no_truncation()
    return made


def real(text: str) -> int:
    """What the model reads of a text, its two marks included."""
    return len(_whole().encode(text.replace("\ud83c", "")).ids)


def _letters(alphabet: str, spaces: int) -> Callable[[random.Random], str]:
    """A few thousand of these, with a space after each so many."""

    def make(dice: random.Random) -> str:
        made = [dice.choice(alphabet) for _ in range(3000)]
        if spaces:
            made[spaces::spaces] = [" "] * len(made[spaces::spaces])
        return "".join(made)

    return make


def _code(dice: random.Random) -> str:
    return "\n".join(
        f'def f_{dice.randint(0, 99)}(x={dice.randint(0, 9)}): return {{"a": [x[0] ** 2 - 1]}}'
        for _ in range(60)
    )


def _urls(dice: random.Random) -> str:
    return " ".join(
        f"https://{dice.choice(_WORDS)}.example.org/{dice.randint(0, 99999)}/a-b_c?q=%20&z=1#top"
        for _ in range(80)
    )


def _span(first: int, last: int) -> str:
    return "".join(map(chr, range(first, last)))


TEXTS: dict[str, Callable[[random.Random], str]] = {
    "English": lambda dice: " ".join(dice.choice(_WORDS) for _ in range(600)),
    "code": _code,
    "URLs": _urls,
    "JSON": lambda dice: str([{"a": dice.random(), "b": [1, 2, 3]} for _ in range(100)]),
    "a table": lambda dice: "\n".join("| " + " | ".join("4271930") + " |" for _ in range(60)),
    "hexadecimal": _letters("0123456789abcdef", 33),
    "pairs of hexadecimal": _letters("0123456789abcdef", 3),
    "one endless number": _letters(string.digits, 0),
    "base64": _letters(string.ascii_letters + string.digits + "+/", 77),
    "punctuation": _letters(string.punctuation, 0),
    "consonants": _letters("bcdfghjklmnpqrstvwxz", 9),
    "Chinese": _letters(_span(0x4E00, 0x9FFF), 0),
    "Japanese": _letters(_span(0x3041, 0x30FF), 20),
    "Korean": _letters("안녕하세요서울에서배를탔습니다", 5),
    "Korean without spaces": _letters("안녕하세요서울에서배를탔습니다,.", 0),
    "Thai": _letters(_span(0xE01, 0xE3A), 30),
    "Arabic": _letters("ابتثجحخدذرزسش", 6),
    "Russian": _letters(_span(0x430, 0x450), 8),
    "accents": _letters("éèüñçåőž", 7),
    "symbols": _letters("a™b∑c→d€©e", 6),
    "emoji": _letters(_EMOJI, 4),
    "code with Chinese": _letters("{}();=中文船", 0),
    "control characters": _letters("\x00\ufffda ", 0),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_no_chunk_is_longer_than_the_model_reads(kind: str) -> None:
    """And chunks are as long as that allows: a third of the limit on average at least."""
    for seed in range(3):
        text = TEXTS[kind](random.Random(seed))
        pieces = chunks(text)
        assert max(map(real, pieces)) <= MAX_TOKENS
        assert sum(map(estimate, pieces)) / len(pieces) > CHUNK_TOKENS / 3


@given(st.text(max_size=400))
@settings(max_examples=300, deadline=None)
def test_any_text_is_estimated_as_no_less_than_it_is(text: str) -> None:
    """The two marks of the model are not counted."""
    assert real(text) - 2 <= estimate(text)


@given(st.lists(st.sampled_from([*_WORDS, "x=1;", "中文", "안녕", "é", "_", "0f3a", "\n"])))
@settings(max_examples=100, deadline=None)
def test_plain_words_are_counted_as_they_are(words: list[str]) -> None:
    """What has no unknown letters is not only bounded but known."""
    text = " ".join(words)
    assert real(text) - 2 <= estimate(text) <= max(real(text), len(text) + 1)


@given(st.text(max_size=1500), st.integers(1, 300))
@settings(deadline=None)
def test_fits_says_what_the_estimate_says(text: str, limit: int) -> None:
    """Only faster."""
    assert fits(text, limit) == (estimate(text) <= limit)
