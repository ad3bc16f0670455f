"""TiersWriter: changes the passages of an agent or an archive as a person does, without a model.

Whoever makes one has taken the folder's lock; close() releases it. What is written is committed to
the state database and on its way to LanceDB, as in a turn.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from pagemind.runtime.archival_memory import ArchivalMemory
from pagemind.runtime.clock import Clock
from pagemind.runtime.dropped_plans import drop_plans
from pagemind.runtime.errors import (
    NotFound,
    PagemindError,
    SchemaTooNew,
    StorageError,
    UserError,
)
from pagemind.runtime.item_store import ItemStore, Shelf
from pagemind.runtime.keeping import PLAIN, Keeping
from pagemind.runtime.message import Status
from pagemind.runtime.model import Embedder
from pagemind.runtime.passage import Passage
from pagemind.runtime.reembed import Reembedded, reembed
from pagemind.runtime.settings import TIER_LOCK_SECONDS, WRITE_BACK_EXIT_SECONDS
from pagemind.runtime.sight import EVERYTHING, Sight
from pagemind.runtime.state.audit import Head
from pagemind.runtime.state.folders import FolderLock
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import StepTrust
from pagemind.runtime.tiers.search import TierSearch
from pagemind.runtime.tiers.write_back import WriteBack, WriteBackStatus
from pagemind.runtime.tiers_reader import TiersReader

OnRows = Callable[[int, int], None]  # rows done, rows in all
_POLL_SECONDS = 0.5


class TiersWriter(TiersReader):
    """A reader that became the writer with `_hold()`."""

    def _open(self, clock: Clock) -> State:
        return State(self.folder, clock)

    def _hold(
        self,
        key: str,
        write_back: WriteBack,
        lock: FolderLock,
        noted: Callable[[Head], None] | None,
    ) -> None:
        """Become the writer; `key` is what write_back knows these tiers by, `noted` is told how
        long the audit log is in the end."""
        self._key = key
        self._noted = noted
        self._write_back = write_back
        self._lock = lock
        try:
            self.state.database.take()
            write_back.register(key, self.state.outbox, self.store, self.embedder, zone=self.zone)
        except BaseException:
            self.state.close()
            raise

    @property
    def embedding(self) -> tuple[str, Embedder | None]:
        """What `reembed` makes the tables with: its name and the embedder."""
        raise NotImplementedError

    def archival(self, document: str = "") -> ArchivalMemory:
        """Archival memory as a person writes to it, or as pieces of the named document do."""
        search = TierSearch("archival", self.search)
        memory = ArchivalMemory(self.state, search, written=self._kick, sight=self.sight)
        return memory.for_person(document)

    def archival_of(
        self, agent: str, sight: Sight = EVERYTHING, trust: StepTrust | None = None
    ) -> ArchivalMemory:
        """Archival memory as an agent that sees so much writes to it, in steps of that trust."""
        return ArchivalMemory(
            self.state,
            TierSearch("archival", self.search),
            written=self._kick,
            author=agent,
            origin="agent",
            detail=agent,
            sight=sight,
            trust=trust,
        )

    @property
    def items(self) -> ItemStore:
        """JSON values under a namespace and a key, as a person keeps them."""

        def opened() -> AbstractContextManager[Shelf]:
            return nullcontext(Shelf(self.state, self.search, self._kick))

        return ItemStore(opened, opened, sight=self.sight)

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        document: str = "",
        keeping: Keeping = PLAIN,
    ) -> tuple[Passage, bool]:
        """Store a passage, or a piece of the named document; it, and whether it is new."""
        return self.archival(document).insert(
            text, tags=tags, importance=importance, metadata=metadata, keeping=keeping
        )

    def changed(self) -> None:
        """Passages were changed beside this: have their rows written back."""
        self._kick()

    def retire(self, number: int, *, reason: str) -> bool:
        """Hide a passage, recoverably; whether it was there."""
        with self.state.database.transaction():
            changed = self.state.passages.set_status(
                number, "retired", author="user", reason=reason, seq=self.state.journal.last_seq
            )
            if changed is not None:
                drop_plans(self.state, changed, "user")
        self._kick()
        return changed is not None

    def restore_passage(self, number: int, version: int | None = None) -> Passage:
        """Give a passage the text of a version (None: the newest), and bring it back if it was
        retired, let go cold or has expired; one that was rejected waits again. Raises NotFound,
        UserError for one that waits."""
        passages = self.state.passages
        versions = passages.history(number)
        if not versions:
            raise NotFound(f"there is no passage a{number}")
        version = version or versions[-1].version
        old = next((each.value for each in versions if each.version == version), None)
        if old is None:
            raise NotFound(
                f"a{number} has no version {version}",
                hint=f"its versions are 1 to {len(versions)}",
            )
        why, seq = f"restored version {version}", self.state.journal.last_seq
        let_in = passages.was_active(number)
        if not let_in and passages.get([number])[number].provenance.status == "pending":
            raise UserError(
                f"a{number} waits for your decision, and was never active",
                hint=f"`pagemind {self.commands} review {self.name} a{number} --approve`",
            )
        with self.state.database.transaction():
            # What was rejected waits again: coming back lets nothing in.
            back: Status = "active" if let_in else "pending"
            passages.set_status(number, back, author="user", reason=why, seq=seq)
            found = passages.get([number])[number]
            warm = replace(found.facets, cold=False)
            if warm.expires_at is not None and warm.expires_at <= self.state.clock.now():
                warm = replace(warm, expires_at=None)
            if found.text != old or warm != found.facets:
                passages.edit(number, old, facets=warm, author="user", reason=why, seq=seq)
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
        while left := self.state.outbox.count():
            on_rows(total - left, total)
            self._write_back.drain(self._key, _POLL_SECONDS)
            status = self._write_back.status(self._key)
            if status.last_error and self.state.outbox.count() == left:
                raise StorageError(
                    f"the tiers of {self.name!r} cannot be written: {status.last_error}",
                    hint=f"{left:,} rows wait; nothing is lost",
                )
        self._fill_vectors()
        on_rows(total, total)
        return self._write_back.status(self._key)

    def reembed(self, on_rows: OnRows) -> Reembedded:
        """Make the tiers anew with the embedder that is named now; readers have the old ones until
        that is done. Cut off, it goes on where it was.

        Raises ModelError where the embedder fails, StorageError; SchemaTooNew as rebuild() does.
        """
        self._refuse_newer()
        name, embedder = self.embedding
        with self.still():  # nothing may go into the old tables meanwhile
            return reembed(
                self.state, embedder, name, zone=self.zone, agent=self.name, on_rows=on_rows
            )

    @contextmanager
    def still(self) -> Iterator[None]:
        """Within it nothing is carried to the tiers, and no upkeep is done beside the caller's."""
        self._write_back.unregister(self._key, TIER_LOCK_SECONDS)
        try:
            yield
        finally:
            self._write_back.register(
                self._key, self.state.outbox, self.store, self.embedder, zone=self.zone
            )

    def carry_over(self, on_rows: OnRows) -> bool:
        """Write all that is pending to the tiers, without waiting for vectors; whether that was
        done. After many inserts: a search looks through a few thousand pending rows only."""
        total = self.state.outbox.count()
        while left := self.state.outbox.count():
            on_rows(max(0, total - left), total)
            self._write_back.drain(self._key, _POLL_SECONDS, vectors=False)
            if self.state.outbox.count() == left and self._write_back.status(self._key).last_error:
                return False  # they wait, and doctor says why
        on_rows(total, total)
        return True

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
        while (status := self._write_back.status(self._key)).missing_vectors:
            if status.last_error or status.missing_vectors == missing:
                return
            missing = status.missing_vectors
            self._kick()
            pause.wait(_POLL_SECONDS * 8)

    def kick(self) -> None:
        """Something was changed beside these functions: it has to go to the tiers."""
        self._kick()

    def _kick(self) -> None:
        self._write_back.kick(self._key)

    def _settle(self) -> None:
        """Carry over what is pending, before the end."""
        if self.state.outbox.count():
            self._write_back.drain(self._key, WRITE_BACK_EXIT_SECONDS, vectors=False)

    def close(self) -> None:
        """Carry over what is pending, close the files, release the lock."""
        try:
            self._settle()
            if self._noted is not None:
                self._noted(self.state.audit.head())
        finally:  # a full disk must not hold it: it could not be opened again
            self._write_back.unregister(self._key)
            super().close()
            self._lock.release()
