"""A task asks the person at its terminal, or waits until somebody answers."""

import sys
from pathlib import Path

import pytest
from cli_kit import Cli, clean_environ

if sys.platform == "win32":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)

from pty_kit import CTRL_C, Terminal

CODE = "import sys; from pagemind.runtime.cli.app import main; sys.exit(main(sys.argv[1:]))"
TASK = """
agent: {definition: ./plain.yaml, model: scripted/echo}
inputs: {lines: in.txt}
on_error: ask
do: [{say: "{{ input }}", expect: {lacks: bad}, save: out.jsonl}]
"""


@pytest.fixture
def task(cli: Cli) -> Path:
    (cli.home / "in.txt").write_text("good\nbad\nfair\n", encoding="utf-8")
    path = cli.home / "strict.yaml"
    path.write_text(TASK, encoding="utf-8")
    return path


def terminal(cli: Cli, task: Path) -> Terminal:
    return Terminal(CODE, ["run", str(task)], clean_environ(cli.home), columns=100)


def test_asked_at_a_terminal(cli: Cli, task: Path) -> None:
    """The question stands alone, a word is the answer, and the task goes on."""
    with terminal(cli, task) as shown:
        shown.expect("? in.txt:2: do.1 failed: it contains 'bad'")
        shown.expect("retry, skip or stop:")
        shown.line("skip")
        shown.expect("strict: partial. 2 inputs done, 1 failed")
        assert shown.finish() == 3
        after = shown.raw.partition("retry, skip or stop:")[2]
        assert "\x1b[1A" not in after.partition(" of 3")[0]  # the question stays where it stands


def test_ctrl_c_at_a_question(cli: Cli, task: Path) -> None:
    """It ends the task at once; the next run goes on."""
    with terminal(cli, task) as shown:
        shown.expect("retry, skip or stop:")
        shown.send(CTRL_C)
        shown.expect("strict: cancelled")
        assert shown.finish() == 130
    assert cli("tasks", "show", "strict", "--json").json["inputs"]["done"] == 1


def test_answered_later(cli: Cli, task: Path) -> None:
    """Nobody is there: what waits is shown with its choices, and answered for the next run."""
    ran = cli("run", str(task))
    assert ran.code == 3
    assert "waits: in.txt:2: do.1 failed: it contains 'bad' (retry, skip, stop)" in ran.out
    assert "pagemind tasks answer strict" in ran.err
    assert "in.txt:2: do.1 failed" in cli("tasks", "answer", "strict").out
    wrong = cli("tasks", "answer", "strict", "redo")
    assert wrong.code == 1
    assert "answers: retry, skip, stop" in wrong.err
    assert cli("tasks", "answer", "strict", "skip", "--input", "in.txt:9").code == 1
    assert "answered 1 question" in cli("tasks", "answer", "strict", "skip").out
    assert "→ skip" in cli("tasks", "answer", "strict").out
    resumed = cli("tasks", "resume", "strict")
    assert "failed  in.txt:2" in resumed.out
    assert "asks nothing" in cli("tasks", "answer", "strict").out
