"""Fills the tables of a state database from the Parquet members of a file, in small batches, and
holds the result against what the manifest says of each table."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pagemind.runtime.errors import BadExport, ExportTooNew, StorageError
from pagemind.runtime.portable.checks import sound_texts
from pagemind.runtime.portable.manifest import Manifest, TableState
from pagemind.runtime.portable.parquet import Budget, read_rows
from pagemind.runtime.portable.tables import (
    EXPORTED,
    SEQUENCES,
    RowsDigest,
    Table,
    exported,
    rows_of_table,
    table_of,
)
from pagemind.runtime.state.database import Database

Stop = Callable[[], None]


class NotThatState(Exception):
    """A table is not what the manifest says, although every row was read."""

    def __init__(self, table: str) -> None:
        super().__init__(table)
        self.table = table


def load(
    database: Database,
    manifest: Manifest,
    files: Mapping[str, Path],
    path: Path,
    budget: Budget,
    stop: Stop,
) -> None:
    """Inside a transaction: put the file's rows into the tables. Raises BadExport, NotThatState.

    A column or table that an older file lacks has its default, or no rows.
    """
    tables = {name: _table(database, name, manifest, path) for name in exported(database)}
    if unknown := sorted(set(manifest.tables) - set(tables)):
        raise ExportTooNew(
            f"{path} has a table that this pagemind does not know ({unknown[0]})",
            hint="upgrade pagemind; nothing was imported",
        )
    with _without_triggers(database):
        for name in reversed(EXPORTED):  # what refers to others goes first
            if name in tables and _mode(manifest, name) == "whole":
                database.write(f"DELETE FROM {name}")
        for name, table in tables.items():
            if name in manifest.tables:
                _fill(database, table, manifest.tables[name], files, path, budget, stop)
    for name in SEQUENCES:
        _count_on(database, name, manifest.sequences.get(name, 0))
    for name, table in tables.items():
        if name in manifest.tables:
            _verify(database, table, manifest.tables[name])
            stop()


def _mode(manifest: Manifest, name: str) -> str:
    return manifest.tables[name].mode if name in manifest.tables else "whole"


def _table(database: Database, name: str, manifest: Manifest, path: Path) -> Table:
    """The table with the columns that the file has."""
    table = table_of(database, name)
    if name not in manifest.tables:
        return table
    columns = manifest.tables[name].columns
    known = {column.name: column for column in table.columns}
    if unknown := [column for column in columns if column not in known]:
        raise ExportTooNew(
            f"{path}: {name} has a column that this pagemind does not know ({unknown[0]})",
            hint="upgrade pagemind; nothing was imported",
        )
    keys = {table.columns[at].name for at in table.key}
    required = keys & set(table.names)
    if len(set(columns)) != len(columns) or not _key_of_older(required, columns):
        raise BadExport(f"{path}: {name} lacks columns that it must have")
    return table.only(columns)


def _key_of_older(keys: set[str], columns: list[str]) -> bool:
    """Whether rows can be told apart by what the file has of the key."""
    return bool(keys & set(columns))


def _fill(
    database: Database,
    table: Table,
    state: TableState,
    files: Mapping[str, Path],
    path: Path,
    budget: Budget,
    stop: Stop,
) -> None:
    member = f"tables/{table.name}.parquet"
    if state.mode == "same":
        return
    if member not in files:
        raise BadExport(f"{path}: {member} is missing")
    where = f"{path}: {member}"
    places = ", ".join("?" * len(table.columns))
    sql = f"INSERT INTO {table.name} ({', '.join(table.names)}) VALUES ({places})"
    carried = 0
    for rows in read_rows(files[member], table, where, budget):
        try:
            database.write_many(sql, sound_texts(table, rows, where))
        except StorageError as error:
            if "UNIQUE" in error.message:
                if state.mode == "added":
                    raise NotThatState(table.name) from error
                raise BadExport(f"{where} has a row twice ({_short(error)})") from error
            if "constraint" in error.message or "mismatch" in error.message:
                raise BadExport(f"{where} has a row that cannot be ({_short(error)})") from error
            raise
        carried += len(rows)
        stop()
    if carried != state.carried:
        raise BadExport(f"{where} has {carried:,} rows, not {state.carried:,}")


def _short(error: StorageError) -> str:
    return (
        error.message.rpartition(": ")[0].rpartition(": ")[2]
        + ": "
        + (error.message.rpartition(": ")[2])
    )


@contextmanager
def _without_triggers(database: Database) -> Iterator[None]:
    """The rows that triggers would write stand in the file as well."""
    rows = database.rows("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    for row in rows:
        database.write(f"DROP TRIGGER {row['name']}")
    yield
    for row in rows:
        database.write(row["sql"])


def _count_on(database: Database, name: str, highest: int) -> None:
    """Numbers that were given once are never given again."""
    known = database.one("SELECT seq FROM sqlite_sequence WHERE name = ?", (name,))
    if known is None and highest:
        database.write("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, highest))
    elif known is not None and known["seq"] < highest:
        database.write("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (highest, name))


def _verify(database: Database, table: Table, state: TableState) -> None:
    digest = RowsDigest(table)
    for row in rows_of_table(database, table):
        digest.add(row)
    if (digest.rows, digest.sha256) != (state.rows, state.sha256):
        raise NotThatState(table.name)
