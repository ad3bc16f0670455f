"""Scores of answers, computed by hand."""

import pytest
from bench_kit import benchmark

scores = benchmark("answer_scores")


@pytest.mark.parametrize(
    ("word", "stem"),
    {
        "caresses": "caress", "ponies": "poni", "agreed": "agre", "feed": "feed",
        "plastered": "plaster", "conflated": "conflat", "hopping": "hop", "failing": "fail",
        "filing": "file", "happy": "happi", "sky": "sky", "relational": "relat",
        "triplicate": "triplic", "hopeful": "hope", "allowance": "allow", "adoption": "adopt",
        "probate": "probat", "rate": "rate", "controll": "control", "roll": "roll",
        "generalizations": "gener", "oscillators": "oscil", "of": "of",
    }.items(),
)  # fmt: skip
def test_words_have_the_stems_of_porter(word: str, stem: str) -> None:
    """Examples of his paper."""
    assert scores.stem(word) == stem


def test_f1_counts_stems_without_articles_and_punctuation() -> None:
    """Two of three words right, and nothing that is wrong."""
    assert scores.f1("The hiking.", "hike") == 1.0
    assert scores.f1("blue dog", "a big blue dog") == pytest.approx(2 * 2 / 5)
    assert scores.f1("cat", "dog") == 0.0
    assert scores.f1("", "dog") == 0.0


def test_parts_of_a_multi_hop_answer_find_their_best_match() -> None:
    """In any order; a part that is missing counts as nothing."""
    assert scores.f1("painting, hikes", "hiking, painting", "multi-hop") == 1.0
    assert scores.f1("painting", "hiking, painting", "multi-hop") == 0.5


def test_an_open_answer_is_compared_with_what_stands_before_the_semicolon() -> None:
    """The rest of it is a reason."""
    assert scores.f1("yes", "yes; because of the dog", "open-domain") == 1.0


def test_an_adversarial_question_is_right_when_the_answer_is_said_to_be_missing() -> None:
    """Whatever the data gives as an answer."""
    assert scores.f1("That was not mentioned.", "", "adversarial") == 1.0
    assert scores.f1("Larkin", "", "adversarial") == 0.0


def test_bleu_1_punishes_short_and_wordy_answers() -> None:
    """Half of the words right; a word of four."""
    assert scores.bleu1("blue cat", "blue dog") == 0.5
    assert scores.bleu1("blue", "blue dog in rain") == pytest.approx(0.0498, abs=1e-3)
    assert scores.bleu1("", "blue") == 0.0
