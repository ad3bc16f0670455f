"""Sleepers: lets the sleep-time workers of a home's agents run when their time has come.

Agents that are talked to see to it themselves; here are those at rest: what was said while nobody
stayed for the worker, and those whose definition gives a cron line. One at a time, and never
instead of a turn: a turn that comes has it give way.
"""

import logging
import threading
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any

from pagemind.runtime.acceptance import definition_of
from pagemind.runtime.awake.events import Kind
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import AgentInUse, Cancelled, PagemindError
from pagemind.runtime.made_of import zone_of
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import SLEEP_IDLE_SECONDS
from pagemind.runtime.sleep.worker import its_time
from pagemind.runtime.state.state import State

_log = logging.getLogger("pagemind.awake")
_REST = timedelta(seconds=SLEEP_IDLE_SECONDS)
Using = Callable[[str], Any]  # a context manager that gives the open agent of a name


class Sleepers:
    """Of one home. `tell` is given what happened."""

    def __init__(
        self,
        runtime: Runtime,
        using: Using,
        tell: Callable[..., None],
        only: Collection[str] | None = None,
    ) -> None:
        self._runtime = runtime
        self._using = using
        self._tell = tell
        self._only = only
        self._token = CancelToken()
        self._tried: dict[str, str] = {}  # agent → what it was like when that came to nothing

    def due(self) -> list[str]:
        """The names of agents whose worker's time has come."""
        found = []
        for registered in self._runtime.home.all():
            if self._only is not None and registered.id not in self._only:
                continue
            try:
                state = State(
                    self._runtime.home.folder(registered.id), self._runtime.clock, read_only=True
                )
            except PagemindError:  # of another version, or gone: opening it says so
                continue
            try:
                if self._is_due(registered.id, state):
                    found.append(registered.name)
            except PagemindError:
                continue
            finally:
                state.close()
        return found

    def _is_due(self, agent_id: str, state: State) -> bool:
        definition = definition_of(state.database)
        now = state.clock.now().astimezone(zone_of(definition))
        if not its_time(state, definition.sleep, now):
            return False
        newest = next(iter(state.turns.newest(1)), None)
        if newest is None or newest.ended_at is None or now - newest.ended_at < _REST:
            return False
        return self._tried.get(agent_id) != str(newest.turn)

    def run(self, stop: threading.Event) -> None:
        """Let every one that is due sleep, one after another."""
        for name in self.due():
            if stop.is_set():
                return
            self._sleep(name)

    def stop(self) -> None:
        """Give way."""
        self._token.cancel()

    def _sleep(self, name: str) -> None:
        kind: Kind = "slept"
        try:
            with self._using(name) as agent:
                newest = next(iter(agent.state.turns.newest(1)), None)
                if newest is not None:  # a worker that cannot run is not tried twice a minute
                    self._tried[agent.id] = str(newest.turn)
                # At every pause a call would cost more than what it finds.
                eager = definition_of(agent.state.database).sleep.when != "idle"
                report = agent.sleep(self._token, eager=eager)
            if report.done or report.notes:
                self._tell(kind, agent=name, **report.as_json())
        except (AgentInUse, Cancelled):
            self._tried.pop(self._runtime.home.find(name).id, None)
        except PagemindError as error:
            self._tell("warning", agent=name, why=f"its memory was not tended: {error.message}")
