"""The runner: a task from where it stands to its end.

Inputs are taken one after another. What the ledger has as done is passed over; what was begun goes
on; then `at_end` runs once for these inputs. However the task ends, the ledger and the report say
so.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from pagemind.runtime.agent import Agent
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import Cancelled, PagemindError, UserError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.ledger import AT_END, Ledger, TaskRow
from pagemind.runtime.tasks.events import TaskEvent, TaskLog, Watch, ignore
from pagemind.runtime.tasks.failing import GivenUp, TaskStopped
from pagemind.runtime.tasks.hired import Hired, Hiring
from pagemind.runtime.tasks.inputs import Input, Source
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.opening import Answers, check_functions, lock_of, opened
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.performer import Performer
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.report import Report, write_report
from pagemind.runtime.tasks.task_file import Task
from pagemind.runtime.tasks.watchman import watch_for_cancel


def run_task(
    runtime: Runtime,
    task: Task,
    *,
    answers: Answers | None = None,
    hiring: Hiring | None = None,
    watch: Watch = ignore,
    cancel: CancelToken | None = None,
    stdin: TextIO | None = None,
    wait: float = 0.0,
) -> Report:
    """Run a task, or go on with it; what it came to. `answers` are to what a person may be asked,
    `hiring` says on what its agents run.

    Raises TaskInUse, UserError for what cannot begin, StorageError.
    """
    answers = answers or Answers()
    cancel = cancel or CancelToken()
    ledger = Ledger(runtime.home.database, runtime.clock)
    check_functions(runtime, task, hiring or Hiring())
    source = task.source(stdin)
    if source is not None:
        source.check()
    folder = runtime.home.path / "tasks"
    lock = lock_of(folder, task.name)
    lock.acquire(wait)
    try:
        row = opened(runtime, ledger, task, answers)
        log = TaskLog(folder / row.id / "log.jsonl")
        log.path.parent.mkdir(parents=True, exist_ok=True)

        def tell(event: TaskEvent) -> None:
            log(event)
            watch(event)

        spec = task.spec
        job = Job(
            id=row.id,
            task=task,
            ledger=ledger,
            outputs=Outputs(ledger, row.id, task.base),
            purse=Purse({"task": spec.budget.task}, {"task": ledger.spent(row.id)}),
            watch=tell,
            cancel=cancel,
            clock=runtime.clock,
            on_unknown=answers.on_unknown or spec.on_unknown,
        )
        with watch_for_cancel(ledger, row.id, cancel), Hired(runtime, job, hiring) as hired:
            return _Run(job, row, hired, answers, log.path.parent).to_the_end(source)
    finally:
        lock.release()


class _Run:
    """One run of a task that is open and locked."""

    def __init__(
        self, job: Job, row: TaskRow, hired: Hired, answers: Answers, folder: Path
    ) -> None:
        self._job = job
        self._row = row
        self._hired = hired
        self._answers = answers
        self._folder = folder
        self._next = job.ledger.next_number(job.id)

    def to_the_end(self, source: Source | None) -> Report:
        job = self._job
        stopped: TaskStopped | None = None
        try:
            job.outputs.cut_back()
            self._count(source)
            if source is None:
                self._input(Input(1, "@do", "the task", ""))
            else:
                for each in source:
                    job.cancel.check()
                    self._input(each)
            self._at_end()
        except (Cancelled, KeyboardInterrupt):
            stopped = TaskStopped("stopped by a person", cancelled=True)
        except TaskStopped as early:
            stopped = early
        except PagemindError as error:
            self._close("failed", error.message)
            raise
        except BaseException as fault:
            self._close("failed", f"{type(fault).__name__}: {fault}")
            raise
        return self._ended(stopped)

    def _count(self, source: Source | None) -> None:
        total = 1 if source is None else source.count()
        self._job.ledger.set_total(self._row.id, total)
        counts = self._job.ledger.counts(self._row.id)
        self._job.tell(
            "task_started",
            task=self._row.name,
            total=total,
            done=counts.get("done", 0),
            failed=counts.get("failed", 0),
            tokens=self._job.purse.spent["task"].tokens,
            cost=self._job.purse.spent["task"].cost,
        )

    def _input(self, one: Input) -> None:
        """Everything that is done for one input."""
        job, task = self._job, self._job.task
        known = job.ledger.input(job.id, one.key)
        if known is not None and self._is_settled(one, known.status, known.digest):
            return
        if known is None and task.spec.inputs and task.spec.inputs.kind in ("files", "tree"):
            path = task.base / one.key
            if job.outputs.is_output(path):
                return  # what the task writes is none of its inputs
        if known is not None and known.digest != one.digest:
            job.ledger.forget_actions(job.id, one.key)
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
        policy = task.spec.on_error
        if one.fault:
            if policy.last == "stop":
                job.ledger.end_input(job.id, one.key, "running", one.fault)
                raise TaskStopped(f"{one.label}: {one.fault}", "on_error says stop")
            self._give_up(one.key, one.label, one.fault, len(task.spec.do))
            return
        with self._hired.for_input(one.key, number) as agent:
            self._perform(agent, task.spec.do, "do", one, scope)

    def _is_settled(self, one: Input, status: str, digest: str) -> bool:
        """Whether nothing is left to do. Raises UserError where an input is not what it was."""
        if digest != one.digest and not self._answers.go_on:
            raise UserError(
                f"{one.label} has changed since it was {'done' if status == 'done' else 'begun'}",
                hint="--continue keeps what is done and does the rest, --restart does all anew",
            )
        return status == "done" or (status == "failed" and not self._answers.retry)

    def _at_end(self) -> None:
        job = self._job
        actions = job.task.spec.at_end
        if not actions:
            return
        counts = job.ledger.counts(job.id)
        done, failed = counts.get("done", 0), counts.get("failed", 0)
        key = f"{AT_END} {done} {failed}"  # with more inputs done it is another end
        known = job.ledger.input(job.id, key)
        if known is not None and known.status == "done":
            return
        if known is not None and known.status == "failed" and not self._answers.retry:
            return
        job.ledger.begin_input(job.id, key, "at_end", 0, "")
        scope = job.scope(total=done + failed, done=done, failed=failed)
        with self._hired.shared(key) as agent:
            self._perform(agent, actions, "at_end", Input(0, key, "", ""), scope)

    def _perform(
        self,
        agent: Agent,
        actions: tuple[Action, ...],
        place: str,
        one: Input,
        scope: Mapping[str, Any],
    ) -> None:
        job, key, label = self._job, one.key, one.label
        spent = job.ledger.spent(job.id, key)
        purse = job.purse.of("input", job.task.spec.budget.input, spent)
        performer = Performer(job, agent, one, dict(scope), purse)
        try:
            performer.all(actions, place)
        except GivenUp as given:
            left = len(actions) - performer.finished - 1
            self._give_up(key, label or place, given.reason, left)
        except TaskStopped as stopped:
            # It is not given up: whoever mends what was wrong goes on in it.
            job.ledger.end_input(job.id, key, "running", stopped.reason)
            raise
        else:
            job.ledger.end_input(job.id, key, "done")
            job.tell("input_done", input=label or place)
        finally:
            job.purse.spent["task"] = purse.spent["task"]

    def _give_up(self, key: str, label: str, reason: str, skipped: int) -> None:
        self._job.ledger.end_input(self._job.id, key, "failed", reason, max(0, skipped))
        self._job.tell("input_failed", input=label, reason=reason)

    # --- the end --------------------------------------------------------------------------------

    def _ended(self, stopped: TaskStopped | None) -> Report:
        counts = self._job.ledger.counts(self._row.id)
        done, failed = counts.get("done", 0), counts.get("failed", 0)
        ends = [each for each in self._job.ledger.inputs(self._row.id, "failed") if not each.number]
        if stopped is not None and stopped.cancelled:
            status = "cancelled"
        elif stopped is not None or failed or ends:
            status = "partial" if done else "failed"
        else:
            status = "done"
        why = stopped.reason if stopped is not None else ""
        return self._close(status, why, stopped)

    def _close(self, status: str, why: str, stopped: TaskStopped | None = None) -> Report:
        job = self._job
        job.ledger.close(job.id, status, why)
        report = Report.of(
            job.ledger,
            self._row.name,
            limit=stopped is not None and stopped.limit,
            hint=stopped.hint if stopped is not None else "",
        )
        report = write_report(report, self._folder)
        job.tell("task_ended", status=status, why=why)
        return report
