"""Joining a task that another process runs: seeing what it tells, until it has ended.

The other one is told nothing and waits for nobody. What is seen begins with its run and comes from
its log; a process that dies is noticed by its lock, and its report then says where it stands.
"""

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import UserError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import TASK_JOIN_SECONDS
from pagemind.runtime.state.ledger import Ledger, TaskRow
from pagemind.runtime.tasks.events import TaskLog, Watch
from pagemind.runtime.tasks.opening import lock_of, must_be_same
from pagemind.runtime.tasks.report import Report
from pagemind.runtime.tasks.task_file import Task


def runs_elsewhere(runtime: Runtime, task: Task) -> bool:
    """Whether another process runs this task now."""
    return lock_of(runtime.home.path / "tasks", task.name).held()


def join_task(runtime: Runtime, task: Task, watch: Watch, cancel: CancelToken) -> Report:
    """What the run of the other process came to. Raises UserError where that runs another file
    under this name, or another text of this one; Cancelled, which stops the watching alone."""
    ledger = Ledger(runtime.home.database, runtime.clock)
    row = _begun(runtime, ledger, task, cancel)
    must_be_same(runtime, row, task)
    log = TaskLog(runtime.home.path / "tasks" / row.id / "log.jsonl")
    place = log.newest_run()
    while True:
        # Asked before the log is read: what is told last is not missed.
        over = not runs_elsewhere(runtime, task)
        for event, behind in log.told_from(place):
            watch(event)
            place = behind
        if over:
            return Report.of(ledger, task.name)
        cancel.wait(TASK_JOIN_SECONDS)


def _begun(runtime: Runtime, ledger: Ledger, task: Task, cancel: CancelToken) -> TaskRow:
    """Its row: the other process may hold the lock and not have written it yet."""
    while True:
        held = runs_elsewhere(runtime, task)
        row = ledger.task(task.name)
        if row is not None:
            return row
        if not held:
            raise UserError(f"{task.name} is not run by any process any more")
        cancel.wait(TASK_JOIN_SECONDS)
