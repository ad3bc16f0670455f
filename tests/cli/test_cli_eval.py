"""`pagemind eval`: what it prints, its exit codes, and that docs/eval.md shows a real run."""

import re
import shlex
from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "eval.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    (only,) = found
    return only


def cases(cli: Cli, text: str) -> str:
    path = cli.home / "cases.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def ada(cli: Cli) -> Cli:
    cli.ada("My boat is called Nomad.", "I am allergic to walnuts.")
    return cli


def test_the_page_shows_a_real_run(cli: Cli) -> None:
    """Its commands, its cases and its output, to the letter."""
    path = cases(cli, block("yaml"))
    commands, _, shown = block("console").partition("$ pagemind eval ada cases.yaml\n")
    for line in commands.splitlines():
        words = shlex.split(line.removeprefix("$ pagemind "))
        plain = ["-d", str(cli.definition)] if words[0] == "agents" else []
        assert cli(*words, *plain).code == 0
    ran = cli("eval", "ada", path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == shown


def test_every_key_of_a_case_is_on_the_page() -> None:
    """And no other is."""
    from pagemind.runtime.eval_cases import Case, EvalCases

    listed = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (file|case) \|", PAGE, re.MULTILINE)
    keys = {(key, of) for names, of in listed for key in re.findall(r"\w+", names)}
    files = {field.alias or name for name, field in EvalCases.model_fields.items()} - {"cases"}
    assert keys == {(k, "file") for k in files} | {(k, "case") for k in Case.model_fields}


def test_a_floor_that_is_not_reached_exits_with_4(ada: Cli) -> None:
    """Whether it stands in the file or on the command line, which wins; the answer is the same."""
    two = "- {question: the boat, expected: Nomad}\n- {question: the boat, expected: Zephyr}\n"
    path = cases(ada, f"floor: 0.9\ncases:\n{two}")
    ran = ada("eval", "ada", path)
    assert ran.code == 4
    assert ran.out.endswith("floor 90 %: not reached\n")
    ran = ada("eval", "ada", path, "--json")
    assert (ran.code, ran.json["passed"], ran.json["hit_rate"]) == (4, False, 0.5)
    assert ada("eval", "ada", path, "--floor", "0.5").code == 0


def test_a_broken_file_exits_with_1_and_names_every_line(ada: Cli) -> None:
    """With what to write instead."""
    path = cases(ada, "k: 0\ncases:\n- question: the boat\n- {question: x, expct: y}\n")
    ran = ada("eval", "ada", path)
    assert ran.code == 1
    assert ran.out == ""
    assert "cases.yaml:1: k: must be at least 1, not 0" in ran.err
    assert "cases.yaml:3: cases.0: says nothing of what is right: write `expected: TEXT`" in ran.err
    assert "did you mean 'expected'?" in ran.err
    missing = ada("eval", "ada", str(ada.home / "nothing.yaml"), "--json")
    assert (missing.code, missing.json["error"]["type"]) == (1, "NotFound")


def test_an_unknown_id_is_an_error_and_the_rest_is_judged(ada: Cli) -> None:
    """Exit code 1, the line of the id, and the other cases as always."""
    path = cases(
        ada, "cases:\n- {question: boat, expected: Nomad}\n- question: x\n  evidence: [m77, m1]\n"
    )
    ran = ada("eval", "ada", path)
    assert ran.code == 1
    assert "cases.yaml:4: there is no message m77 in agent ada" in ran.err
    assert "hit rate 100 % (1 of 1 case)" in ran.out


def test_misses_stand_first_and_80_columns_are_enough(
    ada: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal long questions are cut; nothing wraps."""
    long = "what is the name of the boat that I told you about " * 3
    path = cases(
        ada,
        f"cases:\n- {{question: {long}, expected: Nomad}}\n"
        f"- {{question: {long}, expected: [a text that nobody ever said to anybody]}}\n",
    )
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    out = re.sub(r"\x1b\[[0-9;]*m", "", ada("eval", "ada", path).out)
    results = [line.split()[1] for line in out.splitlines()[1:3]]
    assert results == ["miss", "hit"]
    assert max(map(len, out.splitlines())) <= 80


def test_the_bound_is_given_once(ada: Cli) -> None:
    """--max-tokens replaces the file's k; both on the command line are a mistake."""
    path = cases(ada, "k: 3\ncases:\n- {question: boat, expected: Nomad}\n")
    ran = ada("eval", "ada", path, "--max-tokens", "40", "--json")
    assert (ran.json["k"], ran.json["max_tokens"]) == (None, 40)
    assert ran.json["tokens_mean"] <= 40
    assert ada("eval", "ada", path, "--k", "1", "--max-tokens", "4").code == 2


def test_it_works_beside_a_running_agent_and_writes_nothing(ada: Cli) -> None:
    """What was said a moment ago is found; the agent's counts stay as they are."""
    path = cases(ada, "cases:\n- {question: the lighthouse, expected: Farol}\n")
    with Runtime(ada.home) as runtime:
        agent = runtime.agent("ada", model=ScriptedModel(["Nice."]))
        agent.send("The lighthouse is called Farol.")
        before = runtime.info("ada")
        assert ada("eval", "ada", path).code == 0
        after = runtime.info("ada")
        assert (before.messages, before.passages) == (after.messages, after.passages)
