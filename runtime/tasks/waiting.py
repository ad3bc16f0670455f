"""Waiting in a task: until a time. What wakes its agent meanwhile, timers and mail, comes to it.

The task holds its agent, so nobody else could pass that on. An event's turn has the event's id
(state/mailbox.py): it is handled once, whenever a process is killed. With a simulated clock
(`clock:` in the file) nobody waits: the clock is moved to each timer that is due, and to the end.
"""

from datetime import datetime
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.awake.fate import after_error
from pagemind.runtime.awake.timekeeper import Timekeeper
from pagemind.runtime.clock import SimulatedClock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.recurrence import parse
from pagemind.runtime.settings import TASK_LOOK_SECONDS
from pagemind.runtime.state.ledger import Spent
from pagemind.runtime.state.mailbox import Mail, Mailbox
from pagemind.runtime.state.schedules import Schedules
from pagemind.runtime.tasks.failing import ActionFailed
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.saying import Consenting, held_to
from pagemind.runtime.turn import TurnResult


class Waiting:
    """Of one agent, for one action. A call that wants consent is asked about by `consenting`."""

    def __init__(self, job: Job, agent: Agent, action: Action, consenting: Consenting) -> None:
        self._job = job
        self._agent = agent
        self._action = action
        self._consenting = consenting
        database = job.ledger.database
        self._mailbox = Mailbox(database, job.clock)
        self._schedules = Schedules(database, job.clock)
        self._timers = Timekeeper(self._schedules, self._mailbox, job.clock, {agent.id})
        self._spent = Spent()

    def time_of(self, text: str) -> str:
        """When it is over, as the ledger has it. Raises ActionFailed for what is no time."""
        now = self._job.clock.now().astimezone(self._agent.zone)
        try:
            until = parse(text, now, past=True)
            if until.kind != "at":
                raise ValueError(f"{text!r} is again and again: give one time, or `in 10 minutes`")
        except ValueError as fault:
            raise ActionFailed(str(fault)) from None
        return rfc3339(until.first(now, self._agent.zone))

    def until(self, held: dict[str, Any], purse: Purse, spent: Spent) -> None:
        """Wait, and have the agent handle what comes. Raises ActionFailed, Waits, Cancelled."""
        end, self._spent = parse_rfc3339(held["until"]), spent
        while True:
            self._pass_on(held, purse)
            left = (end - self._job.clock.now()).total_seconds()
            if left <= 0:
                return
            self._sleep(end, left)

    def is_over(self, held: dict[str, Any]) -> None:
        """Also where it was over before this process began."""
        self._forward(parse_rfc3339(held["until"]))

    def spent(self, ms: float) -> Spent:
        """What the turns took that were run meanwhile."""
        spent = self._spent
        return Spent(spent.steps, spent.usage, spent.cost, spent.unpriced, ms)

    def _sleep(self, end: datetime, left: float) -> None:
        due = [one.due_at for one in self._schedules.of(self._agent.id) if one.due_at]
        following = min([end, *due])
        self._job.check()
        if not self._forward(following):
            seconds = (following - self._job.clock.now()).total_seconds()
            self._job.wait(max(0.0, min(seconds, left, TASK_LOOK_SECONDS)))

    def _forward(self, to: datetime) -> bool:
        clock = self._job.clock
        if isinstance(clock, SimulatedClock) and clock.simulated:
            clock.simulate(to)
            return True
        return False

    def _pass_on(self, held: dict[str, Any], purse: Purse) -> None:
        for fired in self._timers.fire_due():
            self._job.tell("timer_fired", timer=fired.timer, due=rfc3339(fired.due))
        for mail in self._mailbox.all(self._agent.id, aside=False):
            self._job.check()
            try:
                turn = self._handled(mail, purse)
            except PagemindError as refused:
                self._put_aside(mail, refused)
                continue
            self._count(turn)
            if turn.stop_reason == "interrupted":
                self._job.cancel.check()
            if turn.stop_reason == "model_error":
                error = turn.error
                raise ActionFailed(
                    error.message if error is not None else "; ".join(turn.reasons),
                    {**held, "resumes": True},
                    resumes=True,
                    waits=error is None or error.retryable,
                )
            self._mailbox.take(mail.number)

    def _handled(self, mail: Mail, purse: Purse) -> TurnResult:
        agent, cancel = self._agent, self._job.cancel
        with held_to(self._job, agent, self._action, purse):
            turn = agent.handle(mail.event, cancel=cancel)
            while turn.stop_reason == "approval" and (request := agent.pending()) is not None:
                agent.approve(self._consenting(request), cancel=cancel)
                turn = agent.handle(mail.event, cancel=cancel)
        return turn

    def _put_aside(self, mail: Mail, error: PagemindError) -> None:
        """As the keeper does: what fails for itself must not end the task, now and ever after.
        Raises the error where it is another's."""
        fate = after_error(error, opened=True, tries=mail.tries, failures=0)
        if fate.kind != "aside":
            raise error
        self._mailbox.note(mail.number, fate.why, aside=True)
        what = f"{type(mail.event).__name__} {mail.id} is put aside: {fate.why}"
        self._job.tell("warning", input=self._agent.name, reason=what)

    def _count(self, turn: TurnResult) -> None:
        cost, unpriced = turn.cost, int(not turn.cost_known)
        self._spent += Spent(turn.steps, turn.usage, cost, unpriced)
