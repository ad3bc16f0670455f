"""A job: what every part of one run of a task needs. Made by runner.py."""

import hashlib
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.settings import TASK_CANCEL_SECONDS
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.state.task_family import Place
from pagemind.runtime.tasks.asking import Asking
from pagemind.runtime.tasks.events import Kind, TaskEvent, Watch
from pagemind.runtime.tasks.failing import TaskStopped
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.tasks.parts import OnUnknown
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.report import Report
from pagemind.runtime.tasks.task_file import Task

Lent = Mapping[str, Agent]  # by folded name


class Locks:
    """One for each name."""

    def __init__(self) -> None:
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def alone(self, name: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(name, threading.Lock())


@dataclass
class Job:
    """One run. `id` is the task's in the ledger, the same after a kill. `cancel` is a person's, and
    ends a turn between two steps; `stop` is the task's own, and ends all of it between two actions.

    `run_inside` runs a task inside this one, `outer` is the job that this one is part of. `lent`
    are the agents that are open around it; `locks` keep several that run at once from opening one.

    In a worker's home `origin` is the task's id where it was sent from; `lost`: calls on the world
    may have been made by a worker that did not come back.
    """

    id: str
    task: Task
    ledger: Ledger
    outputs: Outputs
    purse: Purse
    watch: Watch
    cancel: CancelToken
    clock: Clock
    on_unknown: OnUnknown
    asking: Asking = field(default_factory=Asking)
    stop: CancelToken = field(default_factory=CancelToken)
    run_inside: "Callable[[Inside], Ended] | None" = None
    outer: "Job | None" = None
    lent: Lent = field(default_factory=dict)
    locks: Locks = field(default_factory=Locks)
    origin: str = ""
    lost: bool = False

    def check(self) -> None:
        """Raises Cancelled if the task ends here."""
        self.cancel.check()
        self.stop.check()
        if self.outer is not None:
            self.outer.check()

    def wait(self, seconds: float) -> None:
        """Raises Cancelled as soon as the task ends."""
        for _ in range(math.ceil(seconds / TASK_CANCEL_SECONDS)):
            self.stop.wait(min(seconds, TASK_CANCEL_SECONDS))
            self.check()

    def tell(self, kind: Kind, **data: Any) -> None:
        self.watch(TaskEvent(kind, rfc3339(self.clock.now()), data))

    def identity(self, who: str, place: str) -> str:
        """Of an action: the beginning of the ids of all that it says and calls."""
        id, digest = self.origin or self.id, hashlib.sha256(who.encode()).hexdigest()
        return f"task {id} {digest[:16]} {place} "

    def scope(self, **more: Any) -> dict[str, Any]:
        """The variables that everything has."""
        vars: Mapping[str, str] = self.task.vars
        return {**vars, "task": self.task.name, **more}


@dataclass(frozen=True)
class Inside:
    """What is run inside a job: a task under the name that it has there, where that is, the label
    of the input there, whether what failed is done again, and out of which budgets."""

    outer: Job
    task: Task
    place: Place
    label: str
    retry: bool
    purse: Purse
    lent: Lent


Ended = tuple[Report, TaskStopped | None]
