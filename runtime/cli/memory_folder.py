"""`pagemind memory dump` and `load`: an agent's memory as Markdown files (docs/portability.md)."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait

if TYPE_CHECKING:
    from pagemind.runtime.portable.folder.load import Loaded

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of Markdown files.", show_default=False)
]


def dump(
    agent: AgentName,
    folder: Folder,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite edits that were not loaded.")
    ] = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Write blocks, passages and conversations as Markdown, to be read, edited, put into git."""
    from pagemind.runtime.cli.render import answer, fields, plural, visible
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.portable.folder.dump import dump_memory

    with opened(home) as runtime:
        done = dump_memory(runtime, agent, folder, force=force)
    if as_json:
        answer(done.as_json())
        return
    holds = (
        plural(done.blocks, "block"),
        plural(done.passages, "passage"),
        plural(done.conversations, "conversation"),
    )
    files = f"{plural(done.written, 'file')} written, {done.removed:,} removed"
    fields(
        [
            ("dumped", done.agent),
            ("holds", ", ".join(holds)),
            ("folder", f"{visible(str(done.folder))} ({files})"),
        ]
    )


def load(
    agent: AgentName,
    folder: Folder,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would change.")
    ] = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="Retire passages whose file is gone.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="The folder wins where both have changed.")
    ] = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Take edits of blocks and passages back into the agent: all of them or none."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.portable.folder.load import load_memory

    with opened(home) as runtime:
        done = load_memory(
            runtime, agent, folder, dry_run=dry_run, sync=sync, force=force, wait=wait
        )
    if as_json:
        answer(done.as_json())
    else:
        _tell(done)


def _tell(done: "Loaded") -> None:
    import difflib

    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import plural, visible

    for change in done.plan.changes:
        mark = "  (changed in the agent too)" if change.conflict else ""
        print(visible(f"{change.action} {change.what} {change.id or change.path}{mark}"))
        lines = difflib.unified_diff(
            change.before.splitlines(), change.text.splitlines(), lineterm="", n=0
        )
        for line in lines:
            if not line.startswith(("---", "+++", "@@")):
                print(visible(f"  {line[:1]} {line[1:]}"))
    what = plural(len(done.plan.changes), "change")
    print(f"{what} {'loaded into' if done.applied else 'to load into'} {done.agent}")
    for note in done.plan.notes:
        say(visible(note))
