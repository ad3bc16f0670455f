"""What the commands that take files in have in common: a bar, the answer, the exit code."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pagemind.runtime.cli.bars import bar_of
from pagemind.runtime.cli.failure import say

if TYPE_CHECKING:
    from pagemind.runtime.ingest import OnProgress
    from pagemind.runtime.ingest import Progress as Now
    from pagemind.runtime.tiers_writer import TiersWriter

_LINES = 20  # of one kind, for a person; --json has all


@contextmanager
def ingest_progress() -> Iterator["OnProgress"]:
    """A bar on standard error where that is a terminal, and what to do if Ctrl-C ends it."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.fields[file]}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[passages]:,} passages"),
        TimeRemainingColumn(),
    )
    done: Now | None = None
    with bar_of(*columns) as progress:
        task = progress.add_task("", total=None, file="", passages=0)

        def show(now: "Now") -> None:
            nonlocal done
            done = now
            name = f"{now.path.name} ({min(now.files + 1, now.of_files)} of {now.of_files:,})"
            progress.update(
                task, completed=now.bytes, total=now.of_bytes, file=name, passages=now.passages
            )

        try:
            yield show
        except KeyboardInterrupt:
            progress.stop()
            if done is not None and done.of_files:
                say(f"stopped at {done.path}; the same command goes on from there")
            raise


def index(writer: "TiersWriter") -> None:
    """Make all that was inserted searchable before the command ends, with a bar of its own."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    with bar_of(TextColumn("indexing"), BarColumn(), MofNCompleteColumn()) as progress:
        task = progress.add_task("", total=None)
        writer.carry_over(lambda done, total: progress.update(task, completed=done, total=total))


def tell_ingested(done: dict[str, Any], name: str) -> None:
    """The keys of `Ingested.as_json()`, and `left`, for a person."""
    from pagemind.runtime.cli.render import plural

    if done["left"]:
        what = plural(done["left"], "passage")
        say(f"{name} is in use: {what} left in its inbox, for its next turn")
    if done["files"] > 1 or done["unchanged"] or done["updated"]:
        parts = [plural(done["files"], "file")]
        parts += [f"{done[key]:,} {key}" for key in ("unchanged", "updated") if done[key]]
        print(", ".join(parts))
    if done["ids"]:
        print(f"kept as {_span(done['ids'])}")
    if done["duplicates"]:
        print(f"there already: {_span(done['duplicates'])}")
    if done["retired"]:
        print(f"retired: {_span(done['retired'])}")
    for each in done["near"]:
        say(f"{each['id']} is nearly the same as {each['near']} ({each['similarity']:.2f})")
    for each in done["skipped"][:_LINES]:
        say(f"skipped {each['path']}: {each['why']}")
    if (more := len(done["skipped"]) - _LINES) > 0:
        say(f"and {more:,} more; --json lists all")


def exit_code(done: dict[str, Any]) -> int:
    """0 for all, 3 for a part, 1 for nothing taken in."""
    if not done["skipped"]:
        return 0
    return 3 if done["chunks"] or done["retired"] else 1


def _span(ids: Sequence[str]) -> str:
    unique = list(dict.fromkeys(ids))
    return ", ".join(unique) if len(unique) <= 5 else f"{unique[0]} … {unique[-1]} ({len(unique)})"
