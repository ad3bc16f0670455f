"""Checks that have a name say what does not hold, and the model is told."""

import sys
from typing import Any

import pytest
from task_kit import Bench

from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.tasks.checks import why_not
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.testing import ScriptedModel

LINES = "inputs: {lines: in.txt}\n"


@pytest.mark.parametrize(
    ("check", "good", "bad", "why"),
    [
        ("not_empty", ["x", " 0\n"], " \n", "it is empty"),
        ("json", ["[]", 'So: {"a": 1}', "```json\n3\n```"], "no", "it holds no JSON"),
        ("number", ["7", "-0.5", "1,200.", "**3e8**", "+1\n"], "7 of 9", "it is no number: '7 of"),
        ({"number": True}, [".5"], "1,20", "no number"),
        ({"number": {"at_least": 0, "at_most": 10}}, ["0", "10.0"], "11", "it is 11: more than 10"),
        ({"number": {"at_least": 1}}, ["1"], "-3", "less than 1"),
        ({"one_of": ["yes", "No way"]}, ["Yes.", ' "no way" '], "maybe", "not one of: yes, No way"),
        ({"max_words": 3}, ["", "a b c"], "a b c d", "it has 4 words; at most 3 are allowed"),
        ({"min_words": 2}, ["a b"], "a", "it has 1 words; at least 2 are wanted"),
        ({"max_characters": 3}, [" abc\n"], "abcd", "it has 4 characters"),
    ],
)
def test_what_holds(check: Any, good: list[str], bad: str, why: str) -> None:
    """Each has texts that will do and one that will not."""
    wanted = Action.model_validate({"expect": check}).expect
    assert wanted is not None
    assert [why_not(wanted, text, None) for text in good] == [""] * len(good)
    assert why in why_not(wanted, bad, None)


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ("not_emty", "is no check that its name alone can say: not_empty, json, number"),
        ("{not_empty: false}", "must be true, or left out"),
        ("{max_word: 3}", "did you mean 'max_words'?"),
        ("{min_words: 3, max_words: 2}", "no text is such"),
        ("{number: {at_least: 3, at_most: 2}}", "no number is such"),
        ("{check: polite}", "write it like mypackage.checks:is_polite"),
        ("{check: 'nowhere.at.all:polite'}", "nowhere.at.all cannot be imported"),
        ("{check: 'json:polite'}", "json has no function 'polite'"),
    ],
)
def test_a_check_that_is_none(bench: Bench, check: str, says: str) -> None:
    """It is told with its line, before anything runs."""
    with pytest.raises(DefinitionError) as told:
        bench.run(f"do:\n  - say: hi\n    expect: {check}\n")
    assert says in told.value.message
    assert "task.yaml:4: do.1.expect" in told.value.message
    assert not bench.model.requests


def test_the_model_is_told(bench: Bench) -> None:
    """With retry it hears in words what did not hold."""
    bench.model = ScriptedModel(["far too many words", "short"])
    report = bench.run("on_error: retry\ndo: [{say: hi, expect: {max_words: 2}}]\n")
    assert report.row.status == "done"
    assert "it has 4 words; at most 2 are allowed" in bench.said()[1]


def test_a_function_of_ones_own(bench: Bench) -> None:
    """It lies beside the task file; what it says is told; what it raises fails the action."""
    bench.file(
        "house_rules.py",
        "def polite(text):\n"
        "    if 'boom' in text:\n        raise ZeroDivisionError('no')\n"
        "    return 'please' in text or f'{text} is rude'\n"
        "def short(text):\n    return len(text) < 20\n",
    )
    bench.model = ScriptedModel(["one", "please", "boom", "please 3"], after="please, a long one")
    try:
        report = bench.run(
            LINES
            + "do:\n  - say: '{{ input }}'\n    expect: house_rules:polite\n"
            + "    on_error: {do: retry, attempts: 2}\n"
            + "  - if: {check: 'house_rules:short'}\n    then: [{save: out.jsonl}]\n"
        )
    finally:
        sys.modules.pop("house_rules", None)
    assert report.row.status == "done", report.failures
    assert "one is rude" in bench.said()[1]
    assert [row["reply"] for row in bench.rows()] == ["please", "please 3", "please, a long one"]
