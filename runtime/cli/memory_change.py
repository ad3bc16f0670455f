"""`pagemind memory restore|rebuild|reembed`: change what an agent at rest holds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer

from pagemind.runtime.cli.memory_show import Target, tell_versions
from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait


def restore(
    agent: AgentName,
    target: Target,
    version: Annotated[
        int | None,
        typer.Argument(
            metavar="[VERSION]",
            help="Of its history; of a passage the newest by default.",
            min=1,
            show_default=False,
        ),
    ] = None,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Give a block or a passage the value of an earlier version, as a new version.

    A passage that was forgotten, or went cold, comes back: `memory restore ada a7`.
    """
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.memory_answers import passage_number, versions_of

    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        versions_of(writer, target)
        number = passage_number(target)
        if number is not None and not writer.state.blocks.history(target):
            writer.restore_passage(number, version)
        elif version is None:
            raise typer.BadParameter("say which, for a block", param_hint="VERSION")
        else:
            writer.restore_block(target, version)
        versions = versions_of(writer, target)
    tell_versions(versions, as_json)


def rebuild(
    agent: AgentName, wait: Wait = 0.0, as_json: AsJson = False, home: HomeFolder = None
) -> int:
    """Drop the LanceDB tiers and fill them again from the state database. Nothing can be lost."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened

    rows = 0
    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        with rows_progress("rebuilding") as shown:

            def on_rows(done: int, total: int) -> None:
                nonlocal rows
                rows = total
                shown(done, total)

            status = writer.rebuild(on_rows)
        name = writer.name
    if as_json:
        answer(
            {
                "agent": name,
                "rows": rows,
                "unwritten": status.unwritten,
                "missing_vectors": status.missing_vectors,
                "last_error": status.last_error,
            }
        )
    else:
        missing = f", {status.missing_vectors:,} without a vector" if status.missing_vectors else ""
        print(f"{name}: {rows:,} rows written again{missing}")
    return 3 if status.missing_vectors or status.last_error else 0


def reembed(
    agent: AgentName, wait: Wait = 0.0, as_json: AsJson = False, home: HomeFolder = None
) -> int:
    """Make the LanceDB tiers anew with the embedding that the definition names now.

    Search goes on with the old ones meanwhile. If it is cut off, run it again: it resumes.
    """
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        with rows_progress("embedding") as shown:
            done = writer.reembed(shown)
        name = writer.name
    if as_json:
        answer({"agent": name, **asdict(done)})
    else:
        missing = f", {done.missing_vectors:,} without a vector" if done.missing_vectors else ""
        again = f" ({done.resumed:,} had been done before)" if done.resumed else ""
        change = f"{done.before} → {done.after}" if done.before != done.after else done.after
        print(f"{name}: {change}, {done.rows:,} rows{again}{missing}")
    return 3 if done.missing_vectors else 0


@contextmanager
def rows_progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, moved by calling what it gives with rows done and rows in all."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn("rows"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
