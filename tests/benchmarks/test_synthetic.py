"""The synthetic set is the same everywhere, and holds what it says."""

import re
from collections import Counter
from typing import Any

import pytest
from bench_kit import benchmark

synthetic = benchmark("synthetic")
chat_words = benchmark("synth_chat_words")
log_words = benchmark("synth_log_words")
WORD = re.compile(r"[^\W_]{3,}")
# What English cannot do without: sharing it is not sharing a thing.
EMPTY = frozenset(
    "a after all and any are as at before but by came did does down find for from get gets got had"
    " has have how into is it its long many much my not of off on one or out over she that the "
    "there"
    " they this to two under up was went what when where which who whose why will with".split()
)


@pytest.fixture(scope="module", params=[1, 2, 3])
def corpus(request: pytest.FixtureRequest) -> Any:
    return synthetic.synthetic(request.param)


def test_a_seed_gives_the_same_set_with_every_version(corpus: Any) -> None:
    """The hashes are pinned: figures of two machines are of the same data."""
    assert synthetic.sha256(corpus) == synthetic.SHA256[corpus.notes["seed"]]


def test_a_seed_is_at_most_two_megabytes(corpus: Any) -> None:
    """It can be written and sent."""
    assert sum(len(line.encode()) + 1 for line in synthetic.lines(corpus)) <= 2_000_000


def test_sessions_have_25_turns_in_order_of_time(corpus: Any) -> None:
    """5,000 turns of chat and half as many of log, each with its id."""
    for conversation, turns in zip(corpus.conversations, (5000, 2500), strict=True):
        assert len(conversation.turns) == turns
        assert len({turn.id for turn in conversation.turns}) == turns
        assert set(Counter(turn.session for turn in conversation.turns).values()) == {25}
        times = [turn.at for turn in conversation.turns]
        assert times == sorted(times)
        assert {turn.role for turn in conversation.turns} == {"user", "assistant"}


def test_every_kind_is_there_in_both_splits(corpus: Any) -> None:
    """A third of each kind is held out."""
    rare = {"3-hop", "injection", "code", "weeks-before", "long-turn", "list"}
    for held_out in (False, True):
        part = synthetic.split(corpus, held_out=held_out)
        kinds = Counter(q.kind for each in part.conversations for q in each.questions)
        assert set(synthetic.KINDS) <= kinds.keys()
        assert {"forget", "never-stated"} <= kinds.keys()
        assert all(number >= 2 for kind, number in kinds.items() if kind not in rare)


def test_evidence_is_there_and_holds_the_answer(corpus: Any) -> None:
    """Every id is that of a turn; one of the lines says the gold value."""
    for conversation in corpus.conversations:
        text = {turn.id: turn.text for turn in conversation.turns}
        for question in conversation.questions:
            assert set(question.evidence) | set(question.stale) <= text.keys()
            if question.kind in ("single", "reply", "update", "2-hop", "long-turn"):
                said = " ".join(text[each] for each in question.evidence).lower()
                assert question.gold.lower() in said


def test_a_paraphrase_shares_no_telling_word_with_its_evidence(corpus: Any) -> None:
    """Only meaning leads there; names are no help, since filler has them too."""
    for conversation in corpus.conversations:
        text = {turn.id: turn.text for turn in conversation.turns}
        names = {*chat_words.SPEAKERS, *chat_words.PEOPLE, *log_words.SERVICES}
        known = {stem(word.lower()) for name in names for word in WORD.findall(name)}
        for question in conversation.questions:
            if question.kind == "paraphrase":
                asked = {stem(word) for word in WORD.findall(question.text.lower())} - known
                (evidence,) = question.evidence
                said = {stem(word) for word in WORD.findall(text[evidence].lower())} - known
                assert not (asked & said) - {stem(word) for word in EMPTY}, question.text


def stem(word: str) -> str:
    return word.rstrip("s")[:6]


def test_what_replaces_something_was_said_after_it(corpus: Any) -> None:
    """And what is asked in mid-run is asked between the two."""
    for conversation in corpus.conversations:
        at = {turn.id: turn.at for turn in conversation.turns}
        for question in conversation.questions:
            if question.kind == "update":
                assert max(at[each] for each in question.stale) < at[question.evidence[0]]
            if question.as_of is not None:
                assert at[question.evidence[0]] < question.as_of < max(at.values())


def test_filler_uses_names_and_things_of_the_facts_from_200_templates(corpus: Any) -> None:
    """What is hard to find is hidden among its like."""
    chat = [*chat_words.CHATTER, *chat_words.VOCATIVES, *chat_words.ASSISTANT]
    chat += [text for each in chat_words.ATTRIBUTES for text in each.chat]
    log = [*log_words.CHATTER, *(text for each in log_words.SETTINGS for text in each.chat)]
    assert len(set(chat)) >= 200
    assert len(set(chat + log)) >= 280
    turns = corpus.conversations[0].turns
    for name in {turn.speaker for turn in turns} - {"assistant"}:
        assert sum(name in turn.text for turn in turns) > 100
    for attribute in chat_words.ATTRIBUTES:
        topic = attribute.topic.split()[-1]
        assert sum(topic in turn.text.lower() for turn in turns) > 40, topic


def test_log_facts_stand_in_questions_and_in_short_lines_too(corpus: Any) -> None:
    """What holds in chats (a question states nothing, long lines say more) does not hold here."""
    log = corpus.conversations[1]
    text = {turn.id: turn.text for turn in log.turns}
    facts = [text[q.evidence[0]] for q in log.questions if q.kind == "single"]
    assert sum(fact.endswith("?") for fact in facts) >= 5
    assert sum(len(fact.split()) <= 4 for fact in facts) >= 5
    assert not any(q.text.endswith("?") for q in log.questions if q.kind == "single")
