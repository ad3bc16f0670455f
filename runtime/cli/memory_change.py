"""`pagemind memory insert|restore|rebuild|reembed`: change what an agent at rest holds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.memory_show import (
    Target,
    passage_number,
    tell_versions,
    versions_of,
)
from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Tags, Wait

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.writer import AgentWriter

_NEAR_CHUNKS = 64  # comparing costs an embedding for each: a book is not compared


def insert(
    agent: AgentName,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="What to keep; - reads standard input.", show_default=False
        ),
    ] = "",
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file", "-f", metavar="FILE", help="A text or Markdown file; may be repeated."
        ),
    ] = None,
    tag: Tags = None,
    importance: Annotated[
        float | None,
        typer.Option("--importance", metavar="1-10", min=1, max=10, show_default=False),
    ] = None,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Keep a text, or files cut into passages, in archival memory. No model is needed.

    If the agent is in use, it is left in its inbox and taken up in its next turn.
    """
    from pagemind.runtime.cli.session import opened, text_or_stdin
    from pagemind.runtime.errors import AgentInUse, UserError

    if bool(text) == bool(file):
        raise typer.BadParameter("give a TEXT or --file, and not both", param_hint="TEXT")
    pieces: list[tuple[str, str]] = []
    skipped: list[dict[str, str]] = []
    if text:
        pieces = [(text_or_stdin(text), "")]
        if not pieces[0][0].strip():
            raise UserError("there is nothing to keep: the text is empty")
    for each in file or ():
        found, why = _read(each)
        pieces += [(piece, each.name) for piece in found]
        if why:
            skipped.append({"path": str(each), "why": why})
    options: dict[str, Any] = {"tags": tag or [], "importance": importance}
    with opened(home) as runtime:
        name = runtime.home.find(agent).name
        try:
            with runtime.writer(name, wait=wait) as writer:
                done = _insert(writer, pieces, options)
        except AgentInUse:
            done = _leave(runtime, name, pieces, options)
    _tell({**done, "chunks": len(pieces), "skipped": skipped}, name, as_json)
    if skipped:
        return 3 if pieces else 1
    return 0


def _read(path: Path) -> tuple[list[str], str]:
    """The passages of a file, or why it has none."""
    from pagemind.runtime.document import split_document
    from pagemind.runtime.settings import MAX_MESSAGE_BYTES

    try:
        if path.is_dir():
            return [], "is a folder"
        if path.stat().st_size > MAX_MESSAGE_BYTES:
            return [], f"has more than {MAX_MESSAGE_BYTES:,} bytes"
        data = path.read_bytes()
    except OSError as error:
        return [], (error.strerror or str(error)).lower()
    if b"\0" in data:
        return [], "is not a text file"
    try:
        found = split_document(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return [], f"is not UTF-8 text (byte {error.start:,})"
    return found, "" if found else "is empty"


def _insert(
    writer: "AgentWriter", pieces: list[tuple[str, str]], options: dict[str, Any]
) -> dict[str, Any]:
    from pagemind.runtime.settings import NEAR_DUPLICATE

    ids: list[str] = []
    duplicates: list[str] = []
    near: list[dict[str, Any]] = []
    for text, document in pieces:
        close = writer.search.near(text, 1) if len(pieces) <= _NEAR_CHUNKS else []
        passage, new = writer.insert(text, document=document, **options)
        (ids if new else duplicates).append(passage.short_id)
        if new and close and close[0][1] >= NEAR_DUPLICATE:
            near.append(
                {"id": passage.short_id, "near": close[0][0], "similarity": round(close[0][1], 3)}
            )
    return {"ids": ids, "duplicates": duplicates, "near": near, "left": 0}


def _leave(
    runtime: "Runtime", name: str, pieces: list[tuple[str, str]], options: dict[str, Any]
) -> dict[str, Any]:
    for text, document in pieces:
        runtime.leave(name, "insert", {"text": text, "document": document, **options})
    return {"ids": [], "duplicates": [], "near": [], "left": len(pieces)}


def _tell(done: dict[str, Any], name: str, as_json: bool) -> None:
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer, plural

    if as_json:
        answer(done)
        return
    if done["left"]:
        what = plural(done["left"], "passage")
        say(f"{name} is in use: {what} left in its inbox, for its next turn")
    if done["ids"]:
        print(f"kept as {_span(done['ids'])}")
    if done["duplicates"]:
        print(f"there already: {_span(done['duplicates'])}")
    for each in done["near"]:
        say(f"{each['id']} is nearly the same as {each['near']} ({each['similarity']:.2f})")
    for each in done["skipped"]:
        say(f"skipped {each['path']}: {each['why']}")


def _span(ids: list[str]) -> str:
    unique = list(dict.fromkeys(ids))
    return ", ".join(unique) if len(unique) <= 5 else f"{unique[0]} … {unique[-1]} ({len(unique)})"


def restore(
    agent: AgentName,
    target: Target,
    version: Annotated[
        int, typer.Argument(metavar="VERSION", help="A version of its history.", min=1)
    ],
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Give a block or a passage the value of an earlier version, as a new version."""
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime, runtime.writer(agent, wait=wait) as writer:
        versions_of(writer, target)
        number = passage_number(target)
        if number is not None and not writer.state.blocks.history(target):
            writer.restore_passage(number, version)
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
        with _progress("rebuilding") as shown:

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
        with _progress("embedding") as shown:
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
def _progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, moved by calling what it gives with rows done and rows in all."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TextColumn("rows"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
