"""Lexical scores without an index."""

from pagemind.runtime.tiers.lexical import coverage, grams, rarity, stem, terms


def test_forms_of_a_word_share_a_stem() -> None:
    """As they do in the index, near enough."""
    for words in (
        ("boat", "boats"),
        ("sail", "sailing", "sailed", "sails"),
        ("run", "running", "runs"),
        ("city", "cities"),
        ("plan", "planned", "planning"),
        ("move", "moved", "moving", "moves"),
    ):
        assert len({stem(word) for word in words}) == 1, words


def test_words_that_only_look_like_forms_are_left_alone() -> None:
    """A bus is no plural, a king no gerund."""
    assert [stem(word) for word in ("bus", "this", "king", "red", "glass")] == [
        *("bus", "this", "king", "red", "glass")
    ]


def test_terms_are_folded_and_without_stop_words() -> None:
    """Accents and case do not matter; small words do not count."""
    assert terms("The Café of ADA_Lovelace!") == ["caf", "ada", "lovelac"]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    """Covering it counts for more of the query."""
    texts = [{"boat", "red"}, {"boat"}, {"boat"}, {"boat"}]
    weights = rarity({"boat", "red"}, texts, 100)
    assert coverage(weights, ["red"]) > 0.5 > coverage(weights, ["boat"]) > 0
    assert coverage(weights, ["boat", "red"]) == 1
    assert coverage({}, ["boat"]) == 0


def test_grams_are_of_what_words_cannot_find() -> None:
    """Characters of spaceless scripts and of identifiers."""
    assert grams("plain words") == set()
    assert {"京", "東京", "東京タ", "a-1"} <= grams("東京タワー AA-12")
