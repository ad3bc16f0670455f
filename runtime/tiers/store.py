"""TierStore: the recall and archival tables of one agent in LanceDB.

Rows are derived: whatever is missing here still stands in the authority. put() is idempotent by
parent, so that a batch may be repeated after a crash. Writers and maintenance hold the location's
lock; readers hold nothing. Safe from any thread. Every foreign error leaves as StorageError.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pagemind.runtime.errors import (
    EmbeddingMismatch,
    ModelError,
    PagemindError,
    StorageError,
)
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.outbox import Tier
from pagemind.runtime.settings import (
    OPTIMIZE_COMMITS,
    OPTIMIZE_REREAD,
    OPTIMIZE_ROWS,
)
from pagemind.runtime.tiers import leg_query, proof, upkeep
from pagemind.runtime.tiers.census import Census
from pagemind.runtime.tiers.leg_query import Leg
from pagemind.runtime.tiers.location import Location, translated
from pagemind.runtime.tiers.row_filter import RowFilter, any_of
from pagemind.runtime.tiers.schema import (
    COLUMNS,
    LEXICAL,
    TierRow,
    arrow_schema,
    from_arrow,
    identity_of,
    text_digest,
    to_arrow,
    vector_field,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

TIERS: tuple[Tier, ...] = ("recall", "archival", "pages")
Identity = EmbeddingIdentity | Callable[[], EmbeddingIdentity] | None
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Match:
    """A row that a leg of a search found; higher scores are better."""

    id: str
    parent: str
    part: int
    parts: int
    seq: int
    speaker: str = ""
    text: str = ""
    conversation: int = 0
    said_at: datetime | None = None
    importance: float | None = None
    score: float = 0.0
    indexed: str = ""  # the lexical field that was searched


class TierStore:
    """`identity` may be a function, called when vectors are first needed (a remote embedder must
    be asked for its dimensions), or None: text only. `agent` is the name shown in hints, and
    `commands` the group of the commands that they name."""

    def __init__(
        self,
        location: str | Path | Location,
        identity: Identity,
        *,
        session: Any = None,
        storage_options: dict[str, str] | None = None,
        agent: str = "AGENT",
        commands: str = "memory",
    ) -> None:
        self.location = Location.of(location)
        self._identity = identity
        self._session = session
        self._options = storage_options
        self._agent = agent
        self._commands = commands
        self._guard = threading.RLock()
        self._db: Any = None
        self._tables: dict[Tier, Table] = {}
        self._commits: dict[Tier, int] = {}  # since the last compaction
        self._fresh: dict[Tier, int] = {}  # rows since then
        self._reread: dict[Tier, int] = {}  # … that searches have read one by one, times searches
        self._whole: set[Tier] = set()  # has all indices that pay at its size
        self._indexed: set[Tier] = set()  # has its text indices
        self._newest: dict[Tier, int] = {}  # seq
        self._censuses: dict[Tier, Census] = {}

    # --- writing ----------------------------------------------------------------------------

    def put(self, tier: Tier, rows: Sequence[TierRow]) -> None:
        """Write rows; what their parents had before is replaced."""
        if not rows:
            return
        if any(row.vector is not None for row in rows):
            self._resolve()  # before the lock is taken: it may ask a server
        with self._writing():
            table = self._open(tier, create=True)
            assert table is not None
            if tier not in self._indexed:  # a crash may have come between table and index
                upkeep.index_texts(table)
                self._indexed.add(tier)
            if any(row.vector is not None for row in rows):
                table = self._with_vectors(tier, table)
            parents = list(dict.fromkeys(row.parent for row in rows))
            # A look first: nearly every batch is new, and a delete is a commit of its own. What
            # is newer than anything there needs no look, which costs more the more there is.
            newest = self._newest_seq(tier, table)
            known = any(row.seq <= newest for row in rows)
            if known and table.count_rows(any_of("parent", parents)):
                table.delete(any_of("parent", parents))
                self._committed(tier)
            if any(row.vector is None for row in rows):
                self._mark(tier, complete=False)
            fresh = self._fresh_rows(tier, table)
            table.add(to_arrow(rows, table.schema))
            self._newest[tier] = max(newest, *(row.seq for row in rows))
            self._committed(tier)
            self._fresh[tier] = fresh + len(rows)

    def delete(self, tier: Tier, parents: Sequence[str]) -> None:
        """Remove all rows of these parents; unknown ones are fine."""
        if not parents or self._unwritten(tier):
            return
        with self._writing():
            table = self._open(tier)
            if table is None or not table.count_rows(any_of("parent", parents)):
                return
            table.delete(any_of("parent", parents))
            self._committed(tier)

    def missing_vectors(self, tier: Tier, limit: int) -> list[TierRow]:
        """Some rows that have no vector yet; for the writer alone.

        Looking for them reads every vector there is. That none lacks is noted beside the table,
        before a row without one is written the note goes.
        """
        if self._complete(tier):
            return []

        def read(table: "Table") -> list[TierRow]:
            query = table.search().select(list(COLUMNS)).limit(limit)
            known = "vector" in table.schema.names
            found = from_arrow((query.where("vector IS NULL") if known else query).to_arrow())
            if known and not found:
                self._mark(tier, complete=True)
            return found

        return self._read(tier, read, [])

    def fill_vectors(self, tier: Tier, vectors: Mapping[str, Sequence[float]]) -> int:
        """Give rows their vectors, by row id, in one commit; how many were there to be filled."""
        if not vectors or self._unwritten(tier):
            return 0
        import pyarrow as pa

        with self._writing():
            table = self._open(tier)
            if table is None:
                return 0
            table = self._with_vectors(tier, table)
            values = pa.array(list(vectors.values()), type=table.schema.field("vector").type)
            change = pa.table({"id": pa.array(list(vectors), type=pa.string()), "vector": values})
            fresh = self._fresh_rows(tier, table)
            done = table.merge_insert("id").when_matched_update_all().execute(change)
            self._committed(tier)
            self._fresh[tier] = fresh + int(done.num_updated_rows)  # indices forget these
            return int(done.num_updated_rows)

    # --- reading ----------------------------------------------------------------------------

    def search_text(
        self,
        tier: Tier,
        field: str,
        query: str,
        where: RowFilter,
        limit: int,
        *,
        with_field: bool = True,
    ) -> list[Match]:
        """The best rows by BM25 over one lexical field. The query is words, not syntax. Who does
        not need `indexed` saves a quarter of the time `with_field=False`."""
        assert field in LEXICAL
        leg = Leg(field, query, with_field=with_field)
        return _found(self.search_legs(tier, [leg], where, limit)[0])

    def search_vector(
        self, tier: Tier, vector: Sequence[float], where: RowFilter, limit: int
    ) -> list[Match]:
        """The nearest rows by cosine. Empty where no vectors are; raises EmbeddingMismatch."""
        leg = Leg("vector", vector=vector)
        return _found(self.search_legs(tier, [leg], where, limit)[0])

    def search_legs(
        self, tier: Tier, legs: Sequence[Leg], where: RowFilter, limit: int
    ) -> list[list[Match] | PagemindError]:
        """Several of these at once, which takes no longer than the slowest; for each what it
        found, or why it could not be searched."""

        def read(table: "Table") -> list[list[Match] | PagemindError]:
            census = self._census(tier, table)
            without: list[Match] | PagemindError = []  # what a search by vector comes to
            compared = census.has_vectors and any(leg.vector is not None for leg in legs)
            if compared:
                try:
                    self._check_identity(tier, census.schema)
                except PagemindError as error:
                    without, compared = error, False
            asked = [leg for leg in legs if leg.vector is None or compared]
            if any(leg.vector is None for leg in asked):
                self._reread[tier] = self._reread.get(tier, 0) + self._fresh.get(tier, 0)
            found = iter(leg_query.answers(tier, table, census, asked, where, limit))
            return [
                self._matches(next(found)) if leg.vector is None or compared else without
                for leg in legs
            ]

        absent: list[list[Match] | PagemindError] = [[] for _ in legs]
        return self._read(tier, read, absent)

    def _matches(self, rows: list[dict[str, Any]] | Exception) -> list[Match] | PagemindError:
        """Rows as matches; a foreign error as ours, but one that a reopened table may not have
        is raised."""
        if not isinstance(rows, Exception):
            return [Match(**row) for row in rows if row["score"] is not None]
        if isinstance(rows, PagemindError):
            return rows
        if "not found" in str(rows).lower():
            raise rows
        try:
            with translated(self.location.uri):
                raise rows
        except StorageError as error:
            return error

    def scan(
        self, tier: Tier, where: RowFilter, limit: int | None = None, *, newest: bool = True
    ) -> list[TierRow]:
        """Rows that match, by seq, without their vectors."""

        def read(table: "Table") -> list[TierRow]:
            search = table.search()
            if sql := where.sql():
                search = search.where(sql)
            rows = limit if limit is not None else max(1, table.count_rows(sql))
            order: Any = [
                {"column_name": "seq", "ascending": not newest},
                {"column_name": "part", "ascending": True},
            ]
            return from_arrow(search.order_by(order).select(list(COLUMNS)).limit(rows).to_arrow())

        return self._read(tier, read, [])

    def count(self, tier: Tier, where: RowFilter | None = None) -> int:
        """How many rows (chunks) match."""
        sql = where.sql() if where else None
        return self._read(tier, lambda table: int(table.count_rows(sql)), 0)

    def count_missing(self, tier: Tier) -> int:
        """How many rows have no vector."""
        if self._complete(tier):
            return 0

        def read(table: "Table") -> int:
            known = "vector" in table.schema.names
            return int(table.count_rows("vector IS NULL" if known else None))

        return self._read(tier, read, 0)

    def digests(self, tier: Tier) -> list[tuple[str, str, str]]:
        """Id, parent and text digest of every row, to be compared with the authority."""

        def read(table: "Table") -> list[tuple[str, str, str]]:
            query = table.search().select(["id", "parent", "text"])
            found = query.limit(max(1, table.count_rows())).to_arrow()
            return [
                (row["id"], row["parent"], text_digest(row["text"]))
                for batch in found.to_batches(max_chunksize=1000)
                for row in batch.to_pylist()
            ]

        return self._read(tier, read, [])

    def standings(self, tier: Tier) -> dict[str, tuple[str, tuple[str, ...]]]:
        """What decides who finds a row, by its id: its status and tags, hidden ones too."""

        def read(table: "Table") -> dict[str, tuple[str, tuple[str, ...]]]:
            query = table.search().select(["id", "status", "tags"])
            found = query.limit(max(1, table.count_rows())).to_arrow()
            return {
                row["id"]: (row["status"], tuple(row["tags"] or ()))
                for batch in found.to_batches(max_chunksize=1000)
                for row in batch.to_pylist()
            }

        return self._read(tier, read, {})

    def made_by(self, tier: Tier) -> EmbeddingIdentity | None:
        """What made a tier's vectors; None where there are none."""
        return self._read(tier, lambda table: identity_of(table.schema), None)

    def vectors(
        self, tier: Tier, parents: Sequence[str]
    ) -> dict[str, tuple[str, str, list[float]]]:
        """The rows of these parents that have a vector: by id the speaker, the text and it."""

        def read(table: "Table") -> dict[str, tuple[str, str, list[float]]]:
            if "vector" not in table.schema.names:
                return {}
            query = table.search().where(f"{any_of('parent', parents)} AND vector IS NOT NULL")
            # A parent has as many rows as its text is long; there are never more than there are.
            most = max(1, table.count_rows())
            names = ["id", "speaker", "text", "vector"]
            found = query.select(names).limit(most).to_arrow()
            return {
                row["id"]: (row["speaker"], row["text"], row["vector"]) for row in found.to_pylist()
            }

        return self._read(tier, read, {})

    def unindexed(self, tier: Tier) -> dict[str, int] | None:
        """The indexed fields, each with how many rows its index does not cover yet; None where
        nothing was ever written."""

        state = self.state(tier)
        return state.indices if state is not None else None

    def state(self, tier: Tier) -> upkeep.TableState | None:
        """Rows, pieces and indices; None where nothing was ever written."""
        return self._read(tier, upkeep.state_of, None)

    @property
    def embeds(self) -> bool:
        """Whether rows are meant to have vectors."""
        return self._identity is not None

    def check(self) -> None:
        """Raise what would refuse this store: EmbeddingMismatch, TierOutdated, SchemaTooNew."""
        for tier in TIERS:
            with suppress(ModelError):  # an embedder out of reach cannot be compared today
                self._read(tier, partial(self._check_table, tier), None)

    # --- maintenance ------------------------------------------------------------------------

    def maintain(self, *, force: bool = False, stop: Callable[[], bool] = lambda: False) -> bool:
        """Compact, merge the indices and drop old versions, where it is due, and make the indices
        that pay by now; whether anything was done.

        It is done in steps, each under the lock by itself; `stop` is asked between them, and what
        was left then is done the next time.
        """
        if self.location.is_remote:  # the server does it
            return False
        tiers = [tier for tier in TIERS if not self._unwritten(tier)]
        return any([self._maintain(tier, force, stop) for tier in tiers])

    def pressed(self, times: int) -> bool:
        """Whether maintenance is overdue, by so many times what makes it due."""
        return any(
            self._commits.get(tier, 0) >= times * OPTIMIZE_COMMITS
            or self._fresh.get(tier, 0) >= times * OPTIMIZE_ROWS
            for tier in TIERS
        )

    def worn(self) -> bool:
        """Whether searches have spent about as much on rows without an index as it costs to index
        them: then that is due even where there never is a pause. A table that nobody searches is
        left alone, and one that is searched does not get slower."""
        return not self.location.is_remote and any(self._worn(tier) for tier in TIERS)

    def compact(self) -> None:
        """All upkeep at once, however long it takes, and what killed processes left behind."""
        self.maintain(force=True)
        for tier in TIERS:
            if not (self.location.is_remote or self._unwritten(tier)):
                with self._writing():
                    if (table := self._open(tier)) is not None:
                        upkeep.compact(table, sweep=True)

    def purge(self, tier: Tier, parents: Sequence[str]) -> list[str]:
        """Remove rows so that no file holds them any more; the tags and branches that went with
        them. Only a folder can promise that."""
        if not self.location.is_local:
            raise StorageError(
                f"rows can be deleted at {self.location.uri}, but not proved gone",
                hint="delete the whole location, or keep its retention short",
            )
        if self._unwritten(tier):
            return []
        with self._writing():
            if (table := self._open(tier)) is None:
                return []
            removed = upkeep.purge(table, parents)
            self._compacted(tier)
            return removed

    def proof(self, tier: Tier, since_ns: int) -> "proof.TableProof | None":
        """How the table's files are since a purge that began then; None where there is none."""
        return self._read(tier, partial(proof.proof_of, self.location, tier, since_ns), None)

    def read_texts(self, tier: Tier, see: Callable[[str, str], object]) -> int:
        """Show all that every row says, with its parent, and what no search would find as well;
        how many rows that were."""
        return self._read(tier, partial(proof.read_texts, see), 0)

    def reset(self) -> None:
        """Drop both tables: the first step of a rebuild or of a change of embedder."""
        with self._writing():
            for tier in TIERS:
                self._mark(tier, complete=False)
                if self.location.has_table(tier) is not False:
                    self._connection().drop_table(tier, ignore_missing=True)
            for known in (self._tables, self._commits, self._newest, self._censuses):
                known.clear()
            for counted in (self._fresh, self._reread):
                counted.clear()
            self._indexed.clear()
            self._whole.clear()

    def close(self) -> None:
        """Let go of the handles. The store may be used again."""
        with self._guard:
            for known in (self._tables, self._censuses):
                known.clear()
            for counted in (self._newest, self._commits, self._fresh, self._reread):
                counted.clear()  # somebody else may hold the agent in between
            self._db = None

    # --- inside -----------------------------------------------------------------------------

    def _unwritten(self, tier: Tier) -> bool:
        """Whether there is certainly no table: then not even a lock file is made."""
        return self.location.has_table(tier) is False

    def _note(self, tier: Tier) -> Path | None:
        """The file that says that no row lacks a vector; only a folder can have it."""
        return self.location.folder / f"{tier}.embedded" if self.location.is_local else None

    def _complete(self, tier: Tier) -> bool:
        note = self._note(tier)
        return note is not None and note.exists()

    def _mark(self, tier: Tier, *, complete: bool) -> None:
        note = self._note(tier)
        if note is not None and complete:
            note.touch()
        elif note is not None:
            note.unlink(missing_ok=True)

    def _connection(self) -> Any:
        with self._guard:
            if self._db is None:
                self._db = self.location.connect(
                    session=self._session, storage_options=self._options
                )
            return self._db

    def _open(self, tier: Tier, *, create: bool = False) -> "Table | None":
        """The table, checked once; None if it was never written."""
        with self._guard:
            if tier in self._tables:
                return self._tables[tier]
            if self.location.has_table(tier) is False and not create:
                return None
            db = self._connection()
            try:
                table: Table = db.open_table(tier)
            except ValueError as error:
                if "not found" not in str(error):
                    raise
                if not create:
                    return None
                known = None if callable(self._identity) else self._identity
                table = db.create_table(tier, schema=arrow_schema(known))
            rebuild = f"pagemind {self._commands} rebuild {self._agent}"
            upkeep.check_versions(table, self.location.uri, rebuild)
            self._tables[tier] = table
            # Short-lived processes never reach the count; the fragments they leave do.
            pieces = 0 if self.location.is_remote else upkeep.fragments(table)
            self._commits.setdefault(tier, pieces)
            return table

    def _resolve(self) -> EmbeddingIdentity | None:
        if callable(self._identity):
            self._identity = self._identity()
        return self._identity

    def _with_vectors(self, tier: Tier, table: "Table") -> "Table":
        """The table with a vector column of our identity. Raises EmbeddingMismatch."""
        identity = self._resolve()
        assert identity is not None, "vectors without an embedder"
        if "vector" in table.schema.names:
            self._check_identity(tier, table.schema)
            return table
        table.add_columns(vector_field(identity))
        self._committed(tier)
        return table

    def _check_table(self, tier: Tier, table: "Table") -> None:
        self._check_identity(tier, table.schema)

    def _check_identity(self, tier: Tier, schema: "pa.Schema") -> None:
        theirs = identity_of(schema)
        ours = self._resolve() if theirs is not None else None
        if ours is not None and theirs is not None and ours != theirs:
            raise EmbeddingMismatch(
                f"the {tier} tier of {self._agent} was embedded with {_named(theirs, ours)}, "
                f"but {_named(ours, theirs)} is configured",
                hint=f"pagemind {self._commands} reembed {self._agent}",
            )

    def _newest_seq(self, tier: Tier, table: "Table") -> int:
        """The largest seq in the table; read once, since whoever writes holds the agent."""
        if tier not in self._newest:
            order: Any = [{"column_name": "seq", "ascending": False}]
            found = table.search().order_by(order).select(["seq"]).limit(1).to_arrow()
            self._newest[tier] = max(found["seq"].to_pylist(), default=0)
        return self._newest[tier]

    def _committed(self, tier: Tier) -> None:
        self._commits[tier] = self._commits.get(tier, 0) + 1

    def _compacted(self, tier: Tier) -> None:
        self._commits[tier] = self._fresh[tier] = self._reread[tier] = 0
        self._whole.discard(tier)  # it has grown

    def _maintain(self, tier: Tier, force: bool, stop: Callable[[], bool]) -> bool:
        done = False
        with translated(self.location.uri):
            table = self._open(tier)
            if table is None:
                return False
            due = force or self._due(tier, table)
        if due:
            with self._writing():
                upkeep.compact(table)
            self._compacted(tier)
            done = True
        if tier not in self._whole:
            with translated(self.location.uri):
                steps = upkeep.lacking(table)
            while steps and not stop():
                with self._writing():
                    steps.pop(0)()
                done = True
            if not steps:
                self._whole.add(tier)
        return done

    def _due(self, tier: Tier, table: "Table") -> bool:
        if self._commits.get(tier, 0) >= OPTIMIZE_COMMITS or self._worn(tier):
            return True
        return self._fresh_rows(tier, table) >= upkeep.enough(int(table.count_rows()))

    def _worn(self, tier: Tier) -> bool:
        reread = self._reread.get(tier, 0)
        return reread >= OPTIMIZE_REREAD and reread >= self.count(tier)

    def _fresh_rows(self, tier: Tier, table: "Table") -> int:
        """Rows that no index knows yet; asked for once, then counted."""
        if tier not in self._fresh:
            indices = [] if self.location.is_remote else table.list_indices()
            self._fresh[tier] = max((i.num_unindexed_rows or 0 for i in indices), default=0)
        return self._fresh[tier]

    def _census(self, tier: Tier, table: "Table") -> Census:
        """What is known of the table as it is now."""
        census = self._censuses.get(tier)
        if census is None or census.version != table.version:
            census = self._censuses[tier] = Census(table)
        return census

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with translated(self.location.uri), self.location.lock():
            yield

    def _read(self, tier: Tier, read: "Callable[[Table], T]", absent: T) -> T:
        """Run a reader; if a clean-up took its version away, reopen once and run it again."""
        with translated(self.location.uri):
            table = self._open(tier)
            if table is None:
                return absent
            try:
                return read(table)
            except (RuntimeError, ValueError, OSError) as error:
                if "not found" not in str(error).lower():
                    raise
            with self._guard:
                self._tables.pop(tier, None)
            table = self._open(tier)
            return absent if table is None else read(table)


def _found(matches: list[Match] | PagemindError) -> list[Match]:
    if isinstance(matches, PagemindError):
        raise matches
    return matches


def _named(identity: EmbeddingIdentity, other: EmbeddingIdentity) -> str:
    """`minilm (384 dimensions)`, and each further field in which the two differ."""
    mine, theirs = identity.as_json(), other.as_json()
    more = [f"{k} {mine[k]}" for k in mine if k not in ("model", "dimensions")]
    differing = [m for m in more if theirs[m.split(" ", 1)[0]] != mine[m.split(" ", 1)[0]]]
    return f"{identity.model} ({', '.join([f'{identity.dimensions} dimensions', *differing])})"
