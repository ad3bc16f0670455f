"""`pagemind archives review` and `revoke`: what waits in a shared archive for a person, since an
agent wrote it while text from outside was in view; and what came from a source, taken back."""

import re
from typing import Annotated

import typer

from pagemind.runtime.cli.archives import ArchiveName
from pagemind.runtime.cli.options import AsJson, DryRun, HomeFolder, Wait, Yes


def review(
    archive: ArchiveName,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Records, changes: a7 c3.", show_default=False),
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Let these in, make these.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="Never make these.")] = False,
    reword: Annotated[
        str | None,
        typer.Option("--reword", metavar="TEXT", help="Keep this one in other words."),
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            "--source", metavar="SOURCE", help="Only what an agent wrote.", show_default=False
        ),
    ] = "",
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Look at what waits in an archive, and decide on it, as `memory review` does."""
    from pagemind.runtime.cli.memory_review import Asked, answered
    from pagemind.runtime.cli.session import opened

    named = tuple(id for each in ids or () for id in re.split(r"[\s,]+", each) if id)
    asked = Asked(named, approve, reject, reword, source=source)
    with opened(home) as runtime:
        archives = runtime.archives
        return answered(
            asked,
            lambda: archives.reader(archive),
            lambda: archives.writer(archive, wait=wait),
            as_json=as_json,
        )


def revoke(
    archive: ArchiveName,
    source: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="SOURCE",
            help="a7; a document or agent.",
            show_default=False,
        ),
    ],
    dry_run: DryRun = False,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Take back what came into an archive from a document or an agent, as `memory revoke` does."""
    from pagemind.runtime.cli.memory_revoke import taken_back
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime, runtime.archives.writer(archive, wait=wait) as writer:
        return taken_back(
            writer, source, {"archive": writer.name}, dry_run=dry_run, yes=yes, as_json=as_json
        )
