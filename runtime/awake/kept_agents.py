"""The agents that a runtime opens by itself: at need, kept while they are used, let go when idle.

One for a runtime: whoever opens agents for each other or for events shares it, so that nobody
closes what another one uses. One that the program around has open already is used and stays open.
Safe from any thread.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pagemind.runtime.agent import Agent
from pagemind.runtime.house import House

_log = logging.getLogger("pagemind.awake")


@dataclass
class _Kept:
    agent: Agent
    ours: bool  # opened here: closed here
    users: int = 0
    since: float = 0.0  # when it was used last


class KeptAgents:
    """Of one runtime."""

    def __init__(self, runtime: House) -> None:
        self._runtime = runtime
        self._kept: dict[str, _Kept] = {}
        self._doors: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    @contextmanager
    def using(self, agent_id: str, opens: Callable[[str], Agent] | None = None) -> Iterator[Agent]:
        """The agent, which stays open until this is left. `opens` gives it by its name; by default
        `runtime.agent(name, create=False)`. Raises what that does."""
        with self._door(agent_id):
            kept = self._kept.get(agent_id)
            if (
                kept is None or kept.agent.closed or not self._runtime.is_open(agent_id)
            ):  # somebody closed it
                ours = not self._runtime.is_open(agent_id)
                name = self._runtime.home.of_id(agent_id).name
                agent = opens(name) if opens else self._runtime.agent(name, create=False)
                kept = _Kept(agent, ours)
                self._kept[agent_id] = kept
            with self._lock:
                kept.users += 1
        try:
            yield kept.agent
        finally:
            with self._lock:
                kept.users -= 1
                kept.since = self._runtime.clock.monotonic()

    def _door(self, agent_id: str) -> threading.Lock:
        """Who opens or closes an agent holds up nobody who wants another."""
        with self._lock:
            return self._doors.setdefault(agent_id, threading.Lock())

    def let_go_idle(self, seconds: float) -> None:
        """Close what was not used for so long. In threads: what runs in an agent's idle, a flush,
        is waited for there."""
        now = self._runtime.clock.monotonic()
        for agent_id, kept in list(self._kept.items()):
            if not kept.users and now - kept.since >= seconds:
                threading.Thread(
                    target=self.let_go, args=(agent_id,), name=f"closes {agent_id}", daemon=True
                ).start()

    def close(self) -> None:
        """Let go what nobody uses."""
        for agent_id in list(self._kept):
            self.let_go(agent_id)

    def let_go(self, agent_id: str) -> None:
        """Close one that was opened here, unless it is being used."""
        with self._door(agent_id):
            kept = self._kept.get(agent_id)
            if kept is None or kept.users:
                return
            del self._kept[agent_id]
            if not kept.ours:
                return
            try:
                kept.agent.close()
            except Exception:  # the agent is sound on disk; here is nobody to tell
                _log.warning("%s could not be closed in order", kept.agent.name, exc_info=True)
