"""Inputs run together, each with an agent of its own, and all of it is there once."""

import threading
from collections import Counter
from pathlib import Path

import pytest
from task_kit import Bench

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import BadRequest, DefinitionError, UserError
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelReply, ModelRequest, Usage
from pagemind.runtime.settings import TASK_AT_ONCE
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.testing import ScriptedModel

HEAD = "agents: per_input\nat_once: 4\ninputs: {lines: in.txt}\n"
FACTS = HEAD + 'do:\n  - {say: "Take {{ input }}", save: out.jsonl}\n'


@pytest.fixture
def many(bench: Bench) -> Bench:
    """Twelve lines."""
    bench.file("in.txt", "".join(f"line {n}\n" for n in range(1, 13)))
    return bench


class Meeting:
    """A model whose first answers wait for each other: that many run at once, or nothing does."""

    def __init__(self, parties: int, answer: str = "ok") -> None:
        self._barrier = threading.Barrier(parties)
        self._left = parties
        self._lock = threading.Lock()
        self.answer = answer
        self.running = self.most = 0

    def __call__(self, request: ModelRequest) -> ModelReply:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
            meets = self._left > 0
            self._left -= meets
        if meets:
            self._barrier.wait(60)
        with self._lock:
            self.running -= 1
        return ModelReply(self.answer, usage=Usage(100, 10), cost=0.01)


def test_so_many_at_once_and_no_more(many: Bench) -> None:
    """Four meet in their model; every input has its agent by its number, and its row."""
    meeting = Meeting(4)
    many.model = ScriptedModel(meeting)
    report = many.run(FACTS)
    assert report.row.status == "done"
    assert meeting.most == 4
    assert Counter(row["input"] for row in many.rows()) == Counter(
        f"in.txt:{n}" for n in range(1, 13)
    )
    for number in (1, 7, 12):
        assert many.said(f"task {number}")[0].endswith(f"Take line {number}")
    kinds = Counter(event.kind for event in many.events)
    assert (kinds["input_started"], kinds["input_done"]) == (12, 12)
    assert report.spent.tokens == 12 * 110


def test_rows_are_never_mixed(many: Bench) -> None:
    """Long rows of several inputs in one file, and several files of each."""
    many.model = ScriptedModel(lambda request: request.messages[-1].text[-7:] * 3000)
    report = many.run(FACTS + '  - {save: {file: "n{{ number }}.txt", text: "{{ reply }}"}}\n' * 2)
    assert report.row.status == "done", report.failures
    for row in many.rows():
        number = row["input"].rpartition(":")[2]
        assert set(row["reply"].replace(row["reply"][:7], "")) == set()
        assert many.text(f"n{number}.txt") == f"{row['reply']}\n" * 2


def test_the_budget_is_one_for_all(many: Bench) -> None:
    """What is taken over it is at most the step that each was in; then the task goes on."""
    many.model = ScriptedModel(Meeting(4))
    report = many.run(FACTS + "budget: {task: {tokens: 500}}\n")
    assert report.exit_code == 5
    assert 500 <= report.spent.tokens <= 500 + 4 * 110
    assert report.inputs["running"] <= 4
    more = FACTS + "budget: {task: {tokens: 5000}}\n"
    assert many.run(more, go_on=True).row.status == "done"
    assert len(many.rows()) == 12


def test_a_turn_sees_what_others_take(many: Bench) -> None:
    """Turns of many steps share the task's budget between two steps, not only between turns."""

    def busy(request: ModelRequest) -> ModelReply:
        calls = (ToolCall("c", "core_append", '{"block": "human", "content": "x"}'),)
        return ModelReply("", tool_calls=calls, usage=Usage(100, 0), cost=0.01)

    many.model = ScriptedModel(busy)
    report = many.run(FACTS + "budget: {task: {tokens: 1200}}\n")
    assert report.exit_code == 5
    assert 1200 <= report.spent.tokens <= 1200 + 4 * 100


def test_stop_ends_the_others_between_two_actions(many: Bench) -> None:
    """What ran beside the one that failed is gone on with by the next run, once."""
    meeting = Meeting(4)

    def answer(request: ModelRequest) -> ModelReply:
        reply = meeting(request)
        if "line 2" in request.messages[-1].text:
            raise BadRequest("no")
        return reply

    many.model = ScriptedModel(answer)
    report = many.run("on_error: stop\n" + FACTS)
    assert report.row.status in ("partial", "failed")
    assert "in.txt:2: do.1: no" in report.row.why
    assert report.inputs["failed"] == 0
    many.model = ScriptedModel(after="ok")
    assert many.run("on_error: stop\n" + FACTS).row.status == "done"
    assert len(many.rows()) == 12
    assert len(many.said("task 1")) == 1


def test_a_person_ends_all_of_them(many: Bench) -> None:
    """The token is read by every turn; the next run goes on in each."""
    token = CancelToken()
    meeting = Meeting(4)

    def answer(request: ModelRequest) -> ModelReply:
        reply = meeting(request)
        token.cancel()
        return reply

    many.model = ScriptedModel(answer)
    report = many.run(FACTS, token)
    assert (report.row.status, report.exit_code) == ("cancelled", 130)
    many.model = ScriptedModel(after="ok")
    assert many.run(FACTS).row.status == "done"
    assert len(many.rows()) == 12
    assert [len(many.said(f"task {n}")) for n in range(1, 13)] == [1] * 12


def test_a_fault_of_ours_is_raised_and_nothing_runs_on(
    many: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that no policy is for ends the task when all hands are still."""

    def broken(*arguments: object, **named: object) -> None:
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(Outputs, "append", broken)
    with pytest.raises(ZeroDivisionError):
        many.run(FACTS)
    assert many.report().row.status == "failed"
    assert not [t for t in threading.enumerate() if t.name.startswith("task ")]


def test_another_number_is_no_other_task(many: Bench) -> None:
    """`at_once` may change between two runs, in the file and beside it."""
    many.model = ScriptedModel([BadRequest("no")], after="ok")
    many.run("on_error: stop\n" + FACTS.replace("at_once: 4\n", ""))
    assert many.run("on_error: stop\n" + FACTS).row.status == "done"


def test_one_agent_does_one_thing_after_another(bench: Bench, tmp_path: Path) -> None:
    """Told with its line before anything runs, and where it is asked for beside the file."""
    with pytest.raises(DefinitionError, match=r"at_once.*several at once need  agents: per_input"):
        bench.task("at_once: 2\n" + FACTS.split("\n", 2)[2])
    with pytest.raises(DefinitionError, match=str(TASK_AT_ONCE)):
        bench.task(FACTS.replace("at_once: 4", "at_once: 100000"))
    with pytest.raises(UserError, match="at_once is 2: one agent"):
        bench.run(bench.task(FACTS.split("\n", 2)[2]), at_once=2)


def test_only_what_runs_is_in_memory(bench: Bench) -> None:
    """Lines are read as hands get free: of a long stream no more is begun than runs."""
    read = [0]

    class Stream:
        def __iter__(self) -> "Stream":
            return self

        def __next__(self) -> str:
            read[0] += 1
            if read[0] > 24:
                raise StopIteration
            return f"line {read[0]}\n"

    ahead = []

    def answer(request: ModelRequest) -> str:
        ahead.append(read[0] - len(ahead))
        return "ok"

    bench.model = ScriptedModel(answer, keep=1)
    text = FACTS.replace("{lines: in.txt}", "{stdin: lines}").replace("at_once: 4", "at_once: 3")
    report = bench.run(text, stdin=Stream())
    assert report.inputs["done"] == 24
    assert max(ahead) <= 3 + 2
