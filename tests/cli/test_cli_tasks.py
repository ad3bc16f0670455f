"""Tasks on the command line: exit codes, what is printed where, and the ledger's commands."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_kit import Cli

from pagemind.runtime.tasks.opening import lock_of

TASK = """
agent: {definition: ./plain.yaml, model: scripted/echo}
inputs: {lines: in.txt}
do: [{say: "Take {{ input }}", save: out.jsonl}]
"""


@pytest.fixture
def task(cli: Cli) -> Path:
    (cli.home / "in.txt").write_text("one\ntwo\n", encoding="utf-8")
    path = cli.home / "facts.yaml"
    path.write_text(TASK, encoding="utf-8")
    return path


def test_a_run_in_a_pipe(cli: Cli, task: Path) -> None:
    """Plain lines, the outputs and the report."""
    ran = cli("run", str(task))
    assert ran.code == 0, ran.err
    assert "done    in.txt:1\n" in ran.out
    assert "facts: done. 2 inputs done" in ran.out
    assert "report.md" in ran.out


def test_json_is_a_line_an_event(cli: Cli, task: Path) -> None:
    """The last one is the contract's."""
    lines = [json.loads(line) for line in cli("run", str(task), "--json").out.splitlines()]
    assert all(line["schema"] == 1 for line in lines)
    assert lines[0]["event"] == "task_started"
    last = lines[-1]
    assert (last["task"], last["status"]) == ("facts", "done")
    assert last["actions"] == {"done": 4, "failed": 0, "skipped": 0}
    assert Path(last["report"]).exists()


def test_a_dry_run_does_nothing(cli: Cli, task: Path) -> None:
    """It says what would be done, and leaves no trace."""
    ran = cli("run", str(task), "--dry-run", "--json")
    assert ran.json["inputs"] == 2
    assert ran.json["turns"] == 2
    assert ran.json["prompt_tokens"] > 0
    assert cli("tasks", "list", "--json").json["total"] == 0
    assert not (cli.home / "out.jsonl").exists()


def test_faults_of_a_file_are_told_with_their_lines(cli: Cli, task: Path) -> None:
    """All at once, before anything runs."""
    task.write_text(TASK.replace("input }}", "inptu }}") + "at_end: [{save: x}]\n")
    ran = cli("run", str(task))
    assert ran.code == 1
    assert "facts.yaml:4: do.1.say: no variable is called 'inptu'; did you mean 'input'?" in ran.err
    assert "facts.yaml:5: at_end.1.save: there is no reply yet" in ran.err
    assert cli("tasks", "list", "--json").json["total"] == 0


@contextmanager
def running_elsewhere(cli: Cli) -> Iterator[threading.Event]:
    """As if another process ran the task until the event is set."""
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        lock = lock_of(cli.home / "tasks", "facts")
        lock.acquire(0)
        held.set()
        over.wait(60)
        lock.release()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    yield over
    thread.join()


def test_a_task_that_runs_is_not_run_again(cli: Cli, task: Path) -> None:
    """A second run is refused with the code of what is in use, or waits."""
    with running_elsewhere(cli) as over:
        ran = cli("run", str(task))
        assert ran.code == 75
        assert "task 'facts' is in use by another process" in ran.err
        threading.Timer(0.3, over.set).start()
        assert cli("run", str(task), "--wait", "60").code == 0


def test_a_task_that_runs_can_be_joined(cli: Cli, task: Path) -> None:
    """What the other process tells is seen to its end; a file that was changed since is not what
    runs. Where nothing runs, --join changes nothing."""
    assert cli("run", str(task), "--join").code == 0
    with running_elsewhere(cli) as over:
        threading.Timer(0.3, over.set).start()
        ran = cli("run", str(task), "--join")
        assert (ran.code, ran.out.count("done    in.txt")) == (0, 2)
        assert "facts: done. 2 inputs done" in ran.out
    with running_elsewhere(cli) as over:
        task.write_text(task.read_text(encoding="utf-8") + "vars: {x: 1}\n", encoding="utf-8")
        ran = cli("run", str(task), "--join")
        assert (ran.code, over.set()) == (1, None)
        assert "has changed since facts was begun" in ran.err


def test_the_ledger_is_shown(cli: Cli, task: Path) -> None:
    """list, show and logs; cancel and resume where they apply."""
    cli("run", str(task))
    (item,) = cli("tasks", "list", "--json").json["items"]
    assert (item["task"], item["status"], item["inputs"]["done"]) == ("facts", "done", 2)
    assert "facts" in cli("tasks", "list").out
    assert "| say | do.1 | 2 | 0 |" in cli("tasks", "show", "facts").out
    logs = cli("tasks", "logs", "facts", "--last", "1")
    assert "task_ended status=done" in logs.out
    assert cli("tasks", "cancel", "facts").code == 1
    assert cli("tasks", "resume", "facts").code == 0
    missing = cli("tasks", "show", "fact")
    assert missing.code == 1
    assert "tasks: facts" in missing.err


def test_send_with_a_schema(cli: Cli) -> None:
    """The value alone is printed; where no answer fits, the exit code says so."""
    cli.ada()
    schema = cli.home / "schema.json"
    schema.write_text('{"type": "object"}', encoding="utf-8")
    ran = cli("send", "ada", "Give me a word", "--schema", str(schema))
    # The echoing model says the schema itself back, which is an object.
    assert (ran.code, json.loads(ran.out)) == (0, {"type": "object"})
    schema.write_text('{"type": "array", "minItems": 9}', encoding="utf-8")
    ran = cli("send", "ada", "Give me nine", "--schema", str(schema))
    assert ran.code == 4
    assert "no answer fits the schema" in ran.err
    schema.write_text('{"type": 7}', encoding="utf-8")
    assert "no JSON schema" in cli("send", "ada", "x", "--schema", str(schema)).err


def test_tasks_inside_a_task_are_listed_under_it(cli: Cli, task: Path) -> None:
    """With their names there; they are shown by their own, and go on with the one around them."""
    (cli.home / "inner.yaml").write_text(TASK.replace("facts", "inner"), encoding="utf-8")
    (cli.home / "outer.yaml").write_text(
        "agent: {definition: ./plain.yaml, model: scripted/echo}\n"
        "inputs: {lines: in.txt}\ndo: [{sub: inner.yaml}]\n",
        encoding="utf-8",
    )
    ran = cli("run", str(cli.home / "outer.yaml"))
    assert ran.code == 0, ran.err
    lines = cli("tasks", "list").out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [
        *(["outer", "done"], ["do.1/1", "done"], ["do.1/2", "done"])
    ]
    items = cli("tasks", "list", "--json").json["items"]
    assert [item["parent"] for item in items] == [None, "outer", "outer"]
    assert "# outer/do.1/2: done" in cli("tasks", "show", "outer/do.1/2").out
    assert "outer: done" in cli("tasks", "resume", "outer/do.1/2").out
