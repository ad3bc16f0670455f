"""The rows of an agent's state as plain JSON values, and back: what a trace holds of an agent.

LanceDB and its outbox are left out: they are derived. So is the audit log: whoever is made from
the rows begins its own. mark() tells cheaply whether the state is
still what it was, the lines of pages that the idle improves apart.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from pagemind.runtime.errors import StorageError, UserError
from pagemind.runtime.state.audit import KEY
from pagemind.runtime.state.database import Database

_LEFT_OUT = ("outbox", "audit")
_GROWING = "messages turns epochs steps passages summaries inbox"  # the newest row tells


def rows_of(database: Database, batch: int) -> Iterator[dict[str, Any]]:
    """`{"table", "columns", "rows"}`, at most `batch` rows each. Within one reading()."""
    for table in _tables(database):
        if table in _LEFT_OUT:
            continue
        secret = f" WHERE key <> '{KEY}'" if table == "meta" else ""
        found = database.rows(f"SELECT * FROM {table}{secret}")
        for start in range(0, len(found), batch):
            some = found[start : start + batch]
            yield {
                "table": table,
                "columns": list(some[0].keys()),
                "rows": [[_plain(value) for value in row] for row in some],
            }


def restore(database: Database, batches: Sequence[dict[str, Any]]) -> None:
    """Make a new state what the rows say. Raises UserError if they are of another pagemind."""
    known = set(_tables(database))
    try:
        with database.transaction():
            database.write("PRAGMA defer_foreign_keys = ON")
            for table in known - {"sqlite_sequence", "audit"}:
                database.write(f"DELETE FROM {table}")
            # Last: filling the other tables fills it, too.
            for batch in sorted(batches, key=lambda each: each["table"] == "sqlite_sequence"):
                table, columns = str(batch["table"]), [str(c) for c in batch["columns"]]
                if table not in known or not all(map(str.isidentifier, columns)):
                    raise UserError(f"this state has a table {table!r} that is not known here")
                if table == "sqlite_sequence":
                    database.write("DELETE FROM sqlite_sequence")
                places = ",".join("?" * len(columns))
                database.write_many(
                    f"INSERT OR REPLACE INTO {table} ({','.join(columns)}) VALUES ({places})",
                    [[_stored(value) for value in row] for row in batch["rows"]],
                )
            database.write("DELETE FROM meta WHERE key IN ('tiers', 'writer_epoch')")
    except (StorageError, KeyError, TypeError) as error:
        raise UserError(
            f"the state in it cannot be read by this pagemind: {error}",
            hint="replay it with the version that made it",
        ) from None


def mark(database: Database) -> str:
    """Equal for what is the same state."""
    newest = [database.number(f"SELECT max(rowid) FROM {table}") for table in _GROWING.split()]
    newest.append(database.number("SELECT count(*) FROM passage_versions"))
    small = [
        [tuple(row) for row in database.rows(sql)]
        for sql in (
            "SELECT * FROM lines ORDER BY line",
            "SELECT * FROM line_ranges ORDER BY line, first_seq",
            "SELECT * FROM pins ORDER BY target",
            "SELECT label, version FROM blocks ORDER BY label",
            "SELECT value FROM meta WHERE key IN ('conversation', 'definition', 'tended')"
            " ORDER BY key",
        )
    ]
    said = repr((newest, small))
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def size_of(database: Database) -> int:
    """Bytes of the database."""
    pages = database.number("SELECT page_count FROM pragma_page_count()")
    return pages * database.number("SELECT page_size FROM pragma_page_size()")


def _tables(database: Database) -> list[str]:
    rows = database.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [str(row["name"]) for row in rows if not str(row["name"]).startswith("sqlite_stat")]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    return value


def _stored(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value
