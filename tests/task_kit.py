"""What tests of tasks share: a folder with a small agent and inputs, and runs of a task file."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import warm
from kernel_kit import runtime_at

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.person import Person
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.tasks.events import TaskEvent
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.opening import Answers
from pagemind.runtime.tasks.report import Report
from pagemind.runtime.tasks.runner import run_task
from pagemind.runtime.tasks.task_file import Task, load_task
from pagemind.runtime.testing import ScriptedModel

PLAIN = """
name: plain
system: You are a test agent.
embedding: none
context_window: 4096
output_reserve: 128
blocks:
  human: {value: "Sam", limit: 400}
tools: [core_append, archival_insert, recall_search]
timezone: UTC
"""
HEAD = "agent: {definition: ./plain.yaml}\n"


CHILD = Path(__file__).parent / "tasks" / "task_child.py"


def run(
    folder: Path, point: str = "none", when: str = "before", nth: int = 0, who: str = ""
) -> int:
    """The exit code of a process that runs the task in a folder, and may kill itself on the way."""
    code, _, errors = warm.run([str(CHILD), str(folder), point, when, str(nth), who])
    assert code in (-9, 0, 3, 4), errors
    return code


def echo() -> ScriptedModel:
    """Answers with the last line of what it was told, without the time that may stand there."""
    return ScriptedModel(lambda request: f"re {without_time(request.messages[-1].text)}")


def without_time(text: str) -> str:
    return re.sub(r"^\[\w{3} [\d: -]+\] ", "", text.splitlines()[-1])


@dataclass
class Bench:
    """A folder with a task in it, and a home."""

    folder: Path
    model: Any = field(default_factory=echo)
    tools: tuple[Callable[..., str], ...] = ()
    events: list[TaskEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.file("plain.yaml", PLAIN)

    def file(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def task(self, text: str, set: dict[str, str] | None = None, head: str = HEAD) -> Task:
        return load_task(self.file("task.yaml", head + text), set)

    def run(
        self,
        text: str | Task,
        cancel: CancelToken | None = None,
        *,
        stdin: Any = None,
        at_once: int | None = None,
        executor: Any = None,
        keep_agents: bool = False,
        person: Person | None = None,
        **answers: Any,
    ) -> Report:
        task = text if isinstance(text, Task) else self.task(text)
        self.events.clear()
        with runtime_at(self.folder / "home") as runtime:
            return run_task(
                runtime,
                task,
                answers=Answers(**answers),
                hiring=Hiring(model=self.model, tools=self.tools),
                watch=self.events.append,
                cancel=cancel,
                stdin=stdin,
                at_once=at_once,
                executor=executor,
                keep_agents=keep_agents,
                person=person,
            )

    def rows(self, name: str = "out.jsonl") -> list[Any]:
        """What was written, as JSON."""
        return [json.loads(line) for line in self.text(name).splitlines()]

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def said(self, agent: str = "task") -> list[str]:
        """What the agent was told, in order."""
        with runtime_at(self.folder / "home") as runtime, runtime.reader(agent) as reader:
            told = reader.state.journal.newest(1 << 30)
            return [m.text for m in reversed(told) if m.role == "user" and m.kind == "talk"]

    def report(self) -> Report:
        with runtime_at(self.folder / "home") as runtime:
            return Report.of(Ledger(runtime.home.database, runtime.clock), "task")
