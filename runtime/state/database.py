"""One SQLite file: connections, transactions, the writer's epoch, and the translation of errors.

Committed means on disk: WAL with synchronous FULL (and F_FULLFSYNC where the platform needs it).
A writer holds an epoch; each of its transactions checks that no other process took the agent over
while it was suspended. Transactions nest: only the outermost commits, and in-memory state changes
wait for it (`after_commit`), so that memory never runs ahead of the disk.
"""

import errno
import itertools
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagemind.runtime.errors import (
    DiskFull,
    HomeUnusable,
    LostAgent,
    PagemindError,
    SchemaTooNew,
    StorageError,
)
from pagemind.runtime.settings import SQLITE_BUSY_SECONDS

Row = sqlite3.Row


@dataclass(frozen=True, slots=True)
class Upgraded:
    """A file was brought from one schema version to another; `backup` is what it was."""

    before: int
    after: int
    backup: Path


_KEYS = 500  # in one statement
_SHRED_PAUSE = 0.05


class Database:
    """Open or create the file at `path`.

    `ddl` makes an empty file's tables at `version`; `migrations` lead there from older ones.
    Read-only databases never write, take no epoch and may be opened beside a writer.
    """

    def __init__(
        self,
        path: Path,
        *,
        ddl: str,
        version: int,
        migrations: dict[int, str],
        read_only: bool = False,
    ) -> None:
        self.path = path
        self.read_only = read_only
        self.epoch: int | None = None
        self.upgraded: Upgraded | None = None  # what opening it did
        self._lock = threading.RLock()
        self._depth = 0
        self._after: list[Callable[[], None]] = []
        # Before anything else looks at it: even closing a writable connection may change the file.
        _refuse_newer(path, version)
        with _translated(path):
            self._connection = self._connect()
            try:
                self._prepare(ddl, version, migrations)
            except BaseException:
                self._connection.close()
                raise

    def _connect(self) -> sqlite3.Connection:
        target = f"{self.path.absolute().as_uri()}?mode={'ro' if self.read_only else 'rwc'}"
        connection = sqlite3.connect(
            target,
            uri=True,
            timeout=SQLITE_BUSY_SECONDS,
            isolation_level=None,  # we say BEGIN and COMMIT ourselves
            check_same_thread=False,  # every use holds self._lock
        )
        connection.row_factory = sqlite3.Row
        if not self.read_only:
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = 1")
            connection.execute("PRAGMA checkpoint_fullfsync = 1")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _prepare(self, ddl: str, version: int, migrations: dict[int, str]) -> None:
        found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if found == version:
            return
        if self.read_only:
            raise StorageError(
                f"{self.path} has schema version {found} and is open for reading only",
                hint="`pagemind upgrade` brings it up to date, after a backup",
            )
        if found == 0:
            self._script(ddl, 0, version)
            return
        backup = self._backup(found)
        if backup is None:  # another process is doing it
            return self._prepare(ddl, version, migrations)
        try:
            for step in range(found, version):
                self._script(migrations[step], step, step + 1)
        except BaseException:
            if self._connection.execute("PRAGMA user_version").fetchone()[0] == found:
                backup.unlink()  # nothing was changed; a second try makes its own
            raise
        self.upgraded = Upgraded(found, version, backup)

    def _script(self, script: str, found: int, version: int) -> None:
        """Bring the file from version `found` to `version`, unless another process just did."""
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        try:
            if run("PRAGMA user_version").fetchone()[0] == found:
                for statement in _statements(script):
                    run(statement)
                run(f"PRAGMA user_version = {version}")
            run("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                run("ROLLBACK")
            raise

    def _backup(self, found: int) -> Path | None:
        """A whole copy of version `found` beside the file, on disk before anything changes; None
        if the file is not of that version any more. An older backup is never overwritten."""
        unfinished = self.path.with_suffix(f".v{found}.{os.getpid()}.unfinished")
        unfinished.unlink(missing_ok=True)
        try:
            copy = sqlite3.connect(unfinished)
            try:
                self._connection.backup(copy)
                version = copy.execute("PRAGMA user_version").fetchone()[0]
            finally:
                copy.close()
            if version != found:
                return None
            _flush(unfinished)
            names = (f".v{found}{f'-{n}' if n > 1 else ''}.backup" for n in itertools.count(1))
            final = next(p for p in map(self.path.with_suffix, names) if not p.exists())
            unfinished.replace(final)
            if os.name != "nt":  # a folder cannot be flushed there, and need not be
                _flush(self.path.parent)
            return final
        except OSError as error:
            raise _translated_os(unfinished, error) from error
        finally:
            unfinished.unlink(missing_ok=True)

    def copy_to(self, path: Path) -> None:
        """A whole copy of this instant in a new file, which is on disk then."""
        with self._lock, _translated(path):
            copy = sqlite3.connect(path)
            try:
                self._connection.backup(copy)
            finally:
                copy.close()
        try:
            _flush(path)
        except OSError as error:
            raise _translated_os(path, error) from error

    def shred(self, patience: float) -> None:
        """Write the file anew, from live rows alone, and empty its log. Raises StorageError where
        somebody reads an old state of it for longer than `patience` seconds."""
        pause, waited = threading.Event(), 0.0
        with self._lock, _translated(self.path):
            self._connection.execute("PRAGMA secure_delete = ON")
            self._connection.execute("VACUUM")
            while self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if waited > patience:
                    raise StorageError(
                        f"{self.path}: somebody has been reading an old state of it for long",
                        hint="let long exports and inspections end, and go on",
                    )
                pause.wait(_SHRED_PAUSE)
                waited += _SHRED_PAUSE

    def take(self) -> int:
        """Become the writer: later transactions of any earlier epoch are refused."""
        with self.transaction():
            row = self.one("SELECT value FROM meta WHERE key = 'writer_epoch'")
            epoch = (int(row["value"]) if row else 0) + 1
            self.set_meta("writer_epoch", str(epoch))
        self.epoch = epoch
        return epoch

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """All or nothing, also where it stands inside another one: who catches what it raised
        goes on without it. Raises LostAgent if another process became the writer.

        Not `durable`: a kill of the process loses nothing, but the disk is not waited for. After a
        loss of power it and what followed may be missing, unless a durable one came after it.
        """
        with self._lock:
            if self._depth:
                with self._savepoint():
                    yield
                return
            committing = False
            try:
                with _translated(self.path):
                    if not durable:
                        self._connection.execute("PRAGMA synchronous = NORMAL")
                    self._connection.execute("BEGIN IMMEDIATE")
                self._depth = 1
                self._check_epoch()
                yield
                committing = True
                with _translated(self.path):
                    self._connection.execute("COMMIT")
            except BaseException as error:
                self._depth = 0
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                elif committing and not isinstance(error, PagemindError):
                    self._call_back()  # Ctrl-C just after the commit: memory follows all the same
                self._after.clear()
                raise
            finally:
                if not durable:
                    self._connection.execute("PRAGMA synchronous = FULL")
            self._depth = 0
            self._call_back()

    def _call_back(self) -> None:
        callbacks, self._after = self._after, []
        for callback in callbacks:
            callback()

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        name, waiting = f"inner_{self._depth}", len(self._after)
        with _translated(self.path):
            self._connection.execute(f"SAVEPOINT {name}")
        self._depth += 1
        try:
            yield
        except BaseException:
            del self._after[waiting:]
            if self._connection.in_transaction:  # a full disk has ended all of it already
                self._connection.execute(f"ROLLBACK TO {name}")
            raise
        finally:
            self._depth -= 1
            if self._connection.in_transaction:
                self._connection.execute(f"RELEASE {name}")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read inside is of one instant, whatever a writer commits meanwhile."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            with _translated(self.path):
                self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def _check_epoch(self) -> None:
        if self.epoch is None:
            return
        with _translated(self.path):
            row = self._connection.execute(
                "SELECT value FROM meta WHERE key = 'writer_epoch'"
            ).fetchone()
        if int(row["value"]) != self.epoch:
            raise LostAgent(
                f"{self.path.parent.name}: another process took this agent over",
                hint="nothing was written by this one; open the agent again",
            )

    def after_commit(self, callback: Callable[[], None]) -> None:
        """Run when the outermost transaction is committed; at once if there is none."""
        if self._depth:
            self._after.append(callback)
        else:
            callback()

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """One statement inside a transaction of its own or the current one; the last row id."""
        with self._lock:
            if self._depth:  # one statement is all or nothing by itself
                with _translated(self.path):
                    return self._connection.execute(sql, values).lastrowid or 0
            with self.transaction():
                return self.write(sql, values)

    def write_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        with self.transaction(), _translated(self.path):
            self._connection.executemany(sql, rows)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._lock, _translated(self.path):
            return self._connection.execute(sql, values).fetchall()

    def rows_in(self, sql: str, keys: Sequence[int] | Sequence[str]) -> Iterator[Row]:
        """`sql IN (keys)`, in batches that SQLite's limit on variables allows."""
        for start in range(0, len(keys), _KEYS):
            some = list(keys[start : start + _KEYS])
            yield from self.rows(f"{sql} IN ({','.join('?' * len(some))})", some)

    def one(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    def number(self, sql: str, values: Sequence[Any] = ()) -> int:
        """The first column of the first row as an int; 0 for no row or NULL."""
        row = self.one(sql, values)
        return int(row[0]) if row is not None and row[0] is not None else 0

    def meta(self, key: str, default: str = "") -> str:
        row = self.one("SELECT value FROM meta WHERE key = ?", (key,))
        return str(row["value"]) if row else default

    def set_meta(self, key: str, value: str) -> None:
        self.write("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def quick_check(self) -> str:
        """What SQLite finds wrong with the file's structure; "" for nothing."""
        found = [str(row[0]) for row in self.rows("PRAGMA quick_check(3)")]
        return "" if found == ["ok"] else "; ".join(found)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def version_of(path: Path) -> int:
    """The schema version of a file, which is not touched; 0 if there is nothing in it.

    SQLite reads it, though its place is known: whoever closes a file lets go of all the locks that
    its process has on it, also those of a connection that is open, and then the next process to
    close the database takes the log away from under that one.
    """
    try:
        log = path.with_name(f"{path.name}-wal")
        if not path.stat().st_size:
            return 0
        if log.exists() and log.stat().st_size:  # the newest version may stand in the log
            return int(peek(path, "PRAGMA user_version")[0][0])
        return int(_peek(path, "PRAGMA user_version", "mode=ro&immutable=1")[0][0])
    except (OSError, sqlite3.Error):  # opening it will say what is wrong
        return 0


def peek(path: Path, sql: str) -> list[Row]:
    """What a file of any version says. It is opened for reading only, and never brought up."""
    with _translated(path):
        return _peek(path, sql, "mode=ro")


def _peek(path: Path, sql: str, how: str) -> list[Row]:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)
    connection.row_factory = sqlite3.Row
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _refuse_newer(path: Path, version: int) -> None:
    found = version_of(path)
    if found > version:
        raise SchemaTooNew(
            f"{path} has schema version {found}; this pagemind knows {version}",
            hint="update pagemind; the file was left untouched",
        )


def _flush(path: Path) -> None:
    """What was written to a file, or the names in a folder, is on disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _translated_os(path: Path, error: OSError) -> DiskFull | HomeUnusable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(
            f"{path.parent}: no space for the backup; nothing was changed",
            hint="free some space and go on",
        )
    return HomeUnusable(
        f"{path.parent}: no backup can be written ({error.strerror or error})",
        hint="check the folder's permissions; nothing was changed",
    )


def _use_wal(connection: sqlite3.Connection) -> None:
    """Write-ahead logging; SQLite waits for no one here, and two may open a new file at once."""
    pause = threading.Event()
    for _ in range(int(SQLITE_BUSY_SECONDS / 0.05)):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            pause.wait(0.05)
    connection.execute("PRAGMA journal_mode = WAL")


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """sqlite3's errors in our words."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "full" in text:
            raise DiskFull(
                f"{path}: the disk is full; what was acknowledged is intact",
                hint="free some space and go on",
            ) from error
        if "readonly" in text or "unable to open" in text:
            raise HomeUnusable(
                f"{path} cannot be written ({text})",
                hint="check the folder's permissions, or set PAGEMIND_HOME to another one",
            ) from error
        if "not a database" in text or "malformed" in text:
            raise StorageError(
                f"{path} is damaged ({text})", hint="restore it from a backup"
            ) from error
        raise StorageError(f"{path}: {text}") from error
