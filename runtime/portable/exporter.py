"""export_agent: writes an agent to one .pmz file, as it is at one instant, beside whoever runs it.

Rows go through in small batches, whatever the history's length. The file appears whole under its
name or not at all.
"""

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from pagemind.runtime.clock import Clock
from pagemind.runtime.errors import DiskFull, PagemindError, StorageError, UserError
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.outbox import Tier
from pagemind.runtime.portable import vectors
from pagemind.runtime.portable.carried import Carried
from pagemind.runtime.portable.container import ContainerWriter
from pagemind.runtime.portable.increment import Plan, plan, rows_of_part
from pagemind.runtime.portable.manifest import (
    DEFINITION,
    FORMAT,
    AgentPart,
    Embeddings,
    Manifest,
    TableState,
)
from pagemind.runtime.portable.parquet import write_rows, write_vectors
from pagemind.runtime.portable.secrets import Secrets
from pagemind.runtime.portable.tables import (
    META_LEFT_OUT,
    RowsDigest,
    exported,
    sequences,
    table_of,
)
from pagemind.runtime.settings import PORTABLE_FORMAT, STATE_SCHEMA
from pagemind.runtime.state.home import Registered
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.store import TIERS, TierStore
from pagemind.runtime.written_path import expanded

_CHUNK = 1 << 20
_HASH = re.compile("[0-9a-f]{64}")
_TABLES: dict[Tier, str] = {"recall": "messages", "archival": "passages", "pages": "pages"}
Since = int | str | datetime | Path | None


def export_agent(
    registered: Registered,
    folder: Path,
    path: Path,
    *,
    clock: Clock,
    since: Since = None,
    embeddings: bool = True,
    overwrite: bool = False,
    environ: Mapping[str, str] | None = None,
    stop: Callable[[], None] = lambda: None,
) -> Carried:
    """Write the agent in `folder` to `path`. Raises UserError, StorageError."""
    path = expanded(path)
    if path.is_dir():
        raise UserError(f"{path} is a folder", hint=f"write {path / registered.name}.pmz")
    if path.exists() and not overwrite:
        raise UserError(f"{path} is there already", hint="say --force to replace it")
    if not path.absolute().parent.is_dir():
        raise UserError(f"{path.parent} is not there", hint="make the folder first")
    state = State(folder, clock, read_only=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with state.database.reading(), unfinished.open("wb") as file:
            made = _Export(state, registered, environ or os.environ, stop)
            with ContainerWriter(file) as container:
                manifest = made.write(container, since, embeddings, clock.now())
            file.flush()
            os.fsync(file.fileno())
        carried = _carried(registered.name, path, manifest, unfinished, made.notes)
        unfinished.replace(path)
        return carried
    except OSError as error:
        what = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"{path}: {what}", hint="free some space and try again") from error
        raise UserError(f"{path} cannot be written: {what}") from error
    finally:
        unfinished.unlink(missing_ok=True)
        state.close()


class _Export:
    """One export: the parts of a file, one after the other."""

    def __init__(
        self,
        state: State,
        registered: Registered,
        environ: Mapping[str, str],
        stop: Callable[[], None],
    ) -> None:
        self._state = state
        self._registered = registered
        self._stop = stop
        self._secrets = Secrets(json.loads(state.database.meta("definition")), environ)
        self._secrets.read_texts(state.database)
        self.notes: list[str] = []

    def write(
        self, container: ContainerWriter, since: Since, embeddings: bool, now: datetime
    ) -> Manifest:
        state, registered, database = self._state, self._registered, self._state.database
        chosen = plan(
            since,
            database,
            self._secrets,
            agent_id=registered.id,
            name=registered.name,
            now=now.astimezone(UTC),
        )
        definition = json.dumps(
            self._secrets.definition, ensure_ascii=False, indent=1, sort_keys=False
        )
        container.add(DEFINITION, definition.encode("utf-8") + b"\n")
        tables = self._tables(container, chosen)
        blobs = self._blobs(container, chosen)
        made_by = self._vectors(container, chosen) if embeddings else None
        left_out = self._secrets.left_out
        self.notes += [f"left out: {each}" for each in left_out]
        meta = {
            row["key"]: row["value"]
            for row in database.rows("SELECT key, value FROM meta ORDER BY key")
            if row["key"] not in META_LEFT_OUT
        }
        manifest = Manifest(
            format=FORMAT,
            version=PORTABLE_FORMAT,
            made_by=f"pagemind {version('pagemind')}",
            state_schema=STATE_SCHEMA,
            agent=AgentPart(
                name=registered.name,
                id=registered.id,
                definition=registered.definition,
                model=registered.model,
            ),
            seq=state.journal.last_seq,
            messages=state.journal.count(),
            passages=state.passages.count(),
            pages=state.pages.count(),
            embedding=database.meta("embedding"),
            meta=meta,
            sequences=sequences(database),
            tables=tables,
            embeddings=made_by,
            base=chosen.base,
            blobs=blobs,
            left_out=left_out,
            members=dict(sorted(container.members.items())),
        )
        container.finish(manifest)
        return manifest

    def _tables(self, container: ContainerWriter, chosen: Plan) -> dict[str, TableState]:
        database, states = self._state.database, {}
        for name in exported(database):
            self._stop()
            table, part = table_of(database, name), chosen.of(name)
            digest = RowsDigest(table)
            rows = rows_of_part(database, table, part, self._secrets, digest)
            if part.mode == "same":
                carried = len(list(rows))
            else:
                with container.member(f"tables/{name}.parquet") as stream:
                    carried = write_rows(stream, table, rows)
            states[name] = TableState(
                rows=digest.rows,
                sha256=digest.sha256,
                columns=list(table.names),
                last=list(digest.last),
                mode=part.mode,
                after=list(part.after or ()),
                carried=carried,
            )
        return states

    def _blobs(self, container: ContainerWriter, chosen: Plan) -> list[str]:
        """Files beside the database, each named by its hash; all that there are. Whatever else
        lies there stays."""
        folder = self._state.folder / "blobs"
        found: list[str] = []
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.is_symlink() or not path.is_file() or not _HASH.fullmatch(path.name):
                continue
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != path.name:
                    self.notes.append(f"the blob {path.name[:12]}… is damaged and was left out")
                    continue
                found.append(path.name)
                if path.name in chosen.blobs:
                    continue
                file.seek(0)
                with container.member(f"blobs/{path.name}") as stream:
                    while chunk := file.read(_CHUNK):
                        stream.write(chunk)
        return found

    def _vectors(self, container: ContainerWriter, chosen: Plan) -> Embeddings | None:
        store = TierStore(self._state.tiers, None, agent=self._registered.name)
        try:
            made_by = self._made_by(store)
            if made_by is None:
                return None
            rows: dict[str, int] = {}
            for tier in TIERS:
                part = chosen.of(_TABLES[tier])
                if part.mode == "same":
                    continue
                after = 0 if part.after is None else int(part.after[-1])
                found = vectors.vectors_of(self._state, store, tier, after=after)
                with container.member(vectors.member(tier)) as stream:
                    rows[tier] = write_vectors(stream, made_by.dimensions, found)
                self._stop()
            return Embeddings(identity=made_by.as_json(), rows=rows)
        except StorageError as error:
            error.hint = "--no-embeddings leaves them out: an import makes them anew"
            raise
        finally:
            store.close()

    def _made_by(self, store: TierStore) -> EmbeddingIdentity | None:
        """What made the vectors. Those that cannot be read can be made again; the texts cannot."""
        try:
            return vectors.identity(store)
        except PagemindError as error:
            self.notes.append(f"no embeddings: {error.message}")
            return None


def _carried(name: str, path: Path, manifest: Manifest, written: Path, notes: list[str]) -> Carried:
    with written.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Carried(
        agent=name,
        path=path,
        messages=manifest.messages,
        passages=manifest.passages,
        pages=manifest.pages,
        sha256=sha256,
        bytes=written.stat().st_size,
        embeddings=sum(manifest.embeddings.rows.values()) if manifest.embeddings else 0,
        since=manifest.base.seq if manifest.base else None,
        notes=tuple(notes),
    )
