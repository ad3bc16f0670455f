"""A job: what every part of one run of a task needs. Made by runner.py."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.settings import TASK_CANCEL_SECONDS
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.tasks.events import Kind, TaskEvent, Watch
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.tasks.parts import OnUnknown
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.task_file import Task


@dataclass
class Job:
    """One run. `id` is the task's in the ledger, the same after a kill. `cancel` is a person's, and
    ends a turn between two steps; `stop` is the task's own, and ends all of it between two actions.
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
    stop: CancelToken = field(default_factory=CancelToken)

    def check(self) -> None:
        """Raises Cancelled if the task ends here."""
        self.cancel.check()
        self.stop.check()

    def wait(self, seconds: float) -> None:
        """Raises Cancelled as soon as the task ends."""
        for _ in range(math.ceil(seconds / TASK_CANCEL_SECONDS)):
            self.stop.wait(min(seconds, TASK_CANCEL_SECONDS))
            self.cancel.check()

    def tell(self, kind: Kind, **data: Any) -> None:
        self.watch(TaskEvent(kind, rfc3339(self.clock.now()), data))

    def identity(self, who: str, place: str) -> str:
        """Of an action: the beginning of the ids of all that it says and calls."""
        return f"task {self.id} {hashlib.sha256(who.encode()).hexdigest()[:16]} {place} "

    def scope(self, **more: Any) -> dict[str, Any]:
        """The variables that everything has."""
        vars: Mapping[str, str] = self.task.vars
        return {**vars, "task": self.task.name, **more}
