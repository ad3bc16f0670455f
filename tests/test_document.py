"""A document is cut into passages that say something each, and nothing of it is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.document import Piece, pieces, under
from pagemind.runtime.settings import DOCUMENT_CHARS


def split(text: str, limit: int = DOCUMENT_CHARS) -> list[str]:
    return [piece.text for piece in pieces(text, limit)]


def test_short_paragraphs_share_a_passage() -> None:
    """A note of three lines is one passage."""
    assert split("# Boat\n\nNomad.\n\nBerth 42.\n") == ["# Boat\n\nNomad.\n\nBerth 42."]


def test_a_heading_begins_a_passage() -> None:
    """Once the one before is half full; it stays with what follows it."""
    text = "# One\n\n" + "a" * 60 + "\n\n# Two\n\nbbb"
    assert split(text, 100) == ["# One\n\n" + "a" * 60, "# Two\n\nbbb"]


def test_a_long_paragraph_is_cut_at_sentences() -> None:
    """No passage ends in the middle of one, where there are any."""
    text = " ".join(f"This is sentence number {n}." for n in range(40))
    passages = split(text, 200)
    assert all(passage.endswith(".") for passage in passages)
    assert all(len(passage) <= 200 for passage in passages)


def test_a_heading_stays_with_what_follows() -> None:
    """It is not the end of a passage, whether the next paragraph fits one or is longer."""
    for length in (50, 170):
        text = f"{'a' * 40}\n\n# Two\n{'b ' * length}"
        passages = split(text, 110)
        assert passages[0] == "a" * 40
        assert passages[1].startswith("# Two\nb b")


def test_a_piece_knows_its_headings() -> None:
    """Those above it, the outermost first, and not those with which it begins."""
    text = f"# A\n\n{'a' * 60}\n\nB\n---\n{'b' * 80}\n\n### C ##\n{'c ' * 90}\n# D\n{'d' * 90}"
    found = [(piece.text[:3], piece.path) for piece in pieces(text, 100)]
    assert found == [
        ("# A", ()),
        ("B\n-", ("A",)),
        ("###", ("A", "B")),
        ("c c", ("A", "B", "C")),
        ("# D", ()),
    ]


def test_code_has_no_headings() -> None:
    """A remark in fenced code, or in a file that is no Markdown, is a line like others."""
    code = f"# A\n\n```\n# remark\n\nx = 1\n```\n{'b ' * 60}"
    assert [piece.path for piece in pieces(code, 100)] == [(), ("A",), ("A",)]
    assert not any(piece.path for piece in pieces(code, 100, headings=False))


def test_a_long_text_without_a_line_end_is_cut_in_good_time() -> None:
    """At words; the time grows with its length and not with its square."""
    text = "word " * 400_000
    passages = split(text, 1000)
    assert len(passages) < 2100
    assert all(passage.endswith("word") for passage in passages)


def test_a_title_ends_no_sentence() -> None:
    """Dr. Silva is not cut in two."""
    text = "The harbour master is Dr. Silva. " * 8
    assert all(passage.endswith("Silva.") for passage in split(text, 90))


def test_the_line_above_a_piece_is_short() -> None:
    """It holds the last heading, whatever must go; nothing is said twice."""
    assert under((), Piece("text")).text == "text"
    assert under(("Ports",), Piece("# Ports\n\ntext")).text == "# Ports\n\ntext"
    assert under(("Ports",), Piece("text", ("Ports", "Horta"))).text == "Ports › Horta\n\ntext"
    long = under(("t" * 150,), Piece("text", ("a" * 150, "Horta"))).text
    assert len(long.split("\n")[0]) <= 160
    assert long.split("\n")[0].endswith("Horta")


@pytest.mark.parametrize("text", ["", "\n\n  \n", "\r\n\r\n"])
def test_nothing_has_no_passages(text: str) -> None:
    """White space says nothing."""
    assert split(text) == []


@given(st.text(alphabet=st.sampled_from("ab# .\n\r\t中")), st.integers(10, 60))
def test_every_word_is_in_one_passage(text: str, limit: int) -> None:
    """Cutting loses only white space, and keeps to the limit."""
    passages = split(text, limit)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(0 < len(passage) <= limit for passage in passages)
