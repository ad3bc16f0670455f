"""The synthetic life is the same everywhere, and what is true in it is known."""

from collections import Counter
from typing import Any

import pytest
from bench_kit import benchmark

synth_life = benchmark("synth_life")
weave = benchmark("synth_life_weave")


@pytest.fixture(scope="module", params=[1, 2, 3])
def life(request: pytest.FixtureRequest) -> Any:
    return weave.live(request.param)


def test_a_seed_gives_the_same_life_with_every_version(life: Any) -> None:
    """The hashes are pinned: figures of two machines are of the same life."""
    assert synth_life.sha256(life) == synth_life.SHA256[life.seed]


def test_every_sentence_stands_in_its_turn_and_means_one_fact(life: Any) -> None:
    """No sentence tells two facts, so that a judge who knows the sentence knows the fact."""
    told = {each.id: each for each in life.told}
    for turn in life.turns:
        assert all(told[id].text in turn.text for id in turn.told)
        assert all(told[id].speaker == turn.speaker for id in turn.told)
    facts: dict[str, set[Any]] = {}
    for each in life.told:
        facts.setdefault(each.text, set()).add(each.fact)
    assert {len(each) for each in facts.values()} == {1}


def test_days_follow_each_other_and_are_mostly_chatter(life: Any) -> None:
    """More than half of what is said is worth nothing."""
    times = [turn.at for turn in life.turns]
    assert times == sorted(times)
    assert [turn.number for turn in life.turns] == list(range(1, len(times) + 1))
    kinds = Counter(turn.kind for turn in life.turns)
    assert kinds["junk"] > len(times) / 2
    assert set(kinds) == {"fact", "forget", "ask", "junk"}


def test_a_fact_ends_only_an_earlier_one_of_the_same_subject_and_relation(life: Any) -> None:
    """And only where one value at a time is true."""
    told = {each.id: each for each in life.told}
    back = 0
    for each in life.told:
        if each.supersedes:
            before = told[each.supersedes]
            assert each.single
            assert before.slot == each.slot
            assert before.object != each.object
            assert before.valid_from < each.valid_from <= each.said_at
            back += bool(before.supersedes and told[before.supersedes].object == each.object)
        if each.same_as:
            assert told[each.same_as].fact == each.fact
            assert told[each.same_as].said_at < each.said_at
    assert back >= 8


def test_a_fact_is_told_again_only_while_it_is_true(life: Any) -> None:
    """The value of the last telling of a slot is the current one."""
    current: dict[Any, str] = {}
    for each in life.told:
        if each.same_as and each.single:
            assert current[each.slot] == each.object
        elif each.single and not each.contested:
            current[each.slot] = each.object
    now = life.now()
    for slot, value in current.items():
        assert now[(*slot, value)]


def test_what_changed_is_asked_for_in_words_of_its_own(life: Any) -> None:
    """Each kind of question is there, and answers and stale values never meet."""
    kinds = Counter(each.kind for each in life.asked)
    assert set(kinds) == {"current", "stable", "history", "as-of", "several", "forgotten"}
    assert kinds["current"] >= 150
    assert kinds["history"] == kinds["current"]
    assert kinds["forgotten"] == 30
    for each in life.asked:
        assert not set(each.gold) & set(each.stale)
        assert not any(value in each.text for value in (*each.gold, *each.stale)) or (
            each.kind == "forgotten"
        )


def test_a_short_life_has_every_kind() -> None:
    """What the suite lets an agent live through."""
    short = weave.live(1, days=6, turns=10)
    assert len(short.turns) <= 80
    assert {turn.kind for turn in short.turns} == {"fact", "forget", "ask", "junk"}
    assert any(each.same_as for each in short.told)
    assert any(each.supersedes for each in short.told)
    assert any(each.contested for each in short.told)
