"""The sleep-time worker of one agent: runs what jobs are due, between turns.

    start()    after a turn: if its time has come, work begins in a while, in a thread
    stop()     before the next turn: work gives way at once; what is committed stays, the rest is
               due again. start() also puts off what has not begun (a debounce)
    run()      now, in this thread: every due job, one after another; one run at a time
    collect()  what was used and done since the last time, for the next turn to tell

A job that fails does not keep back the others; the same is not tried again until a turn has come.
"""

import json
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import parse_rfc3339, rfc3339
from pagemind.runtime.definition_parts import Sleeping
from pagemind.runtime.errors import Cancelled, LostAgent, PagemindError
from pagemind.runtime.model import Usage
from pagemind.runtime.recurrence import parse as parse_recurrence
from pagemind.runtime.settings import SLEEP_IDLE_SECONDS
from pagemind.runtime.sleep.job import Job, Report, SleepContext, kept
from pagemind.runtime.state.changes import OPEN
from pagemind.runtime.state.state import State
from pagemind.runtime.trace import TraceEvent

_log = logging.getLogger("pagemind.sleep")
_SLEPT = "slept"  # of meta: what the last whole run came to
_TENDED = "tended"  # of meta: when a run changed anything last


@dataclass(frozen=True, slots=True)
class Slept:
    """The last whole run: when, and the newest turn then."""

    at: datetime | None
    turn: int


@dataclass(frozen=True, slots=True)
class SleepStatus:
    """What the worker is up to. `waiting` and `dead` are planned changes that wait for a person, or
    could not be made."""

    when: str
    at: datetime | None  # of the last whole run
    turns: int  # that have come since
    running: bool
    job: str  # that runs now
    waiting: int
    dead: int
    undecided: int

    def as_json(self) -> dict[str, Any]:
        return {
            "when": self.when,
            "at": rfc3339(self.at) if self.at else None,
            "turns": self.turns,
            "running": self.running,
            "job": self.job,
            "undecided": self.undecided,
            "waiting": self.waiting,
            "dead": self.dead,
        }


def status_of(state: State, spec: Sleeping, *, running: bool = False, job: str = "") -> SleepStatus:
    """What stands in an agent's state of its worker."""
    last, counts = slept(state), state.changes.counts()
    newest = state.database.number("SELECT coalesce(max(turn), 0) FROM turns")
    return SleepStatus(
        when=spec.when,
        at=last.at,
        turns=newest - last.turn,
        running=running,
        job=job,
        waiting=counts.get("pending", 0),
        dead=counts.get("dead", 0),
        undecided=sum(counts.get(each, 0) for each in OPEN if each != "pending"),
    )


def slept(state: State) -> Slept:
    """What is kept of the last whole run."""
    last = kept(state, _SLEPT)
    try:
        return Slept(parse_rfc3339(last["at"]), int(last["turn"]))
    except (KeyError, TypeError, ValueError):
        return Slept(None, 0)


def its_time(state: State, spec: Sleeping, now: datetime) -> bool:
    """Whether an agent's worker should run, by its definition. `now` is in the agent's zone."""
    newest = state.database.number("SELECT coalesce(max(turn), 0) FROM turns")
    last = slept(state)
    if spec.when == "off" or newest <= last.turn:
        return False
    if spec.turns is not None:
        return newest - last.turn >= spec.turns
    if spec.cron is None or last.at is None:
        return True
    assert now.tzinfo is not None
    rule = parse_recurrence(f"cron {spec.cron}", now, past=True)
    return rule.first(last.at, now.tzinfo) <= now


class SleepWorker:
    """`context` makes what a run's jobs are given; `pause` is how long nothing must happen first,
    in seconds."""

    def __init__(
        self,
        context: Callable[[Report], SleepContext],
        jobs: Sequence[Job],
        spec: Sleeping,
        *,
        name: str,
        pause: float = SLEEP_IDLE_SECONDS,
    ) -> None:
        self._context = context
        self._jobs = jobs
        self._spec = spec
        self._name = name
        self._pause = pause
        self._token = CancelToken()
        self._running = threading.Lock()
        self._job = ""
        self._told = threading.Lock()
        self._usage = Usage()
        self._events: list[TraceEvent] = []

    def start(self) -> None:
        """Begin in a while, if its time has come."""
        self.stop()
        if self._spec.when == "off":
            return
        context = self._context(Report())
        if not its_time(context.state, self._spec, context.now()):
            return
        self._token = CancelToken()
        threading.Thread(
            target=self._wait_and_run,
            args=(self._token,),
            name=f"sleep of {self._name}",
            daemon=True,  # a process that ends does not wait: what is due stays due
        ).start()

    def stop(self) -> None:
        """Give way; does not wait."""
        self._token.cancel()

    def join(self) -> None:
        """Wait until nothing runs: after stop(), before the agent closes."""
        with self._running:
            pass

    def collect(self) -> tuple[Usage, list[TraceEvent]]:
        """What was used and done since the last time."""
        with self._told:
            usage, events = self._usage, self._events
            self._usage, self._events = Usage(), []
        return usage, events

    def status(self) -> SleepStatus:
        state = self._context(Report()).state
        return status_of(state, self._spec, running=self._running.locked(), job=self._job)

    def _wait_and_run(self, token: CancelToken) -> None:
        try:
            token.wait(self._pause)
            self.run(token, eager=self._spec.when != "idle")
        except Cancelled:
            pass
        except Exception:  # nobody waits for it; all of it is due again
            _log.warning("the sleep of %s broke off", self._name, exc_info=True)

    def run(self, cancel: CancelToken | None = None, *, eager: bool = True) -> Report:
        """Run every job that is due; those that are `eager` sooner. Raises Cancelled, LostAgent."""
        cancel = cancel or CancelToken()
        report = Report()
        with self._running:
            cancel.check()
            self._token = cancel  # a turn that comes has it give way
            context = replace(self._context(report), eager=eager)
            with context.held():
                newest = context.state.database.number("SELECT coalesce(max(turn), 0) FROM turns")
            try:
                for job in self._jobs:
                    self._run_one(job, context, cancel)
                with context.held(), context.state.database.transaction():
                    last = {"at": rfc3339(context.now()), "turn": newest}
                    context.state.database.set_meta(_SLEPT, json.dumps(last))
            finally:
                self._job = ""
                if report.done:
                    self._note(context)
                self._tell(report)
        return report

    def _run_one(self, job: Job, context: SleepContext, cancel: CancelToken) -> None:
        """As often as it is due and gets on."""
        self._job = job.name
        cancel.check()
        try:
            with context.held():
                due = job.due(context)
            if due:
                job.run(context, cancel)
                cancel.check()
        except (Cancelled, LostAgent):
            raise
        except PagemindError as error:
            if cancel.cancelled:
                raise Cancelled("the next turn has begun") from error
            _log.info("%s of %s: %s", job.name, self._name, error)
            context.report.notes.append(f"{job.name}: {error.message}")
        except Exception as error:  # a fault of ours keeps back no other job, and is not hidden
            if cancel.cancelled:
                raise Cancelled("the next turn has begun") from error
            _log.warning("%s of %s broke off", job.name, self._name, exc_info=True)
            told = f"{job.name}: {type(error).__name__}: {error}"
            context.report.notes.append(" ".join(told.split())[:300])

    @staticmethod
    def _note(context: SleepContext) -> None:
        """Memory is another than it was: a trace that goes on from here begins anew."""
        with context.held(), context.state.database.transaction():
            context.state.database.set_meta(_TENDED, rfc3339(context.now()))

    def _tell(self, report: Report) -> None:
        with self._told:
            self._usage += Usage(report.prompt_tokens, report.completion_tokens)
            if report.done or report.calls or report.notes:
                self._events.append(TraceEvent("slept", report.as_json()))
