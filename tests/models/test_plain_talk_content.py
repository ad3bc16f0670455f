"""The content words of a text: what it is about."""

import pytest

from pagemind.runtime.models.plain_talk import content


@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "Thank you so much",
        "OK",
        "👍",
        "",
        "what was it again?",
        "谢谢！",
        "Danke.",
        "はい",
    ],
)
def test_pleasantries_and_stop_words_have_none(text: str) -> None:
    """Also in other languages, and emoji alone."""
    assert not content(text)


def test_words_are_stems() -> None:
    """One form of a word finds the other."""
    assert content("My boats were painted.") == content("the boat, painting") == {"boat", "paint"}


def test_scripts_without_spaces_have_pairs_of_characters() -> None:
    """A question and its answer share some."""
    assert content("我的船叫什么名字？") & content("我的船叫游牧者。")
