"""The post of a home: carries messages between its agents, for all agents of one process.

deliver() runs a turn of the other agent here and now: an agent that is not open is opened for it
and let go after it. leave() puts a message into the mailbox, where the keeper of `pagemind up`, or
whoever empties it, finds it.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pagemind.runtime.agent import Agent
from pagemind.runtime.awake.kept_agents import KeptAgents
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errand import Errand
from pagemind.runtime.errors import AgentInUse, Cancelled
from pagemind.runtime.house import House
from pagemind.runtime.message import TRUST
from pagemind.runtime.settings import AGENT_BUSY_SECONDS
from pagemind.runtime.state.chains import Chains
from pagemind.runtime.state.home import AgentLock
from pagemind.runtime.state.mailbox import Mailbox
from pagemind.runtime.state.state import State
from pagemind.runtime.state.waits import Waits
from pagemind.runtime.turn import TurnResult

_log = logging.getLogger("pagemind.together")
_LOOK_SECONDS = 0.25


class Post:
    """One for a runtime, which closes it before its agents."""

    def __init__(self, runtime: House) -> None:
        self.runtime = runtime
        home = runtime.home
        self.chains = Chains(home.database, runtime.clock)
        self.mailbox = Mailbox(home.database, runtime.clock)
        self.waits = Waits(home.database, lambda id: AgentLock(home.folder(id), id).held())
        self.kept = KeptAgents(runtime)
        self._leaving: list[threading.Thread] = []

    def deliver(
        self, agent_id: str, errand: Errand, text: str, cancel: CancelToken, seconds: float
    ) -> tuple[TurnResult, int]:
        """The turn that answers a message, and how far what it said is trusted. Raises AgentInUse
        for an agent that is busy for too long, Cancelled, and what opening it or its turn raises.
        """
        clock = self.runtime.clock
        until = clock.monotonic() + min(seconds, AGENT_BUSY_SECONDS)
        while True:
            cancel.check()
            with self._open(agent_id, cancel, until) as agent:
                while not agent.hold(_LOOK_SECONDS):
                    cancel.check()
                    if clock.monotonic() > until:
                        raise AgentInUse(f"{agent.name} is busy with something else")
                try:
                    if not agent.closed:  # by somebody else, while it was waited for
                        turn = agent.handle(errand.event(text), cancel=cancel)
                        return turn, said_trust(agent.state, turn.turn)
                finally:
                    agent.release()

    @contextmanager
    def _open(self, agent_id: str, cancel: CancelToken, until: float) -> Iterator[Agent]:
        with self._opened(agent_id, cancel, until) as agent:
            yield agent
        self._let_go(agent_id)

    @contextmanager
    def _opened(self, agent_id: str, cancel: CancelToken, until: float) -> Iterator[Agent]:
        """Open, also where another process has it now and lets it go in time."""
        while True:
            using = self.kept.using(agent_id)
            try:
                agent = using.__enter__()
                break
            except AgentInUse:
                if self.runtime.clock.monotonic() > until:
                    raise
                cancel.wait(_LOOK_SECONDS)
        try:
            yield agent
        finally:
            using.__exit__(None, None, None)

    def _let_go(self, agent_id: str) -> None:
        """Not here: what the agent does in its idle, a flush, is waited for when it is closed."""
        self._leaving = [each for each in self._leaving if each.is_alive()]
        leaving = threading.Thread(target=self.kept.let_go, args=(agent_id,), daemon=True)
        self._leaving.append(leaving)
        leaving.start()

    def leave(self, agent_id: str, errand: Errand, text: str) -> int:
        """Put a message into the mailbox; how many wait there for that agent."""
        self.mailbox.put(agent_id, errand.event(text))
        return len(self.mailbox.all(agent_id, aside=False))

    def close(self) -> None:
        """Wait until every agent that was opened here is let go. Idempotent."""
        for leaving in self._leaving:
            leaving.join()
        self.kept.close()


def said_trust(state: State, turn: int) -> int:
    """That of what an agent said in a turn, for another one."""
    said = (m for m in state.journal.of_turn(turn) if m.role == "assistant")
    return min((m.provenance.trust for m in said), default=TRUST["agent"])


class Until(CancelToken):
    """Is set when another one is, or when its time is over."""

    def __init__(self, other: CancelToken | None, runtime: House, seconds: float) -> None:
        super().__init__()
        self._other = other
        self._clock = runtime.clock
        self._end = runtime.clock.monotonic() + seconds

    @property
    def late(self) -> bool:
        return self._clock.monotonic() > self._end

    @property
    def cancelled(self) -> bool:
        stopped = self._other is not None and self._other.cancelled
        return super().cancelled or stopped or self.late

    def check(self) -> None:
        if self.cancelled:
            raise Cancelled("stopped")

    def wait(self, seconds: float) -> None:
        while seconds > 0:
            self.check()
            super().wait(min(seconds, _LOOK_SECONDS))
            seconds -= _LOOK_SECONDS
        self.check()
