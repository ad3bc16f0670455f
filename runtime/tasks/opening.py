"""Opening a task: anew, or where it stands; and what keeps it from being opened.

A task is known by its name. What changed in its file since it was begun is told, and a person
says whether it goes on with the file of now (`go_on`) or begins anew (`restart`).
"""

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pagemind.runtime.clock import LocalZone, SimulatedClock
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import HomeUnusable, PagemindError, UserError
from pagemind.runtime.naming import folded
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.folders import FolderLock
from pagemind.runtime.state.ledger import Ledger, TaskRow
from pagemind.runtime.state.task_family import TaskFamily
from pagemind.runtime.tasks.asking import GivenAnswers
from pagemind.runtime.tasks.hired import Hiring, definition_of
from pagemind.runtime.tasks.job import Inside
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.tasks.parts import OnUnknown
from pagemind.runtime.tasks.task_file import Task, fingerprint, parse_task, written_lines
from pagemind.runtime.tasks.team import definitions_of, dismiss, must_be_free, names_in

_TAKEN_BACK = "its --restart was cut off; the next run begins anew"


@dataclass(frozen=True, slots=True)
class Answers:
    """What a person says beforehand: begin anew; go on although something changed; do again what
    failed; what to do about a call that was cut off. The last two answer what waits: an action that
    failed (retry, skip or stop), a call that wants consent (approve or deny)."""

    restart: bool = False
    go_on: bool = False
    retry: bool = False
    on_unknown: OnUnknown | None = None
    on_error: Literal["retry", "skip", "stop"] | None = None
    approval: Literal["approve", "deny"] | None = None

    @property
    def given(self) -> GivenAnswers:
        unknown = self.on_unknown if self.on_unknown != "ask" else None
        return GivenAnswers(self.on_error or "", unknown or "", self.approval or "")


def lock_of(folder: Path, name: str) -> FolderLock:
    """Held while a task runs."""
    import hashlib

    locks = folder / "locks" / hashlib.sha256(folded(name).encode()).hexdigest()[:16]
    try:
        locks.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HomeUnusable(f"{locks}: {(error.strerror or str(error)).lower()}") from None
    return FolderLock(locks, name, "task")


def opened(
    runtime: Runtime, ledger: Ledger, task: Task, answers: Answers, inside: Inside | None = None
) -> TaskRow:
    """The task's row, running; `inside`: where another runs it. Raises UserError where a person
    must choose."""
    row = ledger.task(task.name)
    if row is not None and _begins_anew(row, answers):
        ledger.close(row.id, "cancelled", _TAKEN_BACK)  # the next run ends what a kill cuts off
        undo(runtime, ledger, row, task.base)
        row = None
    if row is not None and not answers.go_on:
        must_be_same(runtime, row, task)
    if row is None:
        _must_be_free(runtime, ledger, task, inside)
    with ledger.transaction():
        if row is None:
            row = ledger.open(task.name, str(task.path), task.text, dict(task.set), task.made)
        else:
            ledger.go_on(row.id, str(task.path), task.text, dict(task.set))
        ledger.family.set_files(row.id, task.files())
        if inside is not None:
            ledger.family.adopt(row.id, inside.place)
    return row


def set_clock(runtime: Runtime, ledger: Ledger, task: Task, answers: Answers) -> None:
    """Where the file simulates the clock: it stands where the file says, or where the task was.
    Raises UserError for a runtime whose clock cannot be set."""
    start, clock = task.spec.clock, runtime.clock
    if start is None:
        return
    if not isinstance(clock, SimulatedClock):
        raise UserError(
            f"{task.path.name} simulates its clock, and that of this runtime cannot be set",
            hint="open it as Runtime(clock=SimulatedClock()), as `pagemind run` does",
        )
    if start.tzinfo is None:
        start = start.replace(tzinfo=definition_of(runtime, task).zone or LocalZone())
    clock.simulate(start)
    row = ledger.task(task.name)
    if row is not None and not _begins_anew(row, answers) and (latest := ledger.latest(row.id)):
        clock.simulate(latest)


def _begins_anew(row: TaskRow, answers: Answers) -> bool:
    """Whether a person says so, or said so to a run that was killed before it had."""
    return answers.restart or row.why == _TAKEN_BACK


def undo(runtime: Runtime, ledger: Ledger, row: TaskRow, base: Path) -> None:
    """As if the task had not run: its outputs, the agents that it made, its ledger; and those of
    the tasks inside it."""
    for child in ledger.family.children(row.id):
        if (inside := ledger.task_of(child)) is not None:
            undo(runtime, ledger, inside, Path(inside.path).parent)
    Outputs(ledger, row.id, base).undo()
    dismiss(runtime, [*ledger.agents(row.id), *names_in(row)], row.begun_at)
    ledger.forget(row.id)


def stored_task(runtime: Runtime, row: TaskRow) -> Task:
    """The task as it ran last."""
    files = TaskFamily(runtime.home.database).files(row.id)
    return parse_task(row.text, Path(row.path), row.vars, files)


def check_functions(runtime: Runtime, task: Task, hiring: Hiring) -> None:
    """Raises what is wrong with the agent, before anything runs: it is not there, its definition
    is at fault, or it lacks a block or function that the task names."""
    from pagemind.tools import of_definition

    for each in (task, *task.subs.values(), *task.tasks_of_their_own()):
        for member in definitions_of(each).values():
            of_definition(member)
    for each in (task, *task.tasks_of_their_own()):
        definition: AgentDefinition = definition_of(runtime, each)
        functions = [*of_definition(definition), *hiring.functions()]
        each.check_agent(definition, {tool.name: tool.parameters for tool in functions})


def _must_be_free(runtime: Runtime, ledger: Ledger, task: Task, inside: Inside | None) -> None:
    """An agent that the task would make must not be another's."""
    must_be_free(runtime, task)
    if inside is not None:
        name, parent = task.agent_name, inside.place.parent
        if folded(name) in inside.lent or ledger.family.made_beside(parent, name):
            return
    if task.made and runtime.home.exists(task.agent_name):
        raise UserError(
            f"there is an agent called {task.agent_name!r} already, and the task would make it",
            hint=f"write  agent: {task.agent_name}  to run on it, or give agent a name of its own",
        )


def must_be_same(runtime: Runtime, row: TaskRow, task: Task) -> None:
    """Raises UserError where a task of this name was begun from another file or another text."""
    if Path(row.path) != task.path:
        raise UserError(
            f"a task called {row.name!r} was begun from {row.path}",
            hint="give this one  name: …, or say --continue if the file has moved",
        )
    try:
        before = stored_task(runtime, row)
    except PagemindError as error:  # a file that is named in it is gone
        raise UserError(
            f"{row.name} cannot be read as it was begun: {error.message}",
            hint="--continue goes on with the file of now, --restart does all anew",
        ) from None
    if fingerprint(before) == fingerprint(task):
        return
    lines = difflib.unified_diff(written_lines(before), written_lines(task), lineterm="", n=0)
    diff = [f"{line[0]} {line[1:]}" for line in list(lines)[2:] if not line.startswith("@@")]
    shown = "\n  ".join(line[:120] for line in diff[:12])
    raise UserError(
        f"{task.path} has changed since {row.name} was begun:\n  {shown}",
        hint="--continue keeps what is done and does the rest so, --restart does all anew",
    )
