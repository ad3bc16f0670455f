"""The worker: does an errand with an agent of its own, in a home of this process.

do_errand() is what an executor calls, by its name. It never raises: whatever happens is in what it
brings back. The agent goes when the errand is done; its export goes with it where that was asked.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import Cancelled, PagemindError
from pagemind.runtime.state.ledger import Ledger, OutputRow, Spent
from pagemind.runtime.tasks.errand import Brought, Errand, Write, own_version
from pagemind.runtime.tasks.events import TaskEvent
from pagemind.runtime.tasks.failing import GivenUp, TaskStopped, Waits
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.tasks.performer import Performer
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.watchman import watch_for
from pagemind.runtime.tasks.worker_home import WorkerHome, worker_home

_log = logging.getLogger("pagemind.tasks")
_NOBODY = "a worker has nobody to ask: say in the file, or with --on-unknown, what it does"


def do_errand(errand: Errand) -> Brought:
    """Runs where the worker is."""
    here = own_version()
    if here != errand.version:
        return Brought(
            errand.id,
            "broken",
            f"the worker has pagemind {here}, and the task is run by {errand.version}",
            hint="install the same version on all machines",
        )
    try:
        return _Going(errand, worker_home(errand.home)).bring()
    except (Cancelled, KeyboardInterrupt):
        return Brought(errand.id, "cancelled", "stopped")
    except PagemindError as error:
        return Brought(errand.id, "broken", error.message, error.hint)
    except Exception as fault:
        _log.warning("an errand broke", exc_info=True)
        return Brought(errand.id, "broken", f"{type(fault).__name__}: {fault}")


class _Held(Outputs):
    """Nothing is written here: what would be is brought back."""

    def __init__(self, ledger: Ledger, errand: Errand) -> None:
        super().__init__(ledger, errand.id, errand.task.base)
        self.writes: list[Write] = []

    def append(self, path: Path, data: bytes) -> OutputRow:
        self.writes.append(Write(str(path), data))
        return OutputRow(str(path), len(self.writes) - 1, len(data))


class _Going:
    """One errand under way. Its actions stand in the ledger of this home until they are brought."""

    def __init__(self, errand: Errand, home: WorkerHome) -> None:
        self._errand = errand
        self._home = home
        self._ledger = Ledger(home.runtime.home.database, home.runtime.clock)
        self._outputs = _Held(self._ledger, errand)
        self._events: list[TaskEvent] = []

    def bring(self) -> Brought:
        errand, ledger = self._errand, self._ledger
        spec = errand.task.spec
        job = Job(
            id=errand.id,
            origin=errand.job,
            task=errand.task,
            ledger=ledger,
            outputs=self._outputs,
            purse=Purse("task", errand.left, Spent()),
            watch=self._events.append,
            cancel=CancelToken(),
            clock=self._home.runtime.clock,
            on_unknown=errand.on_unknown,
            lost=errand.lost,
        )
        for row in errand.known:
            ledger.take_action(errand.id, errand.one.key, row)
        purse = job.purse.of("input", spec.budget.input, Spent())
        stop = Path(errand.stop)
        ended: dict[str, Any] = {"end": "done"}
        try:
            with watch_for(stop.exists, job.cancel, errand.one.label), self._agent() as agent:
                performer = Performer(job, agent, errand.one, dict(errand.scope), purse)
                try:
                    performer.all(spec.do, "do")
                except GivenUp as given:
                    left = max(0, len(spec.do) - performer.finished - 1)
                    ended = {"end": "failed", "reason": given.reason, "skipped": left}
                except TaskStopped as stopped:
                    ended = {"end": "stopped", "reason": stopped.reason, "hint": stopped.hint}
                    ended["limit"] = stopped.limit
                except Waits as waits:
                    # What a lost worker may have done holds up the task: the next would ask, too.
                    ended = {"end": "stopped" if errand.lost else "failed"}
                    ended |= {"reason": waits.question, "hint": _NOBODY}
                except (Cancelled, KeyboardInterrupt):
                    ended = {"end": "cancelled", "reason": "stopped"}
            if ended["end"] == "done" and errand.keep_agent:
                ended["agent"] = self._home.export(errand.id)
            actions = tuple(ledger.actions(errand.id, errand.one.key))
        finally:
            self._home.remove(errand.id)
            ledger.forget(errand.id)
        return Brought(
            errand.id,
            actions=actions,
            writes=tuple(self._outputs.writes) if ended["end"] == "done" else (),
            events=tuple(self._events),
            **ended,
        )

    @contextmanager
    def _agent(self) -> Iterator[Agent]:
        errand = self._errand
        agent = self._home.runtime.agent(
            errand.id,
            AgentDefinition.from_json(errand.definition),
            model=errand.model,
            tools=errand.tools,
        )
        try:
            yield agent
        finally:
            agent.close()
