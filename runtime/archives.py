"""Archives: the shared archives of a home: make, read, write, delete. `Runtime.archives` is one.

An archive holds passages that many agents may search. One process writes to it at a time; readers
work beside it from anywhere.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import tzinfo
from functools import partial
from pathlib import Path

from pagemind.runtime import settings
from pagemind.runtime.archive import (
    ArchiveInfo,
    ArchiveReader,
    ArchiveWriter,
    EmbedderNamed,
    unreadable,
)
from pagemind.runtime.clock import Clock
from pagemind.runtime.errors import ArchiveExists, PagemindError
from pagemind.runtime.memory import Memory
from pagemind.runtime.naming import checked_archive, folded
from pagemind.runtime.settings import ARCHIVE_WAIT_SECONDS, DEFAULT_EMBEDDING
from pagemind.runtime.state.archives import ArchiveRegistry, RegisteredArchive
from pagemind.runtime.state.database import version_of
from pagemind.runtime.state.home import Home
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.write_back import WriteBack

Count = Callable[[str], int]


class Archives:
    """Those of one home, as one process uses them."""

    def __init__(
        self,
        home: Home,
        *,
        clock: Clock,
        embedder: EmbedderNamed,
        write_back: WriteBack,
        count: Count,
    ) -> None:
        self.registry = ArchiveRegistry(home, clock)
        self._clock = clock
        self._embedder = embedder
        self._write_back = write_back
        self._count = count
        self._memories: dict[str, Memory] = {}
        self._lock = threading.Lock()

    def new(self, name: str, embedding: str | None = None) -> RegisteredArchive:
        """Make an archive. All or nothing: it is listed when it is complete.

        Raises ArchiveExists, InvalidName, LocalModelError for an embedder that is not there.
        """
        name = checked_archive(name)
        embedding = embedding or DEFAULT_EMBEDDING
        self._embedder(embedding)  # raises for a name that is nobody's
        self.registry.sweep()
        id = self._clock.new_id()
        with self.registry.making(id) as folder:
            state = State(folder, self._clock)
            try:
                with state.database.transaction():
                    state.database.set_meta("archive_id", id)
                    state.database.set_meta("embedding", embedding)
                    state.journal.open_first_line()
            finally:
                state.close()
            return self.registry.add(id, name, embedding)

    def reader(
        self, name: str, *, embedder: EmbedderNamed | None = None, zone: tzinfo | None = None
    ) -> ArchiveReader:
        """Read an archive that may be written to meanwhile. Close it after use.

        One of an older version is brought up first, after a backup: agents that search it would
        otherwise do without. Raises UnknownArchive; ArchiveInUse, if somebody holds an old one.
        """
        registered = self.registry.find(name)
        self._bring_up(registered)
        return ArchiveReader(
            registered,
            self.registry.folder(registered.id),
            clock=self._clock,
            embedder=embedder or self._embedder,
            zone=zone,
        )

    def _bring_up(self, registered: RegisteredArchive) -> None:
        folder = self.registry.folder(registered.id)
        if not 0 < version_of(folder / "state.db") < settings.STATE_SCHEMA:
            return
        lock = self.registry.lock(registered)
        lock.acquire(ARCHIVE_WAIT_SECONDS)
        try:
            State(folder, self._clock).close()
        finally:
            lock.release()

    def writer(self, name: str, *, wait: float = 0.0) -> ArchiveWriter:
        """Change an archive. Close it after use. Raises ArchiveInUse after `wait` seconds."""
        registered = self.registry.find(name)
        lock = self.registry.lock(registered)
        lock.acquire(wait)
        try:
            self.registry.find(name)  # it may have been deleted while we waited
            return ArchiveWriter(
                registered,
                self.registry.folder(registered.id),
                clock=self._clock,
                embedder=self._embedder,
                write_back=self._write_back,
                lock=lock,
                noted=partial(self.registry.audit_heads.note, registered.id),
            )
        except BaseException:
            lock.release()
            raise

    def embed_with(self, name: str, embedding: str, *, wait: float = 0.0) -> None:
        """Name another embedder; `reembed` of a writer makes the table anew with it."""
        registered = self.registry.find(name)
        self._embedder(embedding)  # raises for a name that is nobody's
        lock = self.registry.lock(registered)
        lock.acquire(wait)
        try:
            self.registry.set_embedding(registered.id, embedding)
        finally:
            lock.release()

    def memory(
        self,
        scope: str,
        *,
        create: bool = True,
        embedding: str | None = None,
        wait: float = ARCHIVE_WAIT_SECONDS,
    ) -> Memory:
        """The archive of this name as a library: the same object for the same archive.

        Raises UnknownArchive with `create=False`, InvalidName.
        """
        name = checked_archive(scope)
        with self._lock:
            known = self._memories.get(folded(name))
            if known is not None:
                if known.usable:
                    return known
                known.close()
            if create and self.registry.get(name) is None:
                with suppress(ArchiveExists):  # another process made it meanwhile
                    self.new(name, embedding)
            registered = self.registry.find(name)
            memory = Memory(
                registered.name,
                read=partial(self.reader, name),
                write=lambda wait: self.writer(name, wait=wait),
                there=lambda: self.registry.get(name) == registered,
                wait=wait,
                count=self._count,
            )
            self._memories[folded(name)] = memory
            return memory

    def info(self, name: str) -> ArchiveInfo:
        with self.reader(name) as reader:
            return reader.info()

    def all(self) -> list[ArchiveInfo]:
        """Every archive of the home by name; one that cannot be read says why."""
        found = []
        for registered in self.registry.all():
            try:
                found.append(self.info(registered.name))
            except PagemindError as error:
                found.append(unreadable(registered, error.message))
        return found

    def path(self, name: str) -> Path:
        """The archive's folder."""
        return self.registry.folder(self.registry.find(name).id)

    def delete(self, name: str, *, wait: float = 0.0) -> RegisteredArchive:
        """Remove an archive and its folder; what it was. Raises ArchiveInUse, UnknownArchive."""
        registered = self.registry.find(name)
        lock = self.registry.lock(registered)
        lock.acquire(wait)
        try:
            self.registry.remove(registered)
        finally:
            lock.release()
        return registered

    def close(self) -> None:
        """Close what `memory` gave. Idempotent."""
        for memory in list(self._memories.values()):
            memory.close()
        self._memories.clear()
