"""examples/support_week.yaml: a week of tickets and timers, with the clock simulated."""

import json
import re
import shutil
from pathlib import Path

import pytest

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import SimulatedClock
from pagemind.runtime.errors import UserError
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.tasks.events import TaskEvent
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.report import Report
from pagemind.runtime.tasks.runner import run_task
from pagemind.runtime.tasks.task_file import load_task
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES / "support_week", tmp_path / "support_week")
    shutil.copy(EXAMPLES / "support_week.yaml", tmp_path)
    return tmp_path


class Desk(ScriptedModel):
    """Notes in the evening, searches when asked about Monday, and answers with what it found."""

    def __init__(self) -> None:
        super().__init__(self._answer, summary=lambda request: "Tickets came and went.")
        self.evenings = 0
        self.saw_the_ticket = False

    def _answer(self, request: ModelRequest) -> object:
        heard = [m for m in request.messages if not m.text.startswith("[notice")]
        last = heard[-1]
        said = [message.text for message in heard if message.role == "user"][-1]
        if "It is evening" in said:
            if last.role == "tool":
                return "Noted."
            self.evenings += 1
            return call("archival_insert", content=f"Open on evening {self.evenings}: some orders.")
        if "broken key of a music box" not in said:
            return "We look into it. You hear from us tomorrow."
        if last.role != "tool":
            whole = "\n".join(message.text for message in request.messages)
            self.saw_the_ticket = "the dog eats parcels" in whole
            return call("recall_search", query="brass key music box order")
        order, town = re.search(r"K-4471", last.text), re.search("Kinsale", last.text)
        return f"Order {order[0] if order else '?'}, to {town[0] if town else '?'}."


def run(folder: Path, model: ScriptedModel, watch: list[TaskEvent], cancel_at: int = 0) -> Report:
    cancel = CancelToken()

    def see(event: TaskEvent) -> None:
        watch.append(event)
        if cancel_at and sum(each.kind == "timer_fired" for each in watch) == cancel_at:
            cancel.cancel()

    with Runtime(
        folder / "home", clock=SimulatedClock(), embedder=HashingEmbedder(16), background=False
    ) as runtime:
        return run_task(
            runtime,
            load_task(folder / "support_week.yaml"),
            hiring=Hiring(model=model),
            watch=see,
            cancel=cancel,
        )


def answers(folder: Path) -> list[str]:
    lines = (folder / "support_week" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["at"] for line in lines]


def fired(events: list[TaskEvent]) -> list[str]:
    return [event.data["due"] for event in events if event.kind == "timer_fired"]


EVENINGS = [f"2026-03-0{day}T18:00:00.000000Z" for day in range(2, 9)]


def test_on_the_seventh_day_it_answers_from_the_first(folder: Path) -> None:
    """The ticket left the window, every evening came once, and the search finds it."""
    model, events = Desk(), list[TaskEvent]()
    report = run(folder, model, events)
    assert report.exit_code == 0, (report.failures, report.row.why)
    assert fired(events) == EVENINGS
    assert (model.evenings, model.saw_the_ticket) == (7, False)
    assert len(answers(folder)) == len(set(answers(folder))) == 42
    said = (folder / "support_week" / "sunday.txt").read_text(encoding="utf-8")
    assert said == "Order K-4471, to Kinsale.\n"


def test_a_week_that_was_broken_off_goes_on_at_its_own_time(folder: Path) -> None:
    """Neither a ticket nor an evening comes twice."""
    before, after = list[TaskEvent](), list[TaskEvent]()
    model = Desk()
    assert run(folder, model, before, cancel_at=3).exit_code == 130
    ended = run(folder, model, after)
    assert ended.exit_code == 0, (ended.failures, ended.row.why)
    assert fired(before) + fired(after) == EVENINGS
    assert model.evenings == 7
    assert len(answers(folder)) == 42


def test_a_clock_that_cannot_be_set_is_refused(folder: Path) -> None:
    """Before anything runs."""
    with (
        Runtime(folder / "home", embedder=HashingEmbedder(16), background=False) as runtime,
        pytest.raises(UserError, match="simulates its clock"),
    ):
        run_task(runtime, load_task(folder / "support_week.yaml"))
