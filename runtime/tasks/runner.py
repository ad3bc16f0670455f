"""The runner: a task from where it stands to its end.

Inputs are taken in their order, one after another or a few at once. What the ledger has as done is
passed over; what was begun goes on; then `at_end` runs once for these inputs. However the task
ends, the ledger and the report say so.
"""

import threading
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import Cancelled, PagemindError, UserError
from pagemind.runtime.person import Person
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import TASK_AT_ONCE, TASK_LEAVE_SECONDS
from pagemind.runtime.state.ledger import AT_END, Ledger, TaskRow
from pagemind.runtime.tasks.asking import Asking
from pagemind.runtime.tasks.events import TaskEvent, TaskLog, Watch, ignore
from pagemind.runtime.tasks.executors import Workers
from pagemind.runtime.tasks.executors import opened as workers_of
from pagemind.runtime.tasks.failing import TaskStopped
from pagemind.runtime.tasks.file_faults import every_action
from pagemind.runtime.tasks.hands import Hands, OneByOne, in_threads
from pagemind.runtime.tasks.hired import Hired, Hiring
from pagemind.runtime.tasks.inputs import Input, Source
from pagemind.runtime.tasks.job import Ended, Inside, Job
from pagemind.runtime.tasks.opening import Answers, check_functions, lock_of, opened, set_clock
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.tasks.parts import ONE_AT_A_TIME, ONE_CLOCK
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.report import Report, write_report
from pagemind.runtime.tasks.sending import Outside, Sending
from pagemind.runtime.tasks.taking_up import TakingUp
from pagemind.runtime.tasks.task_file import Task
from pagemind.runtime.tasks.team import gathered
from pagemind.runtime.tasks.watchman import watch_for


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
    at_once: int | None = None,
    executor: Executor | str | None = None,
    worker_home: str | Path | None = None,
    keep_agents: bool = False,
    person: Person | None = None,
) -> Report:
    """Run a task, or go on with it; what it came to. `answers` are to what a person may be asked,
    `hiring` says on what its agents run, `at_once` how many inputs run together in place of what
    the file says. With an `executor` (any of concurrent.futures, `processes` or `dask://HOST:PORT`)
    they are done by its workers, each in a home of its own below `worker_home`, and their agents
    come back with `keep_agents` (docs/scale.md). `person` is asked what the task may not decide
    (asking.py).

    Raises TaskInUse, UserError for what cannot begin, StorageError.
    """
    answers = answers or Answers()
    cancel = cancel or CancelToken()
    number = _checked(task, at_once, executor)
    ledger = Ledger(runtime.home.database, runtime.clock)
    check_functions(runtime, task, hiring or Hiring())
    source = task.source(stdin)
    if source is not None:
        source.check()
    with ExitStack() as stack:
        workers = stack.enter_context(workers_of(executor, at_once)) if executor else None
        lock = lock_of(runtime.home.path / "tasks", task.name)
        lock.acquire(wait)
        stack.callback(lock.release)
        set_clock(runtime, ledger, task, answers)
        row = opened(runtime, ledger, task, answers)
        purse = Purse("task", task.spec.budget.task, ledger.spent(row.id))
        job = Job(
            id=row.id,
            task=task,
            ledger=ledger,
            outputs=Outputs(ledger, row.id, task.base),
            purse=purse,
            watch=watch,
            cancel=cancel,
            clock=runtime.clock,
            on_unknown=answers.on_unknown or task.spec.on_unknown,
            asking=Asking(person, answers.given),
        )
        outside = None
        if workers is not None:
            outside = Outside(
                workers,
                at_once or (number if number > 1 else workers.width),
                _home_of_workers(runtime, workers, worker_home),
                keep_agents,
            )
        stack.enter_context(
            watch_for(lambda: ledger.asked_to_cancel(row.id), cancel, f"task {row.name}")
        )
        return _carried_out(runtime, job, row, answers, hiring, number, source, outside)[0]


def _home_of_workers(runtime: Runtime, workers: Workers, asked: str | Path | None) -> str | None:
    if asked is not None:
        return str(asked)
    # On another machine the path would be another folder, or none.
    return str(runtime.home.path.absolute() / "workers") if workers.here else None


def _carried_out(
    runtime: Runtime,
    job: Job,
    row: TaskRow,
    answers: Answers,
    hiring: Hiring | None,
    at_once: int,
    source: Source | None,
    outside: Outside | None = None,
) -> Ended:
    """A task that is open, to its end."""
    log = TaskLog(runtime.home.path / "tasks" / row.id / "log.jsonl")
    log.path.parent.mkdir(parents=True, exist_ok=True)
    telling, watch = threading.Lock(), job.watch

    def tell(event: TaskEvent) -> None:
        with telling:  # one after another, whoever tells them
            log(event)
            watch(event)

    job.watch = tell
    job.run_inside = partial(_run_inside, runtime, answers, hiring)
    with gathered(runtime, job.task, hiring), Hired(runtime, job, hiring) as hired:
        inputs, folder = TakingUp(job, hired, answers), log.path.parent
        hands: Hands = OneByOne(inputs)
        if outside is not None:
            hands = Sending(runtime, job, inputs, hiring or Hiring(), outside, folder)
        elif at_once > 1:
            hands = in_threads(inputs, row.name, at_once)
        return _Run(job, row, hired, answers, folder, inputs, hands).to_the_end(source)


def _run_inside(runtime: Runtime, answers: Answers, hiring: Hiring | None, inside: Inside) -> Ended:
    """A task that is part of another. Raises UserError for what cannot begin."""
    task, outer = inside.task, inside.outer
    source = task.source()
    if source is not None:
        source.check()
    again = inside.retry
    answers = replace(
        answers, restart=False, retry=answers.retry or again, go_on=answers.go_on or again
    )
    row = opened(runtime, outer.ledger, task, answers, inside)
    spent = outer.ledger.spent(row.id)
    written = partial(_written, outer.ledger, row.id)
    job = Job(
        id=row.id,
        task=task,
        ledger=outer.ledger,
        outputs=outer.outputs.within(task.base, written),
        purse=inside.purse.inside(task.spec.budget.task, spent),
        watch=partial(_pass_on, inside, row.name),
        cancel=outer.cancel,
        clock=outer.clock,
        on_unknown=answers.on_unknown or task.spec.on_unknown,
        asking=outer.asking,
        outer=outer,
        lent=inside.lent,
        locks=outer.locks,
    )
    return _carried_out(runtime, job, row, answers, hiring, task.spec.at_once, source)


def _written(ledger: Ledger, task: str) -> set[str]:
    return set(ledger.family.written(task))


def _pass_on(inside: Inside, task: str, event: TaskEvent) -> None:
    """The actions of a task inside another are told to who watches that, at the place of its
    own action."""
    if event.kind in ("action_started", "action_done", "action_failed", "warning"):
        data = event.data
        at = " ".join(str(data[key]) for key in ("input", "place") if data.get(key))
        told = {"input": inside.label, "place": f"{inside.place.place} › {at}", "inside": task}
        inside.outer.watch(replace(event, data={**data, **told}))


def _checked(task: Task, at_once: int | None, executor: Executor | str | None) -> int:
    """How many inputs run together. Raises UserError."""
    number = task.spec.at_once if at_once is None else at_once
    if not 1 <= number <= TASK_AT_ONCE:
        raise UserError(f"at_once is {number}: it may be 1 to {TASK_AT_ONCE}")
    if task.spec.clock is not None and (number > 1 or executor is not None):
        raise UserError(f"the clock {ONE_CLOCK}")
    if executor is not None:
        if task.spec.agents != "per_input":
            raise UserError(f"an executor has many workers, and {ONE_AT_A_TIME}")
        if task.spec.team:
            raise UserError(
                "a task with a team does its inputs where the team is",
                hint="leave the executor out: at_once runs several of its inputs together",
            )
        if any(action.verb == "sub" for _, action in every_action(task.spec)):
            raise UserError(
                "a task that runs others (sub) does so in one process",
                hint="leave the executor out: at_once runs several of its inputs together",
            )
    if number > 1 and task.spec.agents != "per_input":
        raise UserError(f"at_once is {number}: {ONE_AT_A_TIME}")
    return number


class _Run:
    """One run of a task that is open and locked."""

    def __init__(
        self,
        job: Job,
        row: TaskRow,
        hired: Hired,
        answers: Answers,
        folder: Path,
        inputs: TakingUp,
        hands: Hands,
    ) -> None:
        self._job = job
        self._row = row
        self._hired = hired
        self._answers = answers
        self._folder = folder
        self._inputs = inputs
        self._hands = hands

    def to_the_end(self, source: Source | None) -> Ended:
        job = self._job
        stopped: TaskStopped | None = None
        try:
            if job.outer is None:  # what is inside it is cut back with it
                job.outputs.cut_back()
            self._count(source)
            self._each(source)
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
        return self._ended(stopped), stopped

    def _count(self, source: Source | None) -> None:
        total = 1 if source is None else source.count()
        self._job.ledger.set_total(self._row.id, total)
        counts = self._job.ledger.counts(self._row.id)
        spent = self._job.purse.spent("task")
        self._job.tell(
            "task_started",
            task=self._row.name,
            total=total,
            done=counts.get("done", 0),
            failed=counts.get("failed", 0),
            tokens=spent.tokens,
            cost=spent.cost,
        )

    def _each(self, source: Source | None) -> None:
        """Every input, of which only those that run are in memory."""
        job, hands = self._job, self._hands
        inputs = source if source is not None else (Input(1, "@do", "the task", ""),)
        try:
            for one in inputs:
                hands.ready()
                if source is not None:
                    job.check()
                if (begun := self._inputs.begin(one)) is not None:
                    hands.do(begun)
            hands.finish()
        except BaseException as first:
            job.stop.cancel()  # the others end between two actions
            patience = None
            if isinstance(first, KeyboardInterrupt):  # and at once where a person insists
                job.cancel.cancel()
                patience = TASK_LEAVE_SECONDS
            raise hands.leave(first, patience) from None

    def _at_end(self) -> None:
        job = self._job
        actions = job.task.spec.at_end
        if not actions:
            return
        counts = job.ledger.counts(job.id)
        if counts.get("waiting"):
            return
        done, failed = counts.get("done", 0), counts.get("failed", 0)
        key = f"{AT_END} {done} {failed}"  # with more inputs done it is another end
        known = job.ledger.input(job.id, key)
        if known is not None and known.status == "done":
            return
        if known is not None and known.status == "failed" and not self._answers.retry:
            return
        waits = known is not None and known.status == "waiting"
        if waits and not self._answers.go_on and not job.asking.may_go_on(job.ledger, job.id, key):
            return
        job.ledger.begin_input(job.id, key, "at_end", 0, "")
        scope = job.scope(total=done + failed, done=done, failed=failed)
        agent = self._hired.shared(key)
        self._inputs.perform(agent, actions, "at_end", Input(0, key, "", ""), scope)

    # --- the end --------------------------------------------------------------------------------

    def _ended(self, stopped: TaskStopped | None) -> Report:
        counts = self._job.ledger.counts(self._row.id)
        done, failed = counts.get("done", 0), counts.get("failed", 0)
        waiting = len(self._job.ledger.inputs(self._row.id, "waiting"))
        first = self._job.ledger.inputs(self._row.id, "failed", 1)  # the end has number 0
        ends = [each for each in first if not each.number]
        if stopped is not None and stopped.cancelled:
            status = "cancelled"
        elif waiting:
            status = "partial"
        elif stopped is not None or failed or ends:
            status = "partial" if done else "failed"
        else:
            status = "done"
        why = stopped.reason if stopped is not None else ""
        if waiting and not why:
            why = f"{waiting:,} waiting for an answer"
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
