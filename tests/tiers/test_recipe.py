"""What of a text is indexed, and how it is cut."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.tiers.recipe import chunks, grams_text, identifiers, line_text
from pagemind.runtime.tiers.word_pieces import estimate


@given(st.text(max_size=3000), st.integers(2, 60))
def test_chunks_lose_nothing_but_white_space(text: str, limit: int) -> None:
    """Every other character is in exactly one chunk, in order."""
    pieces = chunks(text, limit)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(st.text(max_size=3000), st.integers(2, 60))
def test_a_chunk_is_within_its_limit(text: str, limit: int) -> None:
    """By the estimate, which is at least one token for each character beyond ASCII."""
    assert all(estimate(piece) <= limit for piece in chunks(text, limit))


def test_a_cut_falls_between_paragraphs_where_it_can() -> None:
    """Paragraphs that fit are never torn apart."""
    text = "\n\n".join(f"Paragraph {i} says one thing. It says it twice." for i in range(40))
    assert all(piece.startswith("Paragraph") for piece in chunks(text))


def test_a_long_word_without_a_single_space_is_cut_all_the_same() -> None:
    """No text is too awkward."""
    assert len(chunks("x" * 10_000, 100)) > 20


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ticket ABC-1234 is open", ["ABC-1234"]),
        ("see notes.txt, report_final.pdf.", ["notes.txt", "report_final.pdf"]),
        ("write to ada@example.org!", ["ada@example.org"]),
        ("call +351 912-345-678", ["912-345-678"]),
        ("at 14:00, the 8th, 10km, and/or well-known e.g. 2026", []),
        ("look in /usr/share and snake_case", ["/usr/share", "snake_case"]),
        ("東京 v1.2.3", ["v1.2.3"]),
    ],
)
def test_identifiers_are_told_from_words(text: str, expected: list[str]) -> None:
    """Codes, files and addresses are; times, measures and plain numbers are not."""
    assert identifiers(text) == expected


def test_plain_english_has_no_n_grams() -> None:
    """The third field costs nothing where words do."""
    assert grams_text("We sailed to the island on Friday.") == ""
    assert grams_text("昨日、東京タワーに行った file.py") == "昨日 東京タワーに行った file.py"


def test_the_line_carries_the_date_of_the_agents_zone() -> None:
    """An evening in Lisbon is not yet the next day in UTC's sense, and the other way round."""
    late = datetime(2026, 5, 8, 23, 30, tzinfo=UTC)
    line = line_text(late, ZoneInfo("Europe/Lisbon"), "Sam", "hello")
    assert line == "2026-05-09 Saturday 9 May 2026 Sam: hello"
