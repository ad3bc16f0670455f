"""The keeper: runs the turns of a home's agents for the events that come for them.

    with Keeper(runtime) as keeper:
        future = keeper.submit("ada", UserMessage("The kettle boils."), observer=print)
        print(future.result().text)

One turn an agent at a time, in order of arrival; up to `at_once` agents together. An event is on
disk (state/mailbox.py) from submit() until its turn has ended, and its turn has its id: it is
handled once, also where the process is killed at any instant or stopped; the next keeper of the
home goes on with it.

submit(agent, event, id=, observer=, cancel=) → Future[TurnResult]. It raises UnknownAgent,
    UserError for an id under which another event waits, and Cancelled once it was stopped. The
    future has the result of the turn, also of one that a failing model ended, or the error; the
    event is over then. `future.cancel()` takes back what has not begun; `cancel` stops a turn that
    runs (it ends `interrupted`).
leave(agent, event, id=) → Mail. Nobody waits: what fails is tried again, with a rest that grows, or
    put aside with the reason. `Runtime` users in other processes leave mail the same way
    (`Mailbox(runtime.home.database, runtime.clock).put`); a keeper finds it within half a second.
using(agent): the agent, open until the `with` is left, for what is no turn (search, insert).
stop(grace): no turn begins any more; those that run may end within `grace` seconds and are then cut
    off soundly. What was not done stays in the mailbox; its futures get Cancelled.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from pagemind.runtime.agent import Agent
from pagemind.runtime.awake.attempt import Attempts, Outcome, Work
from pagemind.runtime.awake.callers import Caller, Callers
from pagemind.runtime.awake.events import AwakeEvent, Kind, Tell, untold
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import Cancelled, PagemindError, UnknownAgent
from pagemind.runtime.event import Event
from pagemind.runtime.naming import checked_name
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import (
    KEEPER_AT_ONCE,
    KEEPER_CUT_SECONDS,
    KEEPER_GRACE_SECONDS,
    KEEPER_IDLE_SECONDS,
    KEEPER_LOOK_SECONDS,
    KEEPER_RETRY_SECONDS,
)
from pagemind.runtime.state.mailbox import Mail, Mailbox
from pagemind.runtime.trace import Observer, ignore
from pagemind.runtime.turn import TurnResult

_log = logging.getLogger("pagemind.awake")
_STOPPED = "stopped before it was done; it waits in the mailbox"
_GONE = "the event is gone: its agent was deleted, or another process handled it"


@dataclass
class _Rest:
    """An agent rests until then, after so many failures in a row. `strict`: also from what
    somebody waits for."""

    until: float = 0.0
    failures: int = 0
    why: str = ""
    strict: bool = False


class Keeper:
    """`only`: names of the agents it keeps, by default all; `takes_mail` False: only what was
    submitted to it, and nothing that others left. `opens` gives an agent by its name; `tell` is
    told what happens. Turns run from start() on, or from entering it as a context."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        at_once: int = KEEPER_AT_ONCE,
        only: Collection[str] | None = None,
        takes_mail: bool = True,
        opens: Callable[[str], Agent] | None = None,
        tell: Tell = untold,
        idle_seconds: float = KEEPER_IDLE_SECONDS,
    ) -> None:
        self.runtime = runtime
        self.mailbox = Mailbox(runtime.home.database, runtime.clock)
        self._at_once = at_once
        self._only = None if only is None else {self._id(name) for name in only}
        self._takes_mail = takes_mail
        self._agents = runtime.post.kept  # shared with those who write to each other
        self._opens = opens
        self._attempts = Attempts(runtime, self._agents, opens, self._say)
        self._idle_seconds = idle_seconds
        self._tell = tell
        self._callers = Callers()
        self._busy: dict[str, Work | None] = {}  # agents in a turn, or being opened for one
        self._rests: dict[str, _Rest] = {}
        self._lock = threading.RLock()
        self._calm = threading.Condition(self._lock)  # notified when a turn has ended
        self._notice = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None

    # --- what callers use -----------------------------------------------------------------------

    def submit(
        self,
        agent: str,
        event: Event,
        *,
        id: str | None = None,
        observer: Observer = ignore,
        cancel: CancelToken | None = None,
    ) -> "Future[TurnResult]":
        """Have an event handled; see the head of this file."""
        caller = Caller(self._id(agent), Future(), observer, cancel or CancelToken())
        with self._lock:
            if self._stopping:
                raise Cancelled("the keeper was stopped; nothing more is taken in")
            mail = self.mailbox.put(caller.agent, event, id)
            self._callers.add(mail.number, caller)
        self._notice.set()
        return caller.future

    def leave(self, agent: str, event: Event, *, id: str | None = None) -> Mail:
        """Leave an event for an agent; nobody waits for it. Raises as submit()."""
        mail = self.mailbox.put(self._id(agent), event, id)
        self._notice.set()
        return mail

    @contextmanager
    def using(self, agent: str) -> Iterator[Agent]:
        """The agent, open meanwhile. Raises what opening it does."""
        with self._agents.using(self._id(agent), self._opens) as opened:
            yield opened

    def wake(self) -> None:
        """Look now: something was left."""
        self._notice.set()

    @property
    def running(self) -> int:
        """Turns that run now."""
        with self._lock:
            return len(self._busy)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._watch, name="keeper", daemon=True)
        self._thread.start()

    def stop(self, grace: float = KEEPER_GRACE_SECONDS) -> bool:
        """Whether every turn ended in time. Idempotent."""
        with self._calm:
            self._stopping = True
            self._notice.set()
            if not self._calm.wait_for(lambda: not self._busy, timeout=grace):
                for work in self._busy.values():
                    if work is not None:
                        work.cut = True
                        work.cancel.cancel()
            ended = self._calm.wait_for(lambda: not self._busy, timeout=KEEPER_CUT_SECONDS)
            waiting = self._callers.pop_all()
        if self._thread is not None:
            self._thread.join()
        for caller in waiting:
            caller.end(None, Cancelled(_STOPPED))
        self._agents.close()
        return ended

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _id(self, name: str) -> str:
        return self.runtime.home.find(checked_name(name)).id

    # --- who is next ----------------------------------------------------------------------------

    def _watch(self) -> None:
        """The thread of the keeper: it gives turns to agents, and waits for a notice."""
        said = ""
        while not self._stopping:
            self._notice.clear()
            try:
                self._give_turns()
                self._agents.let_go_idle(self._idle_seconds)
                said = ""
            except PagemindError as error:  # the home's disk: it may come back
                if error.message != said:
                    said = error.message
                    self._say("warning", why=said)
            except Exception:
                _log.exception("the keeper goes on")
            if not self._notice.wait(KEEPER_LOOK_SECONDS):
                self._tell_of_lost()

    def _give_turns(self) -> None:
        with self._lock:
            for agent_id, number in self._next():
                if self._stopping or len(self._busy) >= self._at_once:
                    return
                turn = threading.Thread(
                    target=self._work, args=(agent_id, number), name=f"turn {number}", daemon=True
                )
                self._busy[agent_id] = None
                try:
                    turn.start()
                except BaseException:  # the machine has no more threads now
                    del self._busy[agent_id]
                    raise

    def _next(self) -> list[tuple[str, int]]:
        """Agents that may begin a turn now, each with the event that is next. One whose model
        failed rests, but not from what somebody waits for."""
        now = self.runtime.clock.monotonic()
        free = []
        for agent_id, first in self.mailbox.firsts():
            if agent_id in self._busy or (self._only is not None and agent_id not in self._only):
                continue
            rest = self._rests.get(agent_id)
            rests = rest is not None and rest.until > now
            if rests and rest is not None and rest.strict:
                continue
            number = first if self._takes_mail and not rests else self._callers.first_of(agent_id)
            if number is not None:
                free.append((agent_id, number))
        return free

    def _tell_of_lost(self) -> None:
        """Whose event is gone with its agent need not wait for ever."""
        with self._lock:
            running = {work.mail.number for work in self._busy.values() if work is not None}
            lost = [n for n in self._callers.numbers() if n not in running]
            for number in lost:
                if self.mailbox.get(number) is None:
                    self._end(number, None, UnknownAgent(_GONE))

    # --- a turn ---------------------------------------------------------------------------------

    def _work(self, agent_id: str, number: int) -> None:
        """A thread: one event of one agent."""
        try:
            mail = self.mailbox.get(number)
            if mail is None:
                self._end(number, None, UnknownAgent(_GONE))
            else:
                self._one(mail)
        except Exception as error:  # the home cannot be read or written: the event is still there
            _log.exception("event %d", number)
            with self._lock:
                rest = self._rests.setdefault(agent_id, _Rest())
                known, rest.why, rest.strict = rest.why, str(error), True
                rest.until = self.runtime.clock.monotonic() + KEEPER_RETRY_SECONDS[1] / 10
            if known != str(error):
                self._say("warning", why=str(error))
        finally:
            with self._calm:
                self._busy.pop(agent_id, None)
                self._calm.notify_all()
            self._notice.set()

    def _one(self, mail: Mail) -> None:
        with self._lock:
            rest = self._rests.setdefault(mail.agent, _Rest())
            work = Work(mail, self._callers.of(mail.number))
            self._busy[mail.agent] = work
            if self._stopping:
                return
        outcome = self._attempts.run(work, rest.failures)
        result = outcome.result
        if work.cut and (result is None or result.stop_reason == "interrupted"):
            self._end(mail.number, None, Cancelled(_STOPPED), keep=True)
        else:
            self._settle(work, rest, outcome)

    def _settle(self, work: Work, rest: _Rest, outcome: Outcome) -> None:
        """What becomes of the event, and when its agent is tried again."""
        mail, fate = work.mail, outcome.fate
        if fate.kind == "done" or (work.callers and fate.kind != "busy"):
            self._end(mail.number, outcome.result, outcome.fault)
            if fate.kind == "done":
                self._wakes(mail.agent)
            return
        if fate.kind == "aside":
            self.mailbox.note(mail.number, fate.why, aside=True)
            self._say("put_aside", **self._attempts.of(mail), why=fate.why)
            self._wakes(mail.agent)
            return
        if fate.kind == "again":
            self.mailbox.note(mail.number, fate.why, tried=fate.tried)
            rest.failures += fate.tried
        if fate.why != rest.why:  # once, not at every try
            self._say("waits", **self._attempts.of(mail), why=fate.why, seconds=fate.seconds)
        rest.why, rest.strict = fate.why, fate.kind == "busy"
        rest.until = self.runtime.clock.monotonic() + fate.seconds

    def _wakes(self, agent_id: str) -> None:
        with self._lock:
            self._rests.pop(agent_id, None)

    def _end(
        self,
        number: int,
        result: TurnResult | None,
        fault: Exception | None,
        *,
        keep: bool = False,
    ) -> None:
        """Its callers get what it came to, once the disk has it."""
        with self._lock:
            if not keep:
                self.mailbox.take(number)
            callers = self._callers.pop(number)
        for caller in callers:
            caller.end(result, fault)

    def _say(self, happened: Kind, /, **data: Any) -> None:
        self._tell(AwakeEvent(happened, rfc3339(self.runtime.clock.now()), data))
