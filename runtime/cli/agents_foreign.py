"""What `pagemind agents import` does with the file of another tool: a bar, the answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagemind.runtime.cli.bars import bar_of
from pagemind.runtime.cli.failure import say

if TYPE_CHECKING:
    from pagemind.runtime.portable.foreign.importer import Imported, OnProgress
    from pagemind.runtime.portable.foreign.importer import Progress as Now


def is_foreign(file: Path) -> bool:
    """Whether a file is one of another tool, by what stands in it."""
    from pagemind.runtime.portable.foreign.importer import TOOLS
    from pagemind.runtime.portable.kinds import recognise

    return file.is_file() and recognise(file) in {tool.kind for tool in TOOLS.values()}


def import_foreign(home: str | None, file: Path, as_json: bool, **options: Any) -> None:
    """Take it in, and say what was done."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime, _progress() as shown:
        done = runtime.import_chats(file, on_progress=shown, **options)
    if as_json:
        answer(done.as_json())
    else:
        _tell(done)


@contextmanager
def _progress() -> Iterator["OnProgress"]:
    """A bar on standard error where that is a terminal."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("importing"),
        BarColumn(),
        TextColumn("{task.fields[messages]:,} messages"),
        TimeRemainingColumn(),
    )
    with bar_of(*columns) as progress:
        task = progress.add_task("", total=None, messages=0)

        def show(now: "Now") -> None:
            progress.update(task, completed=now.bytes, total=now.of_bytes, messages=now.messages)

        yield show


def _tell(done: "Imported") -> None:
    from pagemind.runtime.cli.render import fields, plural, visible
    from pagemind.runtime.portable.foreign.importer import TOOLS
    from pagemind.runtime.portable.foreign.taking import skipped

    taken = done.taken
    new = [
        plural(count, noun)
        for count, noun in (
            (taken.messages, "message"),
            (taken.conversations, "conversation"),
            (taken.passages, "passage"),
            (taken.blocks, "block"),
        )
        if count
    ]
    holds = (
        plural(count, noun)
        for count, noun in (
            (done.messages, "message"),
            (done.passages, "passage"),
            (done.pages, "page"),
        )
    )
    rows: list[tuple[str, object]] = [
        ("imported", ", ".join(new) or "nothing new"),
        ("from", f"{TOOLS[done.source].name} ({visible(done.path.name)})"),
        ("into", f"{done.agent}, which holds {', '.join(holds)}"),
    ]
    if taken.duplicates:
        rows.append(("there", f"{taken.duplicates:,} already"))
    rows += [("skipped", f"{plural(n, what)}: {why}") for what, why, n in skipped(taken)]
    fields(rows)
    for note in done.notes:
        say(visible(note))
