"""The conversation of the demo is the same everywhere and says nothing twice."""

from itertools import pairwise

from pagemind.runtime.demo.phrases import PLANTED, QUESTIONS
from pagemind.runtime.demo.talk import EXCHANGES, talk


def test_the_talk_is_in_order_and_unique() -> None:
    """300 exchanges forward in time; 600 texts, no two alike, no blank left open."""
    exchanges = talk()
    assert [each.number for each in exchanges] == list(range(1, EXCHANGES + 1))
    assert all(a.at < b.at for a, b in pairwise(exchanges))
    texts = [text for each in exchanges for text in (each.said, each.reply)]
    assert len(set(texts)) == 600
    assert not any("{" in text or "}" in text for text in texts)


def test_every_prepared_question_has_one_answer() -> None:
    """What it asks for was said once, where it was planted."""
    for question, answer in QUESTIONS:
        holding = [each.number for each in talk() if answer in each.said]
        assert len(holding) == 1, question
        assert holding[0] in PLANTED
