"""AgentWriter: changes the memory of an agent at rest, as a person does. No model is needed.

It holds the agent's lock from its making to close(), so that nobody runs the agent meanwhile. What
it writes is committed to the state database and on its way to LanceDB, as in a turn.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pagemind.runtime.archival_memory import ArchivalMemory
from pagemind.runtime.clock import Clock
from pagemind.runtime.core_editor import CoreEditor
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import NotFound, PagemindError, SchemaTooNew, StorageError
from pagemind.runtime.intake import observation
from pagemind.runtime.message import Message
from pagemind.runtime.model import Embedder
from pagemind.runtime.passage import Passage
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.reembed import Reembedded, reembed
from pagemind.runtime.settings import WRITE_BACK_EXIT_SECONDS
from pagemind.runtime.state.home import AgentLock, Registered
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.search import TierSearch
from pagemind.runtime.tiers.write_back import WriteBack, WriteBackStatus
from pagemind.runtime.tokens import TokenCounter

OnRows = Callable[[int, int], None]  # rows done, rows in all
_POLL_SECONDS = 0.5


class AgentWriter(AgentReader):
    """Made by `Runtime.writer(name)`, which takes the lock; a context manager."""

    def __init__(
        self,
        registered: Registered,
        folder: Path,
        *,
        clock: Clock,
        counter: TokenCounter,
        embedder: Callable[[AgentDefinition], Embedder | None],
        write_back: WriteBack,
        lock: AgentLock,
    ) -> None:
        super().__init__(registered, folder, clock=clock, counter=counter, embedder=embedder)
        self._lock = lock
        self._write_back = write_back
        try:
            self.state.database.take()
            write_back.register(
                registered.id, self.state.outbox, self.store, self.embedder, zone=self.zone
            )
        except BaseException:
            self.state.close()
            raise

    def _open(self, clock: Clock) -> State:
        return State(self.folder, clock)

    def _load(self) -> QueueManager:
        manager = super()._load()
        if self.state.history.epoch() is None:
            manager.load()  # begins the first epoch: what is recorded now belongs to its queue
        return manager

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        document: str = "",
    ) -> tuple[Passage, bool]:
        """Store a passage, or a piece of the named document; it, and whether it is new."""
        search = TierSearch("archival", self.search)
        archival = ArchivalMemory(self.state, search, written=self._kick).for_person(document)
        return archival.insert(text, tags=tags, importance=importance, metadata=metadata)

    def observe(self, text: str, *, source: str, speaker: str = "") -> Message:
        """Record something that happened: searchable at once, in the queue of the next turn."""
        message = self.queue_manager.append(observation(text, source, speaker))
        self._kick()
        return message

    def restore_block(self, label: str, version: int) -> str:
        """Take edits of core memory back; the value. Raises BlockNotFound, NotFound."""
        editor = CoreEditor(self.state, self.context.core, author="user", origin="user")
        return editor.restore(label, version)

    def restore_passage(self, number: int, version: int) -> Passage:
        """Give a passage the text of a version, and bring it back if it was retired."""
        passages = self.state.passages
        versions = passages.history(number)
        if not versions:
            raise NotFound(f"there is no passage a{number}")
        old = next((each.value for each in versions if each.version == version), None)
        if old is None:
            raise NotFound(
                f"a{number} has no version {version}",
                hint=f"its versions are 1 to {len(versions)}",
            )
        why, seq = f"restored version {version}", self.state.journal.last_seq
        with self.state.database.transaction():
            passages.set_status(number, "active", author="user", reason=why, seq=seq)
            if passages.get([number])[number].text != old:
                passages.edit(number, old, author="user", reason=why, seq=seq)
        self._kick()
        return passages.get([number])[number]

    def rebuild(self, on_rows: OnRows) -> WriteBackStatus:
        """Drop the LanceDB tiers and fill them again from the state database.

        Raises StorageError if they cannot be written; the rows then wait and are still found.
        Raises SchemaTooNew, and drops nothing, if a newer pagemind wrote them.
        """
        self._refuse_newer()
        # The outbox first: a crash after it repeats work, one before it would lose rows.
        total = self.state.outbox.refill()
        self.store.reset()
        key = self.registered.id
        while left := self.state.outbox.count():
            on_rows(total - left, total)
            self._write_back.drain(key, _POLL_SECONDS)
            status = self._write_back.status(key)
            if status.last_error and self.state.outbox.count() == left:
                raise StorageError(
                    f"the tiers of {self.name!r} cannot be written: {status.last_error}",
                    hint=f"{left:,} rows wait; nothing is lost",
                )
        self._fill_vectors()
        on_rows(total, total)
        return self._write_back.status(key)

    def reembed(self, on_rows: OnRows) -> Reembedded:
        """Make the tiers anew with the embedder that the definition names; readers have the old
        ones until that is done. Cut off, it goes on where it was.

        Raises ModelError where the embedder fails, StorageError; SchemaTooNew as rebuild() does.
        """
        self._refuse_newer()
        key = self.registered.id
        self._write_back.unregister(key)  # nothing may go into the old tables meanwhile
        try:
            return reembed(
                self.state,
                self._embedder(self.definition),
                self.definition.embedding,
                zone=self.zone,
                agent=self.name,
                on_rows=on_rows,
            )
        finally:
            self._write_back.register(
                key, self.state.outbox, self.store, self.embedder, zone=self.zone
            )

    def _refuse_newer(self) -> None:
        """What a newer pagemind wrote is not ours to drop."""
        try:
            self.store.check()
        except SchemaTooNew:
            raise
        except PagemindError:
            pass  # damaged, outdated or of another embedder: that is what making anew is for

    def _fill_vectors(self) -> None:
        """Rows of very long messages get their vectors after they are written."""
        pause, missing = threading.Event(), -1
        while (status := self._write_back.status(self.registered.id)).missing_vectors:
            if status.last_error or status.missing_vectors == missing:
                return
            missing = status.missing_vectors
            self._kick()
            pause.wait(_POLL_SECONDS * 8)

    def _kick(self) -> None:
        self._write_back.kick(self.registered.id)

    def close(self) -> None:
        """Carry over what is pending, close the files, release the lock."""
        key = self.registered.id
        if self.state.outbox.count():
            self._write_back.drain(key, WRITE_BACK_EXIT_SECONDS, vectors=False)
        self._write_back.unregister(key)
        super().close()
        self._lock.release()
