"""A job: what every part of one run of a task needs. Made by runner.py."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.state.ledger import Ledger
from pagemind.runtime.tasks.events import Kind, TaskEvent, Watch
from pagemind.runtime.tasks.outputs import Outputs
from pagemind.runtime.tasks.parts import OnUnknown
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.tasks.task_file import Task


@dataclass
class Job:
    """One run. `id` is the task's in the ledger, the same after a kill."""

    id: str
    task: Task
    ledger: Ledger
    outputs: Outputs
    purse: Purse
    watch: Watch
    cancel: CancelToken
    clock: Clock
    on_unknown: OnUnknown

    def tell(self, kind: Kind, **data: Any) -> None:
        self.watch(TaskEvent(kind, rfc3339(self.clock.now()), data))

    def identity(self, who: str, place: str) -> str:
        """Of an action: the beginning of the ids of all that it says and calls."""
        return f"task {self.id} {hashlib.sha256(who.encode()).hexdigest()[:16]} {place} "

    def scope(self, **more: Any) -> dict[str, Any]:
        """The variables that everything has."""
        vars: Mapping[str, str] = self.task.vars
        return {**vars, "task": self.task.name, **more}
