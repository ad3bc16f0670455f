"""`pagemind tasks`: the tasks of a home, what they did, and how to stop them or go on."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder, Last, ModelName
from pagemind.runtime.cli.run import (
    Approve,
    AtOnce,
    Failed,
    KeepAgents,
    Retry,
    Runner,
    Unknown,
    Waiting,
    WorkerHome,
)

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.state.ledger import Ledger, TaskRow

_INSIDE = 5  # tasks inside one that are listed

TaskName = Annotated[
    str, typer.Argument(metavar="TASK", help="The task's name.", show_default=False)
]


def list_tasks(as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Every task that was run, the newest first; those that run inside one stand under it."""
    from pagemind.runtime.cli.render import listing, local, money, table
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.tasks.report import Report

    with opened(home) as runtime:
        ledger = _ledger(runtime)
        found = [
            (depth, row, parent, Report.of(ledger, row.name), _running(runtime, row))
            for depth, row, parent in _in_order(ledger, most=-1 if as_json else _INSIDE)
        ]
        total = ledger.count()
    if as_json:
        listing(
            [
                {**_item(row, report, running), "parent": parent}
                for _, row, parent, report, running in found
            ]
        )
        return
    rows = [
        [
            f"{'  ' * depth}{row.name.partition('/')[2]}" if depth else row.name,
            _status(row, running),
            f"{report.inputs['done']:,}",
            f"{report.inputs['failed']:,}",
            "?" if row.total is None else f"{row.total:,}",
            f"{report.spent.tokens:,}",
            money(report.spent.cost, not report.spent.unpriced),
            local(row.begun_at),
            row.path,
        ]
        for depth, row, _, report, running in found
    ]
    headers = ["task", "status", "done", "failed", "of", "tokens", "cost", "begun", "file"]
    if not rows:
        print("no task was run yet; docs/tasks.md shows how to write one")
        return
    table(headers, rows, right="done failed of tokens cost", spare="tokens cost begun")
    if total > len(rows):
        print(f"and {total - len(rows):,} more inside these; --json lists them")


def _in_order(
    ledger: "Ledger", most: int, around: "TaskRow | None" = None, depth: int = 0
) -> Iterator[tuple[int, "TaskRow", str | None]]:
    """Each with how deep it lies, and in what; of those inside one, so many at most."""
    inside = around.id if around is not None else None
    for row in ledger.tasks(inside, limit=most if inside else -1):
        yield depth, row, around.name if around is not None else None
        yield from _in_order(ledger, most, row, depth + 1)


def show(task: TaskName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """The report of a task, as it stands now."""
    from pagemind.runtime.cli.render import answer, visible
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.tasks.report import Report

    with opened(home) as runtime:
        report = Report.of(_ledger(runtime), task)
        running = _running(runtime, report.row)
    if as_json:
        answer({**report.as_json(), "status": _status(report.row, running)})
        return
    text = report.as_markdown()
    head = f"# {report.row.name}: {report.row.status}"
    print(visible(text.replace(head, f"# {task}: {_status(report.row, running)}", 1)), end="")


def logs(
    task: TaskName, last: Last = None, as_json: AsJson = False, home: HomeFolder = None
) -> None:
    """What happened in a task, in order."""
    from pagemind.runtime.cli.render import listing, one_line
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.tasks.events import TaskLog
    from pagemind.runtime.tasks.report import Report

    with opened(home) as runtime:
        row = Report.of(_ledger(runtime), task).row
        log = TaskLog(runtime.home.path / "tasks" / row.id / "log.jsonl")
    total = 0
    shown: deque[dict[str, Any]] = deque(maxlen=last)
    for told, _ in log.told_from(0):
        total += 1
        shown.append(told.as_json())
    if as_json:
        listing(list(shown), total)
        return
    for event in shown:
        data = {key: value for key, value in event.items() if key not in ("event", "at")}
        words = " ".join(f"{key}={value}" for key, value in data.items() if value not in ("", None))
        print(one_line(f"{event['at'][:19]}Z {event['event']} {words}"))


def cancel(task: TaskName, home: HomeFolder = None) -> None:
    """Stop a task after the step in which it is; `tasks resume` goes on."""
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.tasks.report import Report

    with opened(home) as runtime:
        ledger = _ledger(runtime)
        row = _outermost(ledger, Report.of(ledger, task).row)
        if _running(runtime, row):
            ledger.ask_to_cancel(row.id)
            print(f"{row.name} stops after the step in which it is")
        elif row.status == "running":  # its process is gone
            ledger.close(row.id, "cancelled", "stopped by a person")
            print(f"{row.name} is cancelled; no process was running it")
        else:
            raise UserError(f"{row.name} does not run: it is {row.status}")


def resume(
    task: TaskName,
    model: ModelName = None,
    retry: Retry = False,
    on_error: Failed = None,
    on_unknown: Unknown = None,
    approve: Approve = None,
    at_once: AtOnce = None,
    executor: Runner = None,
    worker_home: WorkerHome = None,
    keep_agents: KeepAgents = False,
    wait: Waiting = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Go on with a task as its file was when it ran last.

    The exit code is that of `pagemind run`.
    """
    from pagemind.runtime.cli.run import carry_out, consent
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.clock import SimulatedClock
    from pagemind.runtime.tasks.opening import Answers, stored_task
    from pagemind.runtime.tasks.report import Report

    with opened(home, clock=SimulatedClock()) as runtime:
        ledger = _ledger(runtime)
        wanted = stored_task(runtime, _outermost(ledger, Report.of(ledger, task).row))
        answers = Answers(
            retry=retry, on_unknown=on_unknown, on_error=on_error, approval=consent(approve)
        )
        return carry_out(
            runtime,
            wanted,
            answers,
            model=model,
            wait=wait,
            as_json=as_json,
            at_once=at_once,
            executor=executor,
            worker_home=worker_home,
            keep_agents=keep_agents,
        )


def _ledger(runtime: "Runtime") -> "Ledger":
    from pagemind.runtime.state.ledger import Ledger

    return Ledger(runtime.home.database, runtime.clock)


def _running(runtime: "Runtime", row: "TaskRow") -> bool:
    """Whether a process runs it now."""
    from pagemind.runtime.tasks.opening import lock_of

    outermost = _outermost(_ledger(runtime), row)
    return row.status == "running" and lock_of(runtime.home.path / "tasks", outermost.name).held()


def _outermost(ledger: "Ledger", row: "TaskRow") -> "TaskRow":
    """The task that a person runs: one inside another goes on with that."""
    while (place := ledger.family.place(row.id)) is not None:
        around = ledger.task_of(place.parent)
        if around is None:
            break
        row = around
    return row


def _status(row: "TaskRow", running: bool) -> str:
    return "interrupted" if row.status == "running" and not running else row.status


def _item(row: "TaskRow", report: Any, running: bool) -> dict[str, Any]:
    from pagemind.runtime.clock import rfc3339

    line = report.last_line()
    return {
        "task": row.name,
        "status": _status(row, running),
        "why": row.why,
        "file": row.path,
        "inputs": line["inputs"],
        "actions": line["actions"],
        "usage": line["usage"],
        "cost": line["cost"],
        "begun_at": rfc3339(row.begun_at),
        "ended_at": rfc3339(row.ended_at) if row.ended_at else None,
    }
