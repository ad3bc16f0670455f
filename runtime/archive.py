"""ArchiveReader and ArchiveWriter: a shared archive, which is passages and nothing else.

A reader works beside a writer in any process; the writer holds the archive's lock until close().
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, ClassVar

from pagemind.runtime.archival_memory import check_importance, each_once
from pagemind.runtime.clock import Clock, LocalZone, rfc3339
from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.message import clean_text
from pagemind.runtime.model import Embedder
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import (
    ARCHIVE_SETTLE_SECONDS,
    SEARCH_TAIL_EMBED,
    STATE_SCHEMA,
)
from pagemind.runtime.state.archives import RegisteredArchive
from pagemind.runtime.state.audit import Head
from pagemind.runtime.state.folders import FolderLock
from pagemind.runtime.tiers.write_back import WriteBack
from pagemind.runtime.tiers_reader import TiersReader
from pagemind.runtime.tiers_writer import OnRows, TiersWriter

_POLL_SECONDS = 0.05
EmbedderNamed = Callable[[str], Embedder | None]


@dataclass(frozen=True, slots=True)
class ArchiveInfo:
    """One row of `archives list`."""

    name: str
    id: str
    embedding: str
    passages: int
    documents: int  # files that were read into it
    in_use: bool  # somebody writes to it
    created_at: datetime
    bytes: int
    problem: str = ""  # why it cannot be read; the counts are unknown then

    def as_json(self) -> dict[str, Any]:
        """An item of `archives list --json`."""
        return {
            "name": self.name,
            "id": self.id,
            "embedding": self.embedding,
            "passages": self.passages,
            "documents": self.documents,
            "in_use": self.in_use,
            "created_at": rfc3339(self.created_at),
            "bytes": self.bytes,
            "schema_version": STATE_SCHEMA,
            "problem": self.problem,
        }


def unreadable(archive: RegisteredArchive, problem: str) -> ArchiveInfo:
    """An archive whose state cannot be read: it is listed, so that a person learns of it."""
    made = archive.created_at
    return ArchiveInfo(archive.name, archive.id, archive.embedding, 0, 0, False, made, 0, problem)


class ArchiveReader(TiersReader):
    """`embedder` gives the embedder of a name; one that may not be used raises UserError, and
    words are still searched."""

    commands: ClassVar[str] = "archives"

    def __init__(
        self,
        registered: RegisteredArchive,
        folder: Path,
        *,
        clock: Clock,
        embedder: EmbedderNamed,
        zone: tzinfo | None = None,
    ) -> None:
        super().__init__(registered.name, folder, clock)
        self.registered = registered
        self._named = embedder
        self._zone = zone or LocalZone()

    @property
    def zone(self) -> tzinfo:
        return self._zone

    @property
    def embedder(self) -> Embedder | None:
        made_by = self.state.database.meta("embedding", self.registered.embedding)
        try:
            return self._named(made_by)
        except UserError:
            return None

    def info(self) -> ArchiveInfo:
        """Counts and sizes."""
        return ArchiveInfo(
            name=self.name,
            id=self.registered.id,
            embedding=self.registered.embedding,
            passages=self.state.passages.count(),
            documents=self.state.database.number("SELECT count(*) FROM documents"),
            in_use=FolderLock(self.folder, self.name, "archive").held(),
            created_at=self.registered.created_at,
            bytes=self.bytes_on_disk(),
        )


class ArchiveWriter(ArchiveReader, TiersWriter):
    """Made by `Archives.writer(name)`, which takes the lock; a context manager."""

    def __init__(
        self,
        registered: RegisteredArchive,
        folder: Path,
        *,
        clock: Clock,
        embedder: EmbedderNamed,
        write_back: WriteBack,
        lock: FolderLock,
        noted: Callable[[Head], None] | None = None,
    ) -> None:
        super().__init__(registered, folder, clock=clock, embedder=embedder)
        self._changes = 0
        self._hold(registered.id, write_back, lock, noted)

    @property
    def embedding(self) -> tuple[str, Embedder | None]:
        return self.registered.embedding, self._named(self.registered.embedding)

    def change(
        self,
        number: int,
        text: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Passage:
        """A new version of a passage; what is None stays. Raises NotFound, UserError."""
        if text is not None:
            text = clean_text(text)
            if not text.strip():
                raise UserError("the new text is empty", hint="delete() hides a passage")
        check_importance(importance)
        changed = self.state.passages.edit(
            number,
            text,
            tags=None if tags is None else each_once(tags),
            importance=importance,
            metadata=metadata,
            author="user",
            reason="edited",
            seq=0,
        )
        if changed is None:
            raise NotFound(f"there is no passage a{number} in {self.name!r}")
        self._kick()
        return changed

    def carry_over(self, on_rows: OnRows) -> bool:
        """As of an agent, and with the vectors: nobody would make up for them later.

        A few rows are left for the next writer: a search embeds so many itself, and one `add` need
        not load LanceDB.
        """
        if max(self.state.outbox.count(), self._changes) <= SEARCH_TAIL_EMBED:
            return True
        self._changes = 0
        done = super().carry_over(on_rows)
        self._write_back.drain(self._key, ARCHIVE_SETTLE_SECONDS)
        pause, total, least, waited = threading.Event(), 0, 0, 0.0
        while (status := self._write_back.status(self._key)).filling and not status.last_error:
            missing = status.missing_vectors
            total = max(total, missing)
            if missing != least:
                least, waited = missing, 0.0
            elif waited > ARCHIVE_SETTLE_SECONDS:
                return False
            on_rows(total - missing, total)
            pause.wait(_POLL_SECONDS)
            waited += _POLL_SECONDS
        return done

    def _kick(self) -> None:
        self._changes += 1
        super()._kick()

    def _settle(self) -> None:
        self.carry_over(lambda done, total: None)
