"""The loaders of public data read their format and say what is wrong with another; own samples."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from bench_kit import benchmark

corpus = benchmark("corpus")
loaders = benchmark("loaders")
locomo = benchmark("locomo")


def written(folder: Path, value: Any, name: str = "data.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def talk(*texts: str, session: int = 1) -> list[dict[str, Any]]:
    return [
        {"speaker": ("Ana", "Bo")[i % 2], "dia_id": f"D{session}:{i + 1}", "text": text}
        for i, text in enumerate(texts)
    ]


def locomo_sample(**changed: Any) -> dict[str, Any]:
    first = talk("My boat is Nomad.", "Nice!")
    first[0]["blip_caption"] = "a boat at a pier"
    sample = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_2_date_time": "12:05 am on 1 June, 2025",
            "session_2": talk("Nomad sank.", session=2),
            "session_1_date_time": "1:56 pm on 8 May, 2025",
            "session_1": first,
            "session_3_date_time": "1:00 pm on 2 June, 2025",  # dated, and without talk
        },
        "qa": [
            {"question": "Which boat?", "answer": 7, "evidence": ["D1:1; D2:1"], "category": 1},
            {"question": "Why?", "adversarial_answer": "no", "evidence": ["D1:2"], "category": 5},
        ],
    }
    return {**sample, **changed}


def lme_entry(**changed: Any) -> dict[str, Any]:
    entry = {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "What did I plant?",
        "answer": "a pear tree",
        "question_date": "2025/06/20 (Fri) 02:21",
        "haystack_session_ids": ["late", "early"],
        "haystack_dates": ["2025/06/01 (Sun) 10:00", "2025/05/20 (Tue) 22:10"],
        "haystack_sessions": [
            [{"role": "user", "content": "I planted a pear tree.", "has_answer": True}],
            [
                {"role": "user", "content": "Hello."},
                {"role": "assistant", "content": " "},
                {"role": "assistant", "content": "Good evening."},
            ],
        ],
        "answer_session_ids": ["late"],
    }
    return {**entry, **changed}


def msc_row(**changed: Any) -> dict[str, Any]:
    row = {
        "previous_dialogs": [
            {
                "dialog": [{"text": "I keep bees."}, {"text": "Oh!"}],
                "time_back": "14 days 2 hours ago",
            },
            {"dialog": [{"text": "The bees like lavender honey."}], "time_back": "3 days ago"},
        ],
        "dialog": [{"id": "Speaker 1", "text": "Hi again."}],
        "self_instruct": {"B": "What do the bees like?", "A": "Lavender honey!"},
    }
    return {**row, **changed}


def test_locomo_sessions_come_in_order_with_their_dates_and_captions(tmp_path: Path) -> None:
    """Sessions without talk are none."""
    (conversation,) = loaders.load(written(tmp_path, [locomo_sample()])).conversations
    assert [turn.id for turn in conversation.turns] == ["D1:1", "D1:2", "D2:1"]
    assert conversation.turns[0].text == "My boat is Nomad. [a boat at a pier]"
    assert conversation.turns[0].at == datetime(2025, 5, 8, 13, 56, tzinfo=UTC)
    assert conversation.turns[2].at == datetime(2025, 6, 1, 0, 5, tzinfo=UTC)


def test_locomo_categories_have_the_names_of_the_paper(tmp_path: Path) -> None:
    """1 is multi-hop and 4 single-hop, whatever others print; the first four are the headline."""
    found = loaders.load(written(tmp_path, [locomo_sample()]))
    assert [q.kind for q in found.conversations[0].questions] == ["multi-hop", "adversarial"]
    assert found.main == ("multi-hop", "temporal", "open-domain", "single-hop")
    assert found.conversations[0].questions[0].gold == "7"


@pytest.mark.parametrize(
    ("entries", "meant"),
    [
        (["D8:6; D9:17"], ("D8:6", "D9:17")),
        (["D9:1 D4:4 D4:6"], ("D9:1", "D4:4", "D4:6")),
        (["D:11:26"], ("D11:26",)),
        (["D30:05"], ("D30:5",)),
        (["D"], ()),
        (["D8:6", "D8:6"], ("D8:6",)),
        (["D99:1"], ()),
    ],
)
def test_malformed_evidence_is_repaired(entries: list[str], meant: tuple[str, ...]) -> None:
    """The nine flaws of the data; what means no turn is dropped and told."""
    known = {"D8:6", "D9:17", "D9:1", "D4:4", "D4:6", "D11:26", "D30:5"}
    found, strange = locomo.repaired(entries, known)
    assert found == meant
    assert bool(strange) == (not meant)


def test_longmemeval_has_evidence_by_turn_and_by_session(tmp_path: Path) -> None:
    """Sessions are put in order, blank turns are none, the question is asked on its date."""
    (conversation,) = loaders.load(written(tmp_path, [lme_entry()])).conversations
    assert conversation.turns[0].text == "Hello."
    assert [turn.id for turn in conversation.turns] == ["1:1", "1:3", "2:1"]
    (question,) = conversation.questions
    assert (question.evidence, question.sessions) == (("2:1",), (2,))
    assert question.as_of == datetime(2025, 6, 20, 2, 21, tzinfo=UTC)


def test_a_longmemeval_abstention_is_not_scored(tmp_path: Path) -> None:
    """There is nothing to find."""
    found = loaders.load(written(tmp_path, [lme_entry(question_id="q1_abs")]))
    assert found.conversations[0].questions[0].evidence == ()
    assert found.notes == {"not_scored": 1}


def test_msc_evidence_is_the_turn_with_the_telling_words(tmp_path: Path) -> None:
    """One is enough; sessions are dated by how long ago they were."""
    lines = "\n".join(json.dumps(each) for each in (msc_row(), msc_row()))
    found = loaders.load(written(tmp_path, lines, "msc.jsonl"))
    assert len(found.conversations) == 2
    (question,) = found.conversations[0].questions
    assert question.evidence == ("2:1",)
    assert question.one_is_enough
    turns = found.conversations[0].turns
    assert [turn.speaker for turn in turns] == ["Speaker 1", "Speaker 2", "Speaker 1", "Speaker 1"]
    assert (turns[3].at - turns[2].at).days == 3


def test_msc_counts_the_questions_it_cannot_score(tmp_path: Path) -> None:
    """An answer that stands in no turn has no evidence."""
    row = msc_row(self_instruct={"B": "What do you play?", "A": "The oboe."})
    found = loaders.load(written(tmp_path, json.dumps(row)))
    assert found.conversations[0].questions[0].evidence == ()
    assert found.notes == {"not_scored": 1}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([{"name": "x"}], "none of the formats"),
        ("not json at all", "none of the formats"),
        ('[{"sample_id": 1,', "expected LoCoMo"),
        ([locomo_sample(), locomo_sample(qa=[{}])], "expected LoCoMo.* broke at sample 2"),
        ([locomo_sample(conversation={"session_1": []})], "broke at sample 1.*session_1_date_time"),
        ([lme_entry(haystack_dates=["2025-01-01"])], "expected LongMemEval.* broke at entry 1"),
        ([lme_entry(haystack_sessions=[[], []])], "no turns in haystack_sessions"),
        (json.dumps(msc_row()) + '\n{"self_instruct": {}}', "expected MSC.* broke at line 2"),
    ],
)
def test_a_wrong_file_says_what_was_expected_and_where_it_broke(
    tmp_path: Path, value: Any, said: str
) -> None:
    """One line, for the person."""
    with pytest.raises(corpus.WrongFile, match=said) as caught:
        loaders.load(written(tmp_path, value))
    assert "\n" not in str(caught.value)


def test_a_format_can_be_named(tmp_path: Path) -> None:
    """Then the file is read as that, and refused as that."""
    path = written(tmp_path, [lme_entry()])
    assert loaders.load(path, "longmemeval").name == "longmemeval"
    with pytest.raises(corpus.WrongFile, match="expected LoCoMo"):
        loaders.load(path, "locomo")


def test_a_file_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    """Not a traceback."""
    with pytest.raises(corpus.WrongFile, match="not readable"):
        loaders.load(tmp_path / "absent.json")
