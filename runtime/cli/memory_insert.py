"""`pagemind memory insert`: a text, files or folders into the archival memory of an agent."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import (
    AgentName,
    AsJson,
    Evergreen,
    Files,
    HomeFolder,
    Importance,
    Owner,
    Scope,
    Tags,
    TextToKeep,
    Ttl,
    Wait,
)

if TYPE_CHECKING:
    from pagemind.runtime.ingest import Ingested
    from pagemind.runtime.runtime import Runtime


def insert(
    agent: AgentName,
    text: TextToKeep = "",
    file: Files = None,
    sync: Annotated[
        bool,
        typer.Option("--sync", help="Retire what came from files that are gone from the folder."),
    ] = False,
    tag: Tags = None,
    importance: Importance = None,
    scope: Scope = "",
    private_to: Owner = "",
    ttl: Ttl = "",
    evergreen: Evergreen = False,
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Keep a text, or files cut into passages, in archival memory. No model is needed.

    A file that did not change since the last time is skipped, one that did is brought up to date,
    and what was cut off goes on. If the agent is in use, the passages are left in its inbox and
    taken up in its next turn.
    """
    from pagemind.runtime.cli.ingesting import exit_code, tell_ingested
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened
    from pagemind.runtime.errors import AgentInUse
    from pagemind.runtime.keeping import Keeping

    if bool(text) == bool(file):
        raise typer.BadParameter("give a TEXT or --file, and not both", param_hint="TEXT")
    if sync and not any(path.is_dir() for path in file or ()):
        raise typer.BadParameter("give a folder with --file", param_hint="--sync")
    said = said_text(text) if text else ""
    options: dict[str, Any] = {"tags": tag or [], "importance": importance}
    keeping = Keeping.of(scope or None, private_to, ttl, evergreen)
    left = 0
    with opened(home) as runtime:
        name = runtime.home.find(agent).name
        try:
            said_how = {**options, "keeping": keeping}
            done = _take(runtime, name, said, file or (), sync, wait, said_how)
        except AgentInUse:
            if sync:
                raise  # nothing can be retired now
            left_how = {**options, **keeping.as_json()}
            done, left = _leave(runtime, name, said, file or (), left_how)
    body = {**done.as_json(), "left": left}
    if as_json:
        answer(body)
    else:
        tell_ingested(body, name)
    return exit_code(body)


def said_text(text: str) -> str:
    """The text, or standard input. Raises UserError for none and for too much."""
    from pagemind.runtime.cli.session import text_or_stdin
    from pagemind.runtime.errors import UserError
    from pagemind.runtime.settings import MAX_MESSAGE_BYTES

    said = text_or_stdin(text)
    if not said.strip():
        raise UserError("there is nothing to keep: the text is empty")
    if len(said.encode("utf-8", "replace")) > MAX_MESSAGE_BYTES:
        raise UserError(
            f"the text has more than {MAX_MESSAGE_BYTES:,} bytes", hint="give it in several parts"
        )
    return said


def _take(
    runtime: "Runtime",
    name: str,
    said: str,
    paths: Sequence[Path],
    sync: bool,
    wait: float,
    options: dict[str, Any],
) -> "Ingested":
    from pagemind.runtime.cli.ingesting import index, ingest_progress
    from pagemind.runtime.ingest import ingest, ingest_text

    with runtime.writer(name, wait=wait) as writer:
        with ingest_progress() as shown:
            if said:
                done = ingest_text(writer, said, on_progress=shown, **options)
            else:
                denied = runtime.home.denied
                done = ingest(writer, paths, sync=sync, on_progress=shown, denied=denied, **options)
        index(writer)
        return done


def _leave(
    runtime: "Runtime", name: str, said: str, paths: Sequence[Path], options: dict[str, Any]
) -> tuple["Ingested", int]:
    """Leave the passages in the agent's inbox; how many. Raises AgentInUse for too many: its next
    turn would wait for all of them."""
    from pagemind.runtime.errors import AgentInUse
    from pagemind.runtime.ingest import read_passages
    from pagemind.runtime.settings import INBOX_PASSAGES

    done, items = read_passages(said, paths, INBOX_PASSAGES + 1, runtime.home.denied)
    if len(items) > INBOX_PASSAGES:
        raise AgentInUse(
            f"{name} is in use, and its inbox takes {INBOX_PASSAGES:,} passages at once",
            hint="try again when it is at rest, or say --wait SECONDS",
        )
    for document, cut in items:
        body = {"text": cut.text, "metadata": cut.metadata, "document": document, **options}
        runtime.leave(name, "insert", body)
    return done, len(items)
