"""A task inside another: an action (`sub`) runs a task file as part of its own.

It has a row of its own in the ledger, named by where it runs (`read/do.2/17`), so that it is done
once and goes on after a kill. What it takes comes out of the budgets around it; what it writes
counts among the outputs of the outermost task, so that several may write to one file.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import Cancelled, TemplateError, UserError
from pagemind.runtime.naming import folded
from pagemind.runtime.state.ledger import Spent
from pagemind.runtime.state.task_family import Place, TaskFamily
from pagemind.runtime.tasks.failing import ActionFailed, TaskStopped, Waits
from pagemind.runtime.tasks.inputs import Input
from pagemind.runtime.tasks.job import Inside, Job
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.report import Report
from pagemind.runtime.tasks.task_file import Task, parse_task
from pagemind.runtime.tasks.text import Text, as_text


class Subtask:
    """One action's, at its place, for one input. `number` is that of the input, None where there
    is none."""

    def __init__(
        self, job: Job, agent: Agent, action: Action, place: str, one: Input, number: int | None
    ) -> None:
        assert action.sub is not None
        self._one = one
        self._job = job
        self._agent = agent
        self._action = action
        self._place = Place(job.id, one.key, place, one.digest)
        self._number = number
        self._file: Task = job.task.subs[action.sub]
        self._family: TaskFamily = job.ledger.family

    def values(self, scope: Mapping[str, Any]) -> dict[str, str]:
        """Of the variables that the action sets. Raises ActionFailed."""
        try:
            return {
                name: as_text(Text.parse(value).value(scope) if isinstance(value, str) else value)
                for name, value in self._action.values.items()
            }
        except TemplateError as error:
            raise ActionFailed(error.message) from None

    def run(
        self, values: Mapping[str, str], purse: Purse, before: Spent, *, again: bool
    ) -> dict[str, Any]:
        """What it came to. Raises ActionFailed, TaskStopped, Cancelled. `before` is what the ledger
        has as spent; `again`: it has failed once."""
        run_inside = self._job.run_inside
        if run_inside is None:
            raise TaskStopped("a task inside another runs only on the machine of that one")
        # A process that died in it could not say any more what it took.
        purse.add(self.spent(0.0) - replace(before, ms=0.0))
        lent = {**self._job.lent, folded(self._agent.name): self._agent}
        try:
            task = self._task(values)
            if self._action.agent == "same":
                lent[folded(task.agent_name)] = self._agent
            name = folded(task.agent_name)
            inside = Inside(self._job, task, self._place, self._one.label, again, purse, lent)
            use = task.spec.agent
            if name in lent or not (use.existing or use.name):  # it is this one's alone
                report, stopped = run_inside(inside)
            else:
                with self._job.locks.alone(name):
                    report, stopped = run_inside(inside)
        except UserError as error:
            raise ActionFailed(error.message, hint=error.hint) from None
        return self._outcome(report, stopped, ends=name in lent)

    def spent(self, ms: float) -> Spent:
        """So far, by the ledger."""
        task = self._family.at(self._place)
        return replace(self._job.ledger.spent(task) if task is not None else Spent(), ms=ms)

    # --- the task -------------------------------------------------------------------------------

    def _task(self, values: Mapping[str, str]) -> Task:
        """With the values, under its name here. An agent that it makes is named likewise."""
        file = self._file
        task = parse_task(file.text, file.path, values, file.files())
        return replace(task, name=self._name())

    def _name(self) -> str:
        known = self._family.at(self._place)
        if known is not None and (row := self._job.ledger.task_of(known)) is not None:
            return row.name
        parts = [self._job.task.name, self._place.place]
        if self._number is not None:
            parts.append(str(self._number))
        name, number = "/".join(parts), 1
        while self._job.ledger.task("/".join(parts)) is not None:
            # Begun for the input as it was before; with more inputs done it is another end.
            number += 1
            parts = [f"{name}~{number}"]
        return "/".join(parts)

    # --- what it came to ------------------------------------------------------------------------

    def _outcome(
        self, report: Report, stopped: TaskStopped | None, *, ends: bool
    ) -> dict[str, Any]:
        row = report.row
        if stopped is not None and stopped.cancelled:
            raise Cancelled("stopped")
        told = {
            "status": row.status,
            "done": report.inputs["done"],
            "failed": report.inputs["failed"],
            "total": row.total,
            "tokens": report.spent.tokens,
            "cost": report.spent.cost,
            "outputs": [path for path, _ in report.outputs],
            "report": str(report.path) if report.path is not None else "",
            "task": row.name,
            "why": row.why or _failures(report),
        }
        if row.status == "done" or (
            row.status == "partial" and self._action.accept and not stopped
        ):
            return {"result": told}
        if report.waiting and (stopped is None or stopped.waits):
            raise Waits(report.waiting[0].text, ends=ends and stopped is not None)
        fatal = stopped is not None and stopped.fatal
        hint = stopped.hint if stopped is not None else ""
        raise ActionFailed(f"{row.name} is {row.status}: {told['why']}", fatal=fatal, hint=hint)


def _failures(report: Report) -> str:
    """In one line."""
    if not report.failures:
        return ""
    label, why = report.failures[0]
    failed, total = report.inputs["failed"], report.inputs["failed"] + report.inputs["done"]
    more = f"{failed:,} of {total:,} inputs failed: " if failed > 1 else ""
    return f"{more}{label}: {why}"
