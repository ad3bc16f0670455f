"""The timekeeper: lets timers fire, each time once.

A firing puts an event into the mailbox, whose id is made of the timer, how often it has fired and
the time it was due, and moves the timer on, in one transaction: after a kill it is as if it had not
begun, or all of it is done. What was missed comes to one event that counts it; so does what falls
due while the last firing still waits for its agent. The clock may jump: forward, that is a sleep;
back, a timer is due again no later than it would be if it had just been set.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.event import TimerFired
from pagemind.runtime.message import TRUST
from pagemind.runtime.settings import SUMMARY_TRUST, TIMER_MISSED_MOST
from pagemind.runtime.state.mailbox import Mailbox
from pagemind.runtime.state.schedules import Schedule, Schedules
from pagemind.runtime.template import load

_BACK = timedelta(days=1)  # a cron timer that fired for a later time waits no longer than this


@dataclass(frozen=True, slots=True)
class Fired:
    """`agent` is the agent's id, `timer` what the timer is called."""

    agent: str
    timer: str
    due: datetime
    missed: int


class Timekeeper:
    """Of a home; `only` these agents, by id."""

    def __init__(
        self,
        schedules: Schedules,
        mailbox: Mailbox,
        clock: Clock,
        only: Collection[str] | None = None,
    ) -> None:
        self._schedules = schedules
        self._mailbox = mailbox
        self._clock = clock
        self._only = only
        self._looked: datetime | None = None

    def fire_due(self) -> list[Fired]:
        """Let every timer fire that is due."""
        now = self._clock.now()
        if self._looked is None or now < self._looked:
            self._clock_went_back(now)
        self._looked = now
        found = []
        for one in self._schedules.due(now):
            if self._only is None or one.agent in self._only:
                fired = self._fire(one, now)
                if fired is not None:
                    found.append(fired)
        return found

    def seconds_to_next(self) -> float | None:
        """Until a timer is due; None for never."""
        due = self._schedules.next_due()
        return None if due is None else max(0.0, (due - self._clock.now()).total_seconds())

    def _fire(self, one: Schedule, now: datetime) -> Fired | None:
        with self._schedules.transaction():
            current = self._schedules.get(one.agent, one.number)
            if current is None or current.due_at != one.due_at or current.due_at is None:
                return None  # cancelled or changed meanwhile
            if self._mailbox.waits(one.agent, f"timer {one.id} "):
                return None  # it goes on when that was handled, and then says what was missed
            due, passed = current.due_at, current.recurrence.passed(current.due_at, now, one.place)
            self._mailbox.put(
                one.agent,
                TimerFired(
                    one.called,
                    self._text(current, due, passed.latest, passed.missed),
                    trust=_trust(current),
                ),
                f"timer {one.id} {current.fired + 1} {rfc3339(due)}",
            )
            self._schedules.note_fired(current, passed.latest, passed.next)
        return Fired(one.agent, one.called, passed.latest, passed.missed)

    def _text(self, one: Schedule, first: datetime, due: datetime, missed: int) -> str:
        def told(at: datetime) -> str:
            return f"{at.astimezone(one.place):%a %Y-%m-%d %H:%M %Z}"

        if not missed:
            return load("timer").fill(message=one.message, due=told(due)).strip()
        count = f"{missed:,} or more" if missed >= TIMER_MISSED_MOST else f"{missed:,}"
        filled = load("timer_missed").fill(
            message=one.message, due=told(due), count=count, first=told(first)
        )
        return filled.strip()

    def _clock_went_back(self, now: datetime) -> None:
        for one in self._schedules.of():
            if one.due_at is None:
                continue
            rule = one.recurrence
            if rule.kind == "every":
                again = rule.first(now, one.place)
                if again < one.due_at:
                    self._schedules.set_due(one, again)
            elif rule.kind == "cron" and one.fired_for is not None and one.fired_for - now > _BACK:
                self._schedules.set_due(one, rule.first(now, one.place))


def _trust(one: Schedule) -> int:
    """A tainted step sets no timer; what an agent sets is trusted as little as any other one."""
    return SUMMARY_TRUST if one.made_by == "agent" else TRUST["runtime"]
