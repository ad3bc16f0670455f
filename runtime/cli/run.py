"""`pagemind run`: a task file, from where it stands to its end."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder, ModelName

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.tasks.opening import Answers
    from pagemind.runtime.tasks.report import Report
    from pagemind.runtime.tasks.task_file import Task

Unknown = Annotated[
    Literal["redo", "skip"] | None,
    typer.Option(
        "--on-unknown",
        help="What to do about a call of the world that was cut off.",
        show_default=False,
    ),
]
Failed = Annotated[
    Literal["retry", "skip", "stop"] | None,
    typer.Option(
        "--on-error",
        help="The answer to actions that failed and wait for one.",
        show_default=False,
    ),
]
Approve = Annotated[
    bool | None,
    typer.Option(
        "--approve/--deny",
        help="The answer to calls that wait for consent.",
        show_default=False,
    ),
]
Waiting = Annotated[
    float,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0,
        show_default=False,
        help="How long to wait for a task or an agent that is in use.",
    ),
]
AtOnce = Annotated[
    int | None,
    typer.Option(
        "--at-once",
        metavar="N",
        min=1,
        help="How many inputs run together, each with an agent of its own.",
        show_default=False,
    ),
]
Runner = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="WHERE",
        help="Who does the inputs: `processes`, or a cluster, dask://HOST:PORT (docs/scale.md).",
        show_default=False,
    ),
]
WorkerHome = Annotated[
    Path | None,
    typer.Option(
        "--worker-home",
        metavar="DIR",
        help="Below which folder the workers of --executor have their homes.",
        show_default=False,
    ),
]
KeepAgents = Annotated[
    bool,
    typer.Option("--keep-agents", help="Bring the agents of the workers into this home."),
]
Join = Annotated[
    bool,
    typer.Option("--join", help="If another process runs the task, watch that until it ends."),
]
Retry = Annotated[bool, typer.Option("--retry", help="Do the inputs that failed again.")]


def run(
    task: Annotated[Path, typer.Argument(metavar="TASK.yaml", help="The task (docs/tasks.md).")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="The value of a variable; repeatable."),
    ] = None,
    model: ModelName = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done and cost; do nothing.")
    ] = False,
    go_on: Annotated[
        bool,
        typer.Option("--continue", help="Go on although the file or an input has changed."),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart", help="Begin anew: what the task wrote and the agents it made go first."
        ),
    ] = False,
    retry: Retry = False,
    on_error: Failed = None,
    on_unknown: Unknown = None,
    approve: Approve = None,
    at_once: AtOnce = None,
    executor: Runner = None,
    worker_home: WorkerHome = None,
    keep_agents: KeepAgents = False,
    join: Join = False,
    wait: Waiting = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Run a task; run again, it goes on where it was.

    Everything is done exactly once, also after a kill. The exit code is 0 if all of it is done, 3
    if a part is, 4 if nothing, 5 if a budget is spent, 130 if it was stopped.
    """
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.clock import SimulatedClock
    from pagemind.runtime.tasks.opening import Answers
    from pagemind.runtime.tasks.task_file import load_task

    if go_on and restart:
        raise typer.BadParameter("not together with --restart", param_hint="--continue")
    wanted = load_task(task, given(set_ or ()))
    with opened(home, clock=SimulatedClock()) as runtime:
        if dry_run:
            return _dry(runtime, wanted, model, as_json)
        if join and (report := _joined(runtime, wanted, as_json)) is not None:
            return report.exit_code
        answers = Answers(
            restart=restart,
            go_on=go_on,
            retry=retry,
            on_unknown=on_unknown,
            on_error=on_error,
            approval=consent(approve),
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


def consent(approve: bool | None) -> Literal["approve", "deny"] | None:
    if approve is None:
        return None
    return "approve" if approve else "deny"


def given(pairs: Sequence[str]) -> dict[str, str]:
    """The values of --set."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE", param_hint="--set")
        found[name.strip()] = value
    return found


def carry_out(
    runtime: "Runtime",
    task: "Task",
    answers: "Answers",
    *,
    model: str | None,
    wait: float,
    as_json: bool,
    **where: Any,
) -> int:
    """Run it where a person sees it; the exit code. `where` as of run_task."""
    from pagemind.runtime.cli.interrupt import stop_on_interrupt
    from pagemind.runtime.cli.run_view import watching
    from pagemind.runtime.cli.task_person import TaskPerson, somebody
    from pagemind.runtime.tasks.hired import Hiring
    from pagemind.runtime.tasks.runner import run_task

    with (
        stop_on_interrupt() as cancel,
        watching(as_json=as_json, monotonic=runtime.clock.monotonic) as view,
    ):
        there = somebody(as_json=as_json) and not reads_stdin(task)
        report = run_task(
            runtime,
            task,
            answers=answers,
            hiring=Hiring(model=model, wait=wait),
            watch=view.watch,
            cancel=cancel,
            person=TaskPerson(cancel, view.aside) if there else None,
            wait=wait,
            **where,
        )
    _shown(report, as_json)
    return report.exit_code


def _joined(runtime: "Runtime", task: "Task", as_json: bool) -> "Report | None":
    """Watch the process that runs it; None where none does."""
    from pagemind.runtime.cli.interrupt import stop_on_interrupt
    from pagemind.runtime.cli.run_view import watching
    from pagemind.runtime.tasks.joining import join_task, runs_elsewhere

    if not runs_elsewhere(runtime, task):
        return None
    with (
        stop_on_interrupt() as cancel,
        watching(as_json=as_json, monotonic=runtime.clock.monotonic) as view,
    ):
        report = join_task(runtime, task, view.watch, cancel)
    _shown(report, as_json)
    return report


def _shown(report: "Report", as_json: bool) -> None:
    from pagemind.runtime.cli.run_view import json_line

    if as_json:
        json_line(report.last_line())
    else:
        _tell(report)


def reads_stdin(task: "Task") -> bool:
    """Then nobody can answer there."""
    return task.spec.inputs is not None and task.spec.inputs.kind == "stdin"


def _tell(report: "Report") -> None:
    """How it ended, in a few lines."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import money, plural, visible

    row, inputs = report.row, report.inputs
    failed = f", {inputs['failed']:,} failed" if inputs["failed"] else ""
    spent = report.spent
    cost = money(spent.cost, not spent.unpriced)
    print(
        f"{row.name}: {row.status}. {plural(inputs['done'], 'input')} done{failed};"
        f" {plural(spent.tokens, 'token')}, cost {cost}"
    )
    for path, size in report.outputs[:5]:
        print(f"  {path}: {size:,} bytes")
    if len(report.outputs) > 5:
        print(f"  … and {len(report.outputs) - 5:,} files more")
    for label, why in report.failures[:5]:
        print(visible(f"  failed: {label}: {why}"))
    if (more := max(inputs["failed"], len(report.failures)) - 5) > 0:
        print(f"  … and {more:,} more failed")
    for each in report.waiting[:5]:
        print(visible(f"  waits: {each.text} ({', '.join(each.choices)})"))
    if row.why:
        say(f"stopped: {row.why}")
    if report.waiting:
        say(f"hint: `pagemind tasks answer {row.name}`, then `pagemind tasks resume {row.name}`")
    elif report.hint:
        say(f"hint: {report.hint}")
    elif row.status == "cancelled":
        say(f"hint: run it again, or `pagemind tasks resume {row.name}`, to go on")
    elif inputs["failed"]:
        say("hint: --retry does what failed again")
    if report.path is not None:
        print(f"  report: {report.path}")


def _dry(runtime: "Runtime", task: "Task", model: str | None, as_json: bool) -> int:
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.tasks.plan import plan_of

    plan = plan_of(runtime, task, model)
    if as_json:
        answer(plan.as_json())
    else:
        print(plan.as_text())
    return 0
