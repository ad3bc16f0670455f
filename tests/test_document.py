"""A document is cut into passages that say something each, and nothing of it is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.document import split_document


def test_short_paragraphs_share_a_passage() -> None:
    """A note of three lines is one passage."""
    assert split_document("# Boat\n\nNomad.\n\nBerth 42.\n") == ["# Boat\n\nNomad.\n\nBerth 42."]


def test_a_heading_begins_a_passage() -> None:
    """Once the one before is half full; it stays with what follows it."""
    text = "# One\n\n" + "a" * 60 + "\n\n# Two\n\nbbb"
    assert split_document(text, 100) == ["# One\n\n" + "a" * 60, "# Two\n\nbbb"]


def test_a_long_paragraph_is_cut_at_sentences() -> None:
    """No passage ends in the middle of one, where there are any."""
    text = " ".join(f"This is sentence number {n}." for n in range(40))
    passages = split_document(text, 200)
    assert all(passage.endswith(".") for passage in passages)
    assert all(len(passage) <= 200 for passage in passages)


@pytest.mark.parametrize("text", ["", "\n\n  \n", "\r\n\r\n"])
def test_nothing_has_no_passages(text: str) -> None:
    """White space says nothing."""
    assert split_document(text) == []


@given(st.text(alphabet=st.sampled_from("ab# .\n\r\t中")), st.integers(10, 60))
def test_every_word_is_in_one_passage(text: str, limit: int) -> None:
    """Cutting loses only white space, and keeps to the limit."""
    passages = split_document(text, limit)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(0 < len(passage) <= limit for passage in passages)
