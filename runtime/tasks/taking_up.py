"""Taking up an input: whether anything is left to do of it, and doing it on an agent of this home.

begin() is called by one thread, in the order of the inputs, so that they are numbered alike in
every run; do() by any. However an input ends, the ledger says so.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import UserError
from pagemind.runtime.state.denied import ERASED, Denied
from pagemind.runtime.state.ledger import ActionRow
from pagemind.runtime.tasks.failing import STOPS, GivenUp, TaskStopped, Waits
from pagemind.runtime.tasks.hired import Hired
from pagemind.runtime.tasks.inputs import Input
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.opening import Answers
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.performer import Performer


@dataclass(frozen=True)
class Begun:
    """An input that is begun: its number for ever, and the variables before its first action.
    `again`: it was under way before; `here`: on an agent of this home; `known`: what was done of it
    by a worker that did not end it, and is not done again."""

    one: Input
    number: int
    scope: Mapping[str, Any]
    again: bool = False
    here: bool = False
    known: tuple[ActionRow, ...] = ()


class TakingUp:
    """Of the inputs of one run."""

    def __init__(self, job: Job, hired: Hired, answers: Answers) -> None:
        self._job = job
        self._hired = hired
        self._answers = answers
        self._next = job.ledger.next_number(job.id)

    def begin(self, one: Input) -> Begun | None:
        """None for one of which nothing is left to do. Raises UserError, TaskStopped."""
        job, task = self._job, self._job.task
        known = job.ledger.input(job.id, one.key)
        if known is not None and self._is_settled(one, known.status, known.digest):
            return None
        waits = known is not None and known.status == "waiting" and known.digest == one.digest
        if (
            waits
            and not self._answers.go_on
            and not job.asking.may_go_on(job.ledger, job.id, one.key)
        ):
            return None
        if known is None and task.spec.inputs and task.spec.inputs.kind in ("files", "tree"):
            path = task.base / one.key
            if job.outputs.is_output(path):
                return None  # what the task writes is none of its inputs
        if _was_erased(job.ledger.denied, one):
            job.tell("warning", input=one.label, reason=ERASED)
            return None
        if known is not None and known.digest != one.digest:
            job.ledger.set_aside(job.id, one.key, done_too=True)
        if known is None:  # its place among the files may change; what it is called must not
            number, self._next = self._next, self._next + 1
        else:
            number = known.number
        job.ledger.begin_input(job.id, one.key, one.label, number, one.digest)
        job.tell("input_started", number=number, input=one.label)
        scope = job.scope()
        if task.spec.inputs is not None:
            scope |= {"input": one.value, "number": number}
            scope["_path"] = (task.base / one.key).resolve()
        if one.fault:
            if task.spec.on_error.last == "stop":
                job.ledger.end_input(job.id, one.key, "running", one.fault)
                raise TaskStopped(f"{one.label}: {one.fault}", STOPS)
            self.give_up(one, one.fault, len(task.spec.do))
            return None
        again, here = known is not None and known.status == "running", False
        rows: list[ActionRow] = []
        if task.spec.agents == "per_input" and known is not None:
            here = bool(known.agent)
            if not here:  # workers did what was done of it, on agents that are gone
                job.ledger.set_aside(job.id, one.key, done_too=False)
                rows = job.ledger.actions(job.id, one.key)
        return Begun(one, number, scope, again, here, tuple(rows))

    def _is_settled(self, one: Input, status: str, digest: str) -> bool:
        """Whether nothing is left to do. Raises UserError where an input is not what it was."""
        if digest != one.digest and not self._answers.go_on:
            raise UserError(
                f"{one.label} has changed since it was {'done' if status == 'done' else 'begun'}",
                hint="--continue keeps what is done and does the rest, --restart does all anew",
            )
        return status == "done" or (status == "failed" and not self._answers.retry)

    def do(self, begun: Begun) -> None:
        """Everything that is done for it. Raises TaskStopped, Cancelled."""
        agent = self._hired.for_input(begun.one.key, begun.number)
        self.perform(agent, self._job.task.spec.do, "do", begun.one, begun.scope)

    def perform(
        self,
        agent: AbstractContextManager[Agent],
        actions: tuple[Action, ...],
        place: str,
        one: Input,
        scope: Mapping[str, Any],
    ) -> None:
        """A list of actions, to its end or until it is given up."""
        job, key, label = self._job, one.key, one.label
        purse = job.purse.of("input", job.task.spec.budget.input, job.ledger.spent(job.id, key))
        with agent as opened:
            performer = Performer(job, opened, one, dict(scope), purse)
            try:
                performer.all(actions, place)
            except GivenUp as given:
                left = len(actions) - performer.finished - 1
                self.give_up(one, given.reason, left, label or place)
            except Waits as waits:
                job.ledger.end_input(job.id, key, "waiting", waits.question)
                job.tell("input_waits", input=label or place, question=waits.question)
                if waits.ends:
                    raise TaskStopped(waits.question, waits=True) from None
            except TaskStopped as stopped:
                # It is not given up: whoever mends what was wrong goes on in it.
                job.ledger.end_input(job.id, key, "running", stopped.reason)
                raise
            else:
                job.ledger.end_input(job.id, key, "done")
                job.ledger.questions.forget(job.id, key)
                job.tell("input_done", input=label or place)

    def give_up(self, one: Input, reason: str, skipped: int, label: str = "") -> None:
        """It failed; so many of its actions are left undone."""
        self._job.ledger.end_input(self._job.id, one.key, "failed", reason, max(0, skipped))
        self._job.ledger.questions.forget(self._job.id, one.key)
        self._job.tell("input_failed", input=label or one.label, reason=reason)


def _was_erased(denied: Denied, one: Input) -> bool:
    """By its file, or by any of its texts as a whole."""
    if not denied.anything:
        return False
    texts = [value for value in one.value.values() if isinstance(value, str)]
    return denied.has_document(one.digest) or any(map(denied.has_text, texts))
