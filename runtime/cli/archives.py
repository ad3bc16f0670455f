"""`pagemind archives`: shared archives, passages that many agents may read, and some write."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import (
    AsJson,
    EmbeddingName,
    End,
    Files,
    HomeFolder,
    Importance,
    InScope,
    MaxTokens,
    Owner,
    Part,
    Query,
    Scope,
    Start,
    Tags,
    TextToKeep,
    Ttl,
    Wait,
    Yes,
)
from pagemind.runtime.settings import CLI_PART_TOKENS

if TYPE_CHECKING:
    from pagemind.runtime.archive import ArchiveInfo

ArchiveName = Annotated[
    str, typer.Argument(metavar="ARCHIVE", help="The archive's name.", show_default=False)
]


def new(
    archive: ArchiveName,
    embedding: EmbeddingName = None,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Make an archive. An agent reads it once its definition says `archives: [NAME]`.

    The embedding should be that of the agents: what another one made is found by its words only.
    """
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        made = runtime.archives.new(archive, embedding)
        info, folder = runtime.archives.info(made.name), runtime.archives.path(made.name)
    _tell(info, folder, as_json, done=f"made {info.name} with {info.embedding}")


def list_archives(as_json: AsJson = False, home: HomeFolder = None) -> None:
    """List the archives by name."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import ago, listing, size, table
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        found = runtime.archives.all()
        now = runtime.clock.now()
    if as_json:
        listing([each.as_json() for each in found])
        return
    if not found:
        say("no archives yet; `pagemind archives new NAME` makes one")
        return
    table(
        ["archive", "passages", "files", "size", "embedding", "made"],
        [
            [
                each.name + (" *" if each.in_use else ""),
                f"{each.passages:,}",
                f"{each.documents:,}",
                size(each.bytes),
                each.embedding,
                ago(each.created_at, now),
            ]
            for each in found
        ],
        right="passages files size",
        spare="made size embedding",
    )
    if any(each.in_use for each in found):
        say("* is being written to")
    for each in found:
        if each.problem:
            say(f"{each.name} cannot be read: {each.problem}; see pagemind doctor")


def show(archive: ArchiveName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Show one archive: what it holds and where."""
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        info, folder = runtime.archives.info(archive), runtime.archives.path(archive)
    _tell(info, folder, as_json)


def insert(
    archive: ArchiveName,
    text: TextToKeep = "",
    file: Files = None,
    tag: Tags = None,
    importance: Importance = None,
    scope: Scope = "",
    private_to: Owner = "",
    ttl: Ttl = "",
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Put a text, or files cut into passages, into an archive.

    A file that did not change since the last time is skipped, one that did is brought up to date,
    and what was cut off goes on.
    """
    from pagemind.runtime.cli.memory_insert import said_text
    from pagemind.runtime.keeping import Keeping

    if bool(text) == bool(file):
        raise typer.BadParameter("give a TEXT or --file, and not both", param_hint="TEXT")
    said = said_text(text) if text else ""
    keeping = Keeping.of(scope or None, private_to, ttl)
    options = {"tags": tag or [], "importance": importance, "keeping": keeping}
    return _take(archive, said, file or [], options, wait, as_json, home)


def sync(
    archive: ArchiveName,
    folder: Annotated[
        list[Path], typer.Argument(metavar="FOLDER…", help="What the archive is to hold.")
    ],
    tag: Tags = None,
    importance: Importance = None,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Bring an archive in line with folders: new files in, changed ones updated, and the passages
    of files that are gone retired.

    Passages of other folders, and texts that were inserted, stay.
    """
    for each in folder:
        if not each.is_dir():
            raise typer.BadParameter(f"{each} is not a folder", param_hint="FOLDER")
    options = {"tags": tag or [], "importance": importance, "sync": True}
    return _take(archive, "", folder, options, wait, as_json, home)


def _take(
    name: str,
    said: str,
    paths: list[Path],
    options: dict[str, Any],
    wait: float,
    as_json: bool,
    home: str | None,
) -> int:
    from pagemind.runtime.cli.ingesting import exit_code, index, ingest_progress, tell_ingested
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.ingest import ingest, ingest_text

    with opened(home) as runtime, runtime.archives.writer(name, wait=wait) as writer:
        with ingest_progress() as shown:
            if said:
                done = ingest_text(writer, said, on_progress=shown, **options)
            else:
                denied = runtime.home.denied
                done = ingest(writer, paths, on_progress=shown, denied=denied, **options)
        index(writer)
    body = done.as_json()
    if as_json:
        answer(body)
    else:
        tell_ingested({**body, "left": 0}, name)
    return exit_code(body)


def search(
    archive: ArchiveName,
    query: Query = "",
    start: Start = None,
    end: End = None,
    tag: Tags = None,
    scope: InScope = None,
    max_tokens: MaxTokens = CLI_PART_TOKENS,
    part: Part = 1,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Search an archive as the agents that read it do; works while it is written to."""
    from pagemind.runtime.cli.hits import tell_found
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.filters import filters_of
    from pagemind.runtime.search_answer import Found
    from pagemind.runtime.settings import SEARCH_LIMIT

    given = {"start": start, "end": end, "tags": tag, "scopes": scope}
    with opened(home) as runtime, runtime.archives.reader(archive) as reader:
        filters = filters_of(given, runtime.clock.now().astimezone(reader.zone))
        result = reader.search.search("archival", query.strip() or None, filters, SEARCH_LIMIT)
        found = Found(result.hits, {"archival": result.searched}, result.warnings)
        tell_found(found, part, max_tokens, runtime.counter.count, reader.zone, as_json)


def delete(
    archive: ArchiveName,
    yes: Yes = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Delete an archive with all its passages. The files that they came from are left alone."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, plural
    from pagemind.runtime.cli.session import confirmed, opened

    with opened(home) as runtime:
        info = runtime.archives.info(archive)
        holds = plural(info.passages, "passage")
        if not confirmed(f"delete {info.name} with {holds}?", yes=yes, doing="deleting"):
            say("nothing was deleted")
            return 1
        runtime.archives.delete(archive, wait=wait)
    if as_json:
        answer(info.as_json())
    else:
        print(f"deleted {info.name} ({holds})")
    return 0


def rebuild(
    archive: ArchiveName, wait: Wait = 0.0, as_json: AsJson = False, home: HomeFolder = None
) -> int:
    """Drop the LanceDB table of an archive and fill it again. Nothing can be lost."""
    from pagemind.runtime.cli.memory_change import rows_progress
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened

    with (
        opened(home) as runtime,
        runtime.archives.writer(archive, wait=wait) as writer,
        rows_progress("rebuilding") as shown,
    ):
        status = writer.rebuild(shown)
        name, rows = writer.name, writer.state.passages.count()
    missing = status.missing_vectors
    if as_json:
        answer({"archive": name, "rows": rows, "missing_vectors": missing})
    else:
        print(f"{name}: {rows:,} rows written again" + _without(missing))
    return 3 if missing or status.last_error else 0


def reembed(
    archive: ArchiveName,
    embedding: EmbeddingName = None,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Make the LanceDB table of an archive anew, with another embedding if one is given.

    Search goes on with the old one meanwhile. If it is cut off, run it again: it resumes.
    """
    from dataclasses import asdict

    from pagemind.runtime.cli.memory_change import rows_progress
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        if embedding:
            runtime.archives.embed_with(archive, embedding, wait=wait)
        with (
            runtime.archives.writer(archive, wait=wait) as writer,
            rows_progress("embedding") as shown,
        ):
            done = writer.reembed(shown)
            name = writer.name
    if as_json:
        answer({"archive": name, **asdict(done)})
    else:
        change = f"{done.before} → {done.after}" if done.before != done.after else done.after
        print(f"{name}: {change}, {done.rows:,} rows" + _without(done.missing_vectors))
    return 3 if done.missing_vectors else 0


def _without(missing: int) -> str:
    return f", {missing:,} without a vector" if missing else ""


def _tell(info: "ArchiveInfo", folder: Path, as_json: bool, done: str = "") -> None:
    from pagemind.runtime.cli.render import answer, fields, local, size

    if as_json:
        answer(info.as_json())
        return
    if done:
        print(done)
        return
    fields(
        [
            ("archive", info.name + (" (is being written to)" if info.in_use else "")),
            ("embedding", info.embedding),
            ("passages", f"{info.passages:,}"),
            ("files", f"{info.documents:,}"),
            ("made", local(info.created_at)),
            ("folder", f"{folder} ({size(info.bytes)})"),
        ]
    )
