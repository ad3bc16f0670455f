"""import_agent: makes an agent from a .pmz file, or carries one on by an increment.

A new agent is built in a folder of its own and registered last; an increment is one transaction.
Whenever it is stopped, or killed, nothing of it is there or all of it.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pagemind.runtime import retold
from pagemind.runtime.acceptance import imported, reach_of, same_definition
from pagemind.runtime.approvals import no_copy_waits
from pagemind.runtime.clock import Clock
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.erasure.kept_out import keep_out
from pagemind.runtime.errors import AgentExists, BadExport, PagemindError, StorageError, UserError
from pagemind.runtime.flush import UNTRUSTED_HEAD
from pagemind.runtime.function_executor import ONCE
from pagemind.runtime.made_of import zone_of
from pagemind.runtime.message import TRUST
from pagemind.runtime.model import Embedder, EmbeddingIdentity
from pagemind.runtime.naming import checked_name
from pagemind.runtime.outbox import Tier
from pagemind.runtime.portable import vectors
from pagemind.runtime.portable.carried import Carried
from pagemind.runtime.portable.checks import check
from pagemind.runtime.portable.container import allowed_bytes, read_manifest, unpack
from pagemind.runtime.portable.loader import NotThatState, load
from pagemind.runtime.portable.manifest import DEFINITION, Manifest
from pagemind.runtime.portable.parquet import Budget
from pagemind.runtime.portable.reach import definition_in, reaches
from pagemind.runtime.portable.requeue import remember, requeue
from pagemind.runtime.portable.tables import META_LEFT_OUT, RowsDigest, rows_of_table, table_of
from pagemind.runtime.portable.trust import lower
from pagemind.runtime.state.home import AgentLock, Home, Registered
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.store import TIERS, TierStore
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.trusting import TRUST_SINCE, UPTO
from pagemind.runtime.written_path import expanded

_TRUST = TRUST["import"]
EmbedderOf = Callable[[AgentDefinition], Embedder | None]


def import_agent(
    home: Home,
    path: Path,
    *,
    clock: Clock,
    embedder: EmbedderOf,
    name: str | None = None,
    embeddings: bool = True,
    untrusted: bool = False,
    wait: float = 0.0,
    environ: Mapping[str, str] | None = None,
    stop: Callable[[], None] = lambda: None,
) -> Carried:
    """Import a file. Raises BadExport, AgentExists, UnknownAgent, AgentInUse, StorageError."""
    path = expanded(path)
    manifest = read_manifest(path)
    name = checked_name(name or manifest.agent.name)
    target = home.find(name) if manifest.base is not None else None
    if target is None and home.exists(name):
        raise _exists(name)
    home.sweep()
    made = clock.new_id()
    work = _Import(home, path, clock, embedder, embeddings, untrusted, environ or os.environ, stop)
    with home.making(made) as folder, home.unfinished(made):
        unpacked = folder / "unpacked"
        unpacked.mkdir()
        work.unpack(unpacked)
        if target is None:
            work.make(made, folder, name, unpacked)
        else:
            work.carry_on(target, wait)
    if target is not None:
        shutil.rmtree(home.folder(made), ignore_errors=True)
    return work.carried(target.name if target is not None else name)


def _exists(name: str) -> AgentExists:
    return AgentExists(
        f"there is an agent called {name!r} already",
        hint="import it under another name with --as NAME",
    )


@dataclass(slots=True)
class _Found:
    """What an agent holds once it is imported."""

    messages: int = 0
    passages: int = 0
    pages: int = 0
    embeddings: int = 0


class _Import:
    """One import, after its file was found to be one."""

    def __init__(
        self,
        home: Home,
        path: Path,
        clock: Clock,
        embedder: EmbedderOf,
        embeddings: bool,
        untrusted: bool,
        environ: Mapping[str, str],
        stop: Callable[[], None],
    ) -> None:
        self._home = home
        self._path = path
        self._clock = clock
        self._embedder = embedder
        self._embeddings = embeddings
        self._untrusted = untrusted
        self._environ = environ
        self._stop = stop
        self._budget = Budget(allowed_bytes(path))
        self._notes: list[str] = []
        self._found = _Found()
        self._manifest: Manifest
        self._files: dict[str, Path]
        self._stored: str  # the definition, as the state keeps it
        self._definition: AgentDefinition | None

    def unpack(self, folder: Path) -> None:
        """Check the file as a whole, and the definition in it."""
        self._manifest, self._files = unpack(self._path, folder, stop=self._stop)
        if DEFINITION not in self._files:
            raise BadExport(f"{self._path}: {DEFINITION} is missing")
        data = self._files[DEFINITION].read_bytes()
        self._stored, self._definition, notes = definition_in(data, self._path, self._environ)
        self._notes += notes
        self._notes += reaches(json.loads(self._stored))
        self._notes += [f"left out by the export: {each}" for each in self._manifest.left_out]

    @property
    def _sha256(self) -> str:
        """Of the manifest, which has those of all else: what the audit log knows the file by."""
        return hashlib.sha256(self._manifest.to_bytes()).hexdigest()

    # --- a new agent ----------------------------------------------------------------------------

    def make(self, agent_id: str, folder: Path, name: str, unpacked: Path) -> None:
        manifest = self._manifest
        state = State(folder, self._clock)
        try:
            with state.database.transaction():
                try:
                    load(
                        state.database,
                        manifest,
                        self._files,
                        self._path,
                        self._budget,
                        self._stop,
                    )
                except NotThatState as error:
                    raise BadExport(
                        f"{self._path}: {error.table} is not what its manifest says",
                        hint="export it again, or take another copy; nothing was imported",
                    ) from error
                definition = self._definition
                declared = definition.embedding if definition else manifest.embedding
                state.database.set_meta("agent_id", agent_id)
                state.database.set_meta("embedding", declared)
                self._finish(state)
                state.outbox.refill()
            self._blobs(folder)
            self._vectors(state, name)
            self._count(state)
        finally:
            state.close()
        shutil.rmtree(unpacked)
        try:
            self._home.add(agent_id, name, manifest.agent.definition, manifest.agent.model)
        except AgentExists:  # made meanwhile
            raise _exists(name) from None
        self._home.audit.add("imported", agent_id, by="user", trust=_TRUST, file=self._sha256)

    def _finish(self, state: State) -> None:
        """Inside the transaction: what is no table, trust, and whether all of it is an agent."""
        database = state.database
        for key, value in self._manifest.meta.items():
            if key not in META_LEFT_OUT and not key.startswith(ONCE):
                database.set_meta(key, value)
        before = database.meta("definition")
        if not before or not same_definition(before, self._stored):
            database.set_meta("definition", self._stored)
            imported(database)
            self._note_reach()
        no_copy_waits(state)
        if "lineage" not in self._manifest.tables:
            state.lineage.fill()  # the file is older than that table
        # What a file says is lowered, not refused: its rows are not bound by the steps in it.
        database.set_meta(TRUST_SINCE, str(state.journal.last_seq))
        check(state, str(self._path))
        state.audit.add(
            "imported",
            self._sha256,
            by="user",
            trust=_TRUST,
            messages=state.journal.count(),
            records=state.passages.count(),
        )
        if lowered := lower(database, untrusted=self._untrusted):
            why = (
                "as asked"
                if self._untrusted
                else "a file does not say how far it is trusted; they were higher than their origin"
                " allows"
            )
            self._notes.append(f"trust of {lowered:,} rows was lowered: {why}")
        if left_out := keep_out(state, self._home.denied):
            self._notes.append(left_out)
        if self._untrusted:
            self._tell_anew(state)

    @staticmethod
    def _tell_anew(state: State) -> None:
        """Nothing that a stranger's file says of pages stands in the window; and what came in it
        can be told from what comes later."""
        db = state.database
        upto = {"messages": state.journal.last_seq, "records": state.passages.last_number}
        db.set_meta(UPTO, json.dumps(upto))
        if (epoch := state.history.epoch()) is not None:
            head = {"epoch": epoch.epoch, "trust": TRUST["import"]}
            db.set_meta(UNTRUSTED_HEAD, json.dumps(head))
        rows = db.rows("SELECT number FROM pages WHERE kind = 'page' ORDER BY number")
        retold.around(state, [row["number"] for row in rows], TokenCounter().count)

    def _note_reach(self) -> None:
        """What it may reach, which stays closed until a person has seen it."""
        if lines := reach_of(json.loads(self._stored)):
            self._notes += [f"closed until `pagemind agents accept` opens it: {x}" for x in lines]

    def _blobs(self, folder: Path) -> None:
        for name, file in self._files.items():
            if not name.startswith("blobs/"):
                continue
            sha256 = name.removeprefix("blobs/")
            with file.open("rb") as data:
                if hashlib.file_digest(data, "sha256").hexdigest() != sha256:
                    raise BadExport(f"{self._path}: {name} is not what its name says")
            (folder / "blobs").mkdir(exist_ok=True)
            file.replace(folder / "blobs" / sha256)
        there = folder / "blobs"
        if lost := [each for each in self._manifest.blobs if not (there / each).is_file()]:
            self._notes.append(f"{len(lost):,} blobs are not in the file, nor here")

    def _vectors(self, state: State, name: str) -> None:
        """Put the rows into the tiers with the vectors that the file has, where they fit."""
        stored = self._stored_vectors()
        if stored is None:
            return
        store = TierStore(state.tiers, stored.identity, agent=name)
        try:
            there = vectors.identity(store)
            if there is not None and there != stored.identity:
                self._notes.append(f"embeddings are made anew: {name} has those of {there.model}")
                return
            zone = zone_of(self._definition) if self._definition else self._clock.now().tzinfo
            assert zone is not None
            self._found.embeddings = vectors.carry(
                state, store, stored, zone=zone, budget=self._budget, stop=self._stop
            )
            store.maintain(force=True)
        except StorageError as error:  # what is not written waits, and is found where it is
            self._notes.append(f"embeddings are made anew: {error.message}")
        finally:
            store.close()

    def _stored_vectors(self) -> vectors.Stored | None:
        made_by, definition = self._manifest.embeddings, self._definition
        if made_by is None or not self._embeddings or definition is None:
            return None
        try:
            identity = EmbeddingIdentity(**made_by.identity)  # type: ignore[arg-type] # checked next
        except TypeError:
            raise BadExport(f"{self._path}: its embeddings do not say what made them") from None
        if definition.embedding != self._manifest.embedding:
            self._notes.append("embeddings are made anew: its definition names another model")
            return None
        try:
            embedder = self._embedder(definition)
            ours = embedder.identity if embedder is not None else None
            known = True
        except PagemindError:  # out of reach today: what made them is written beside them
            ours, known = None, False
        if known and ours != identity:
            self._notes.append(
                f"embeddings are made anew: the file's are by {identity.model}"
                f" ({identity.dimensions} dimensions)"
            )
            return None
        files: dict[Tier, Path] = {
            tier: self._files[vectors.member(tier)]
            for tier in TIERS
            if vectors.member(tier) in self._files
        }
        return vectors.Stored(identity, files)

    # --- an increment ---------------------------------------------------------------------------

    def carry_on(self, target: Registered, wait: float) -> None:
        folder = self._home.folder(target.id)
        lock = AgentLock(folder, target.name)
        lock.acquire(wait)
        try:
            state = State(folder, self._clock)
            try:
                state.database.take()
                self._blobs(folder)  # more of them than messages name do no harm
                self._apply(state, target.name)
                with self._home.database.transaction():
                    self._home.set_definition(target.id, self._manifest.agent.definition)
                    self._home.audit.add(
                        "imported", target.id, by="user", trust=_TRUST, file=self._sha256
                    )
                try:
                    self._vectors(state, target.name)
                except BadExport as error:  # the agent has all the rest by now
                    self._notes.append(f"embeddings are made anew: {error.message}")
                self._count(state)
            finally:
                state.close()
        finally:
            lock.release()

    def _apply(self, state: State, name: str) -> None:
        manifest, database = self._manifest, state.database
        assert manifest.base is not None
        last, since = state.journal.last_seq, manifest.base.seq
        why = ""
        if last < since:
            why = f"it goes on from m{since}, and {name} ends at m{last}"
        elif last > since:
            why = f"it goes on from m{since}, and {name} has gone on to m{last} since"
        if why and not (last == manifest.seq and self._is_there(state)):
            raise self._does_not_follow(name, why)
        if why:
            raise UserError(
                f"{name} has all of {self._path} already", hint="nothing was left to import"
            )
        try:
            with database.transaction():
                remember(database, manifest)
                load(database, manifest, self._files, self._path, self._budget, self._stop)
                self._finish(state)
                requeue(database, manifest)
        except NotThatState as error:
            why = f"its {error.table} are not those that the file was made beside"
            raise self._does_not_follow(name, why) from error

    def _is_there(self, state: State) -> bool:
        """Whether the messages are those that the file leads to."""
        table = table_of(state.database, "messages").only(self._manifest.tables["messages"].columns)
        digest = RowsDigest(table)
        for row in rows_of_table(state.database, table):
            digest.add(row)
        return digest.sha256 == self._manifest.tables["messages"].sha256

    def _does_not_follow(self, name: str, why: str) -> UserError:
        return UserError(
            f"{self._path} does not follow on from {name}: {why}",
            hint="import the files in their order onto an agent that was not used in between, or a"
            " whole export under another name with --as NAME",
        )

    # --- the end --------------------------------------------------------------------------------

    def _count(self, state: State) -> None:
        self._found.messages = state.journal.count()
        self._found.passages = state.passages.count()
        self._found.pages = state.pages.count()

    def carried(self, name: str) -> Carried:
        with self._path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        base = self._manifest.base
        return Carried(
            agent=name,
            path=self._path,
            messages=self._found.messages,
            passages=self._found.passages,
            pages=self._found.pages,
            sha256=sha256,
            bytes=self._path.stat().st_size,
            embeddings=self._found.embeddings,
            since=base.seq if base is not None else None,
            notes=tuple(self._notes),
        )
