"""shorten(): within its tokens, a true start of the text, and never half a character."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_texts import ODD

from pagemind.runtime.shorten import shorten, shorten_start
from pagemind.runtime.tokens import TokenCounter

count = TokenCounter().count


@pytest.mark.parametrize("tokens", [1, 2, 7, 48, 500])
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_it_fits_and_is_a_start(text: str, tokens: int) -> None:
    """At most that many tokens; what is left is how the text begins, marked where it was cut."""
    short = shorten(text, tokens, count)
    assert count(short) <= tokens
    assert short == text or short.endswith("…")
    assert text.startswith(short.removesuffix("…"))


@given(st.text(max_size=300), st.integers(1, 60))
def test_any_text_fits(text: str, tokens: int) -> None:
    """For any text at all."""
    short = shorten(text, tokens, count)
    assert count(short) <= tokens
    assert text.startswith(short.removesuffix("…")) or short == text


def test_what_fits_is_untouched() -> None:
    """To the letter, spaces at the end included."""
    assert shorten("Hello  world \n", 20, count) == "Hello  world \n"


def test_it_cuts_at_a_space_where_one_is_near() -> None:
    """Half a word is only shown where words are very long."""
    short = shorten("The harbour light went out at nine in the evening", 6, count)
    assert short == "The harbour light went out…"


def test_most_of_the_budget_is_used() -> None:
    """A cut text is not much shorter than it may be."""
    text = "The harbour light went out. " * 200
    assert count(shorten(text, 100, count)) > 85


@pytest.mark.parametrize("tokens", range(1, 30))
def test_a_combined_character_stays_whole(tokens: int) -> None:
    """No accent, joiner or skin tone is left behind its letter."""
    for text in ("cafe\u0301 " * 40, "👩‍👩‍👧 " * 40, "🍸🏽" * 40):
        kept = shorten(text, tokens, count).removesuffix("…")
        is_whole(kept, text[len(kept) :])
        end = shorten_start(text, tokens, count).removeprefix("…")
        is_whole(text[: len(text) - len(end)], end)


def is_whole(before: str, after: str) -> None:
    """A cut between the two goes through no character."""
    if before and after:
        assert not unicodedata.combining(after[0])
        assert after[0] not in "\u200d\ufe0f🏽"
        assert not before.endswith("\u200d")


@pytest.mark.parametrize("tokens", [1, 2, 7, 48, 500])
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_the_end_of_a_text_fits_too(text: str, tokens: int) -> None:
    """shorten_start keeps how a text ends, within its tokens."""
    short = shorten_start(text, tokens, count)
    assert count(short) <= tokens
    assert short == text or short.startswith("…")
    assert text.endswith(short.removeprefix("…"))
