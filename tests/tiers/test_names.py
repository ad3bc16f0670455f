"""Participants' names in a query."""

from pagemind.runtime.tiers.names import exactly, mentioned, without_names

SPEAKERS = ["Adeline", "Mel Ann Brown", "user", "Jo", "X"]


def test_names_are_found_whole_and_in_any_case() -> None:
    """A part of a longer name counts, a part of a word does not; roles are no names."""
    assert mentioned("what did adeline's cat eat", SPEAKERS) == ["Adeline"]
    assert mentioned("Where does Brown live?", SPEAKERS) == ["Mel Ann Brown"]
    assert mentioned("user adelines Josephine x", SPEAKERS) == []


def test_names_are_cut_unless_nothing_else_is_left() -> None:
    """With their 's; other people's names stay."""
    assert without_names("What is Adeline’s dog called?", SPEAKERS) == "What is dog called?"
    assert without_names("Adeline?", SPEAKERS) == "Adeline?"
    assert without_names("Does Rex know Jo?", SPEAKERS) == "Does Rex know ?"


def test_an_identifier_is_matched_as_a_whole() -> None:
    """ABC-12 is another one than ABC-123."""
    assert exactly("ABC-12").search("see abc-12.")
    assert not exactly("ABC-12").search("ABC-123, XABC-12, ABC-12-3")
