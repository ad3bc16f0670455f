"""Which tables of state.db an export carries, and how their rows are read: in the order of their
key, a few at a time, each with the columns that the table has.

Every table is either in EXPORTED or in LEFT_OUT, with the reason.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pagemind.runtime.state.database import Database

# In the order in which rows refer to each other. A version of the schema may lack some.
EXPORTED = (
    "lines",
    "line_ranges",
    "line_moves",
    "turns",
    "messages",
    "views",
    "texts",
    "epochs",
    "steps",
    "summaries",
    "blocks",
    "block_versions",
    "passages",
    "passage_versions",
    "documents",
    "document_versions",
    "pages",
    "gist_versions",
    "pins",
    "pin_versions",
    "accesses",
    "lineage",
    "links",
    "entities",
    "entity_names",
    "changes",
    "segments",
    "segment_pages",
    "tallies",
    "calibration",
    "inbox",
    "speakers",
)
LEFT_OUT = {
    "audit": "the log of what was done in one home; an import begins its own",
    "meta": "what is not this machine's own stands in the manifest",
    "outbox": "what one LanceDB does not have yet; an import makes its own",
}
# Keys of meta that are one home's own, or stand elsewhere in the file.
META_LEFT_OUT = frozenset(
    {
        "accepted",
        "agent_id",
        "approval",
        "audit_key",
        "definition",
        "embedding",
        "erased",
        "imported",
        "imported_upto",
        "mcp",
        "reembedding",
        "shared_blocks",
        "tiers",
        "trust_since",
        "untrusted_head",
        "writer_epoch",
    }
)
# Whose numbers are never used again.
SEQUENCES = ("messages", "passages", "inbox", "entities", "changes", "segments")
_BATCH = 64  # rows read at once: any of them may be a long text

Kind = Literal["text", "integer", "real"]
Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of state.db. `required`: never NULL."""

    name: str
    kind: Kind
    required: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A table as this database has it. `key` holds the places of the key's columns."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def only(self, names: Sequence[str]) -> "Table":
        """With these of its columns, in this order. They must have its key."""
        by_name = {column.name: column for column in self.columns}
        keys = [self.columns[at].name for at in self.key]
        columns = tuple(by_name[name] for name in names)
        return Table(self.name, columns, tuple(list(names).index(key) for key in keys))


_KINDS: dict[str, Kind] = {"TEXT": "text", "INTEGER": "integer", "REAL": "real"}


def exported(database: Database) -> tuple[str, ...]:
    """Those of EXPORTED that this database has."""
    there = {row[0] for row in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return tuple(name for name in EXPORTED if name in there)


def table_of(database: Database, name: str) -> Table:
    """The columns of a table, whatever the version has."""
    rows = database.rows(f"PRAGMA table_info({name})")
    assert rows, f"no table {name}"
    columns = tuple(
        Column(row["name"], _KINDS[row["type"]], bool(row["notnull"] or row["pk"])) for row in rows
    )
    keyed = sorted((row["pk"], at) for at, row in enumerate(rows) if row["pk"])
    return Table(name, columns, tuple(at for _, at in keyed))


def rows_of_table(
    database: Database, table: Table, *, after: Sequence[Any] | None = None
) -> Iterator[Values]:
    """Every row in the order of the key, or those after a key."""
    named = ", ".join(table.names)
    keys = ", ".join(table.columns[at].name for at in table.key)
    beyond = f"({keys}) > ({', '.join('?' * len(table.key))})"
    last = None if after is None else tuple(after)
    while True:
        condition = f" WHERE {beyond}" if last is not None else ""
        rows = database.rows(
            f"SELECT {named} FROM {table.name}{condition} ORDER BY {keys} LIMIT {_BATCH}",
            last or (),
        )
        for row in rows:
            yield tuple(row)
        if len(rows) < _BATCH:
            return
        last = tuple(rows[-1][at] for at in table.key)


class RowsDigest:
    """A digest of rows in whatever order they come: the sum, modulo 2²⁵⁶, of the SHA-256 of each
    as a line of JSON. It can be gone on with from a sum. Also how many, and the last one's key."""

    def __init__(self, table: Table, sha256: str = "0", rows: int = 0) -> None:
        self._key = table.key
        self._sum = int(sha256, 16)
        self.rows = rows
        self.last: tuple[Any, ...] = ()

    def add(self, row: Values) -> None:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        own = hashlib.sha256(line.encode("utf-8")).digest()
        self._sum = (self._sum + int.from_bytes(own, "big")) % (1 << 256)
        self.rows += 1
        self.last = tuple(row[at] for at in self._key)

    @property
    def sha256(self) -> str:
        return f"{self._sum:064x}"


def sequences(database: Database) -> dict[str, int]:
    """The highest number that each counted table has ever given."""
    rows = database.rows("SELECT name, seq FROM sqlite_sequence")
    known = {row["name"]: int(row["seq"]) for row in rows}
    return {name: known.get(name, 0) for name in SEQUENCES}
