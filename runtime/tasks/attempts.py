"""Attempts: an action is tried as its policy allows, each attempt noted before it begins.

What the ledger has as done is not done again: its result is given. An attempt in which a process
died is taken up with what it began with, so that the same is said again to the same turn.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from pagemind.runtime.errors import Cancelled
from pagemind.runtime.person import ApprovalRequest, Consent
from pagemind.runtime.settings import TASK_RETRY_MAX_SECONDS, TASK_RETRY_SECONDS
from pagemind.runtime.state.ledger import ActionRow, Spent
from pagemind.runtime.state.task_questions import About
from pagemind.runtime.tasks.asking import FAILED, wants
from pagemind.runtime.tasks.failing import STOPS, ActionFailed, GivenUp, TaskStopped, Waits
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.parts import Bounds, OnError
from pagemind.runtime.tasks.purse import Purse

Result = dict[str, Any]


def _by_time(ms: float) -> Spent:
    return Spent(ms=ms)


def _nothing(why: str) -> Result:
    return {}


@dataclass(frozen=True)
class Doing:
    """An action at its place. `prepare` gives what an attempt begins with (`why`: what was wrong
    with the one before); `perform` does it, told whether a process was cut off in it; `spent` is
    what all attempts took, given their milliseconds; `accounted`: the purses know it already;
    `alone` is held from the beginning of an attempt until the ledger has what it did."""

    place: str
    kind: str
    policy: OnError
    perform: Callable[[ActionRow, bool, Purse], Result]
    prepare: Callable[[str], Result] = _nothing
    spent: Callable[[float], Spent] = _by_time
    bounds: Bounds = field(default_factory=Bounds)
    accounted: bool = False
    tries: int = 1  # trying again what asks no model and no function changes nothing
    alone: Callable[[], AbstractContextManager[object]] = nullcontext


class Attempts:
    """The attempts at the actions of one input."""

    def __init__(self, job: Job, key: str, label: str, purse: Purse) -> None:
        self._job = job
        self._key = key
        self._label = label
        self._purse = purse

    def result(self, doing: Doing) -> Result:
        """What the action came to. Raises GivenUp, TaskStopped, Waits, Cancelled."""
        row = self._job.ledger.action(self._job.id, self._key, doing.place)
        if row is not None and row.status == "done" and row.kind == doing.kind:
            return dict(row.result)
        spent = row.spent if row is not None else Spent()
        purse = self._purse.of("action", doing.bounds, spent)
        number, held, cut_off = _taken_up(row, doing.kind)
        why = ""
        tried, tries = 0, doing.tries
        if row is not None and row.status == "failed" and self._waits(doing):
            self._ask(doing, row.error)
        while True:
            tried += 1
            self._afford(purse, doing)
            begun = self._job.clock.monotonic()
            try:
                with doing.alone():
                    begun = self._job.clock.monotonic()
                    row, done = self._attempt(doing, number, held, why, cut_off, purse)
                    now = self._took(doing, spent, begun)
                    self._note_done(doing, done, now)
            except (Cancelled, KeyboardInterrupt):
                self._note(doing, "running", None, "", self._took(doing, spent, begun))
                raise
            except Waits as waits:
                now = self._took(doing, spent, begun)
                self._note(doing, "waiting" if waits.untouched else "running", None, "", now)
                self._account(doing, purse, spent, now)
                raise
            except ActionFailed as failed:
                now = self._took(doing, spent, begun)
                self._failed(doing, number, failed, now)
                spent = self._account(doing, purse, spent, now)
                if failed.fatal:
                    raise TaskStopped(failed.reason, failed.hint, fatal=True) from None
                self._afford(purse, doing)
                if tried == tries and doing.policy.last == "ask":
                    self._ask(doing, failed.reason)
                    tries += doing.tries
                elif tried == tries:
                    raise self._end(doing, failed.reason) from None
                why = failed.reason if failed.again else ""
                held = failed.result if failed.resumes else None
                number += 0 if failed.resumes else 1
                cut_off = False
                if failed.waits:
                    wait = min(TASK_RETRY_SECONDS * 2 ** (tried - 1), TASK_RETRY_MAX_SECONDS)
                    self._job.wait(wait)
            else:
                self._account(doing, purse, spent, now)
                self._tell_done(doing, now)
                return done

    def _attempt(
        self,
        doing: Doing,
        number: int,
        held: Result | None,
        why: str,
        cut_off: bool,
        purse: Purse,
    ) -> tuple[ActionRow, Result]:
        job, key = self._job, self._key
        fault: ActionFailed | None = None
        if held is None:
            try:
                held = doing.prepare(why)
            except ActionFailed as failed:
                held, fault = {}, failed
        job.tell(
            "action_started",
            input=self._label,
            place=doing.place,
            action=doing.kind,
            attempt=number,
        )
        row = job.ledger.begin_action(job.id, key, doing.place, doing.kind, number, held)
        if fault is not None:
            raise fault
        return row, doing.perform(row, cut_off, purse)

    # --- how it went ----------------------------------------------------------------------------

    def _note_done(self, doing: Doing, done: Result, spent: Spent) -> None:
        with self._job.ledger.transaction(durable=False):
            self._note(doing, "done", done, "", spent)
            if "length" in done:  # what was written counts with its action, or not at all
                path, start, length = done["path"], done["start"], done["length"]
                self._job.outputs.note(path, start, length)

    def _failed(self, doing: Doing, number: int, failed: ActionFailed, spent: Spent) -> None:
        self._note(doing, "failed", failed.result, failed.reason, spent)
        self._job.tell(
            "action_failed",
            input=self._label,
            place=doing.place,
            action=doing.kind,
            attempt=number,
            reason=failed.reason,
        )

    def _tell_done(self, doing: Doing, spent: Spent) -> None:
        self._job.tell(
            "action_done",
            input=self._label,
            place=doing.place,
            action=doing.kind,
            tokens=spent.tokens,
            cost=spent.cost,
        )

    def _note(self, doing: Doing, status: str, result: Any, error: str, spent: Spent) -> None:
        job = self._job
        if status in ("running", "waiting"):  # what it began with is what it is taken up with
            row = job.ledger.action(job.id, self._key, doing.place)
            if row is None or row.status not in ("running", "waiting"):
                return
            status = "waiting" if row.status == "waiting" else status
            result = row.result
        job.ledger.end_action(job.id, self._key, doing.place, status, result, error, spent)

    def _took(self, doing: Doing, before: Spent, begun: float) -> Spent:
        return doing.spent(before.ms + (self._job.clock.monotonic() - begun) * 1000)

    def _account(self, doing: Doing, purse: Purse, before: Spent, now: Spent) -> Spent:
        """Take what is new from every purse."""
        if not doing.accounted:
            purse.add(now - before)
        return now

    # --- what then ------------------------------------------------------------------------------

    def _afford(self, purse: Purse, doing: Doing) -> None:
        """Raises TaskStopped or GivenUp where a budget is spent."""
        over = purse.over()
        if over is None:
            return
        level, told = over
        if level == "task":
            raise TaskStopped(told, "raise it in the file and go on with --continue", limit=True)
        raise self._end(doing, told)

    def _ask(self, doing: Doing, reason: str) -> None:
        """Raises GivenUp, TaskStopped or Waits unless it is tried again."""
        choice = self.choose(doing.place, "failed", f"failed: {reason}", FAILED)
        if choice == "skip":
            raise GivenUp(f"{doing.place}: {reason}")
        if choice == "stop":
            raise TaskStopped(f"{self._where(doing.place)}: {reason}", "a person said stop")

    def _waits(self, doing: Doing) -> bool:
        """Whether somebody was asked about it before, and is to be asked."""
        place, asks = doing.place, doing.policy.last == "ask"
        question = self._job.ledger.questions.of(self._job.id, self._key)
        same = question is not None and (question.place, question.about) == (place, "failed")
        return asks and same

    def choose(
        self, place: str, about: About, text: str, choices: tuple[str, ...], *, ends: bool = False
    ) -> str:
        """What a person says. Raises Waits."""
        job, where = self._job, self._where(place)
        return job.asking.choose(
            job.ledger, job.id, self._key, place, about, f"{where} {text}", choices, ends=ends
        )

    def consent(self, place: str, request: ApprovalRequest, *, ends: bool) -> Consent:
        """Whether a call may be made. Raises Waits."""
        job = self._job
        text = f"{self._where(place)} {wants(request.name, request.arguments)}"
        job.ledger.set_asked(job.id, self._key, place, True)
        consent = job.asking.consent(job.ledger, job.id, self._key, place, text, request, ends=ends)
        job.ledger.set_asked(job.id, self._key, place, False)
        return consent

    def _where(self, place: str) -> str:
        return f"{self._label}: {place}" if self._label else place

    def _end(self, doing: Doing, reason: str) -> GivenUp | TaskStopped:
        """By the policy: the input is given up, or the task."""
        if doing.policy.last == "stop":
            return TaskStopped(f"{self._where(doing.place)}: {reason}", STOPS)
        return GivenUp(f"{doing.place}: {reason}")


def _taken_up(row: ActionRow | None, kind: str) -> tuple[int, Result | None, bool]:
    """The number of the attempt, what it begins with if that is known, and whether a process was
    cut off in it."""
    if row is None:
        return 1, None, False
    if row.kind != kind:  # another action stands there since the file was changed
        return row.attempt + 1, None, False
    if row.status == "running":
        return row.attempt, row.result or None, True
    if row.status == "waiting":
        return row.attempt, row.result or None, False
    if isinstance(row.result, dict) and row.result.get("resumes"):
        return row.attempt, row.result, False
    return row.attempt + 1, None, False
