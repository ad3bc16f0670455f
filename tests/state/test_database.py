"""The SQLite file: transactions, the writer's epoch, versions, and readers beside a writer."""

import random
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from fuzz_faults import Faults, FaultyConnection
from processes import python

from pagemind.runtime.errors import DiskFull, HomeUnusable, LostAgent, SchemaTooNew, StorageError
from pagemind.runtime.state.database import Database

DDL = """
-- a table; its comment has a semicolon
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE things (name TEXT UNIQUE);
"""


def opened(path: Path, **more: object) -> Database:
    options = {"ddl": DDL, "version": 1, "migrations": {}, **more}
    return Database(path, **options)


def names(database: Database) -> list[str]:
    return [row["name"] for row in database.rows("SELECT name FROM things ORDER BY rowid")]


def add(database: Database, name: str) -> None:
    database.write("INSERT INTO things VALUES (?)", (name,))


def fill(database: Database) -> None:
    with database.transaction():
        for number in range(5000):
            add(database, f"{number} " + "x" * 200)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return opened(tmp_path / "x.db")


class Stop(Exception):
    pass


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    """What was written before the fault is undone, and what waited for the commit does not run."""
    ran: list[str] = []
    with suppress(Stop), database.transaction():
        add(database, "a")
        database.after_commit(lambda: ran.append("a"))
        raise Stop
    assert names(database) == []
    add(database, "b")
    assert (names(database), ran) == (["b"], [])


def test_only_the_outermost_transaction_commits(database: Database, tmp_path: Path) -> None:
    """Inner transactions are seen by others, and what waits for them runs, only at the end."""
    ran: list[str] = []
    reader = opened(tmp_path / "x.db", read_only=True)
    with database.transaction():
        with database.transaction():
            add(database, "a")
            database.after_commit(lambda: ran.append("a"))
        assert (names(reader), ran) == ([], [])
    assert (names(reader), ran) == (["a"], ["a"])


def test_a_fault_inside_undoes_the_inner_part_only(database: Database) -> None:
    """Whoever catches what an inner transaction raised goes on without it."""
    ran: list[str] = []
    with database.transaction():
        add(database, "before")
        with suppress(Stop), database.transaction():
            add(database, "inner")
            database.after_commit(lambda: ran.append("inner"))
            with database.transaction():
                add(database, "innermost")
            raise Stop
        add(database, "after")
        database.after_commit(lambda: ran.append("after"))
    assert names(database) == ["before", "after"]
    assert ran == ["after"]


def test_a_refused_statement_does_not_spoil_the_transaction(database: Database) -> None:
    """A statement that breaks a rule of the schema is one StorageError, and the rest stands."""
    with database.transaction():
        add(database, "a")
        with pytest.raises(StorageError):
            add(database, "a")
        add(database, "b")
    assert names(database) == ["a", "b"]


def test_threads_take_turns(database: Database) -> None:
    """A transaction of one thread is never mixed with another's."""

    def work(letter: str) -> None:
        for number in range(20):
            with database.transaction():
                add(database, f"{letter}{number}a")
                add(database, f"{letter}{number}b")

    threads = [threading.Thread(target=work, args=(letter,)) for letter in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = names(database)
    assert len(found) == 120
    assert all(found[i][:-1] == found[i + 1][:-1] for i in range(0, 120, 2))


def test_a_writer_that_lost_the_agent_writes_nothing(tmp_path: Path) -> None:
    """After another one took it, each transaction of the first is refused before it writes."""
    first, second = opened(tmp_path / "x.db"), opened(tmp_path / "x.db")
    first.take()
    add(first, "mine")
    second.take()
    with pytest.raises(LostAgent):
        add(first, "late")
    with pytest.raises(LostAgent), first.transaction():
        raise AssertionError("the body must not run")
    add(second, "theirs")
    assert names(second) == ["mine", "theirs"]


def test_a_reader_beside_a_writer_sees_what_is_committed(tmp_path: Path) -> None:
    """Reading needs no lock and no epoch, and cannot write."""
    writer = opened(tmp_path / "x.db")
    writer.take()
    add(writer, "a")
    reader = opened(tmp_path / "x.db", read_only=True)
    with writer.transaction():
        add(writer, "b")
        assert names(reader) == ["a"]
    assert names(reader) == ["a", "b"]
    with pytest.raises(HomeUnusable):
        add(reader, "c")


def test_a_newer_file_is_refused_untouched(tmp_path: Path) -> None:
    """A schema from the future is named with both versions, and not a byte of it changes."""
    path = tmp_path / "x.db"
    opened(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA user_version = 7")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(SchemaTooNew, match=r"version 7.*knows 1"):
        opened(path)
    assert path.read_bytes() == before


def test_an_older_file_is_brought_up_after_a_backup(tmp_path: Path) -> None:
    """Each step runs once, in order, and the old file is kept beside it."""
    path = tmp_path / "x.db"
    old = opened(path)
    add(old, "a")
    old.close()
    steps = {
        1: "ALTER TABLE things ADD COLUMN colour TEXT;\nUPDATE things SET colour = 'red; blue';",
        2: "CREATE TABLE more (x);",
    }
    new = opened(path, version=3, migrations=steps)
    assert new.rows("SELECT * FROM things")[0]["colour"] == "red; blue"
    assert new.number("PRAGMA user_version") == 3
    new.close()
    opened(path, version=3, migrations=steps).close()
    with sqlite3.connect(tmp_path / "x.v1.backup") as copy:
        assert copy.execute("SELECT * FROM things").fetchall() == [("a",)]
    copy.close()


def test_a_failed_step_leaves_the_old_file(tmp_path: Path) -> None:
    """A migration is all or nothing."""
    path = tmp_path / "x.db"
    opened(path).close()
    with pytest.raises(StorageError):
        opened(path, version=2, migrations={1: "CREATE TABLE more (x);\nSELECT nonsense;"})
    again = opened(path)
    assert again.number("SELECT count(*) FROM sqlite_master WHERE name = 'more'") == 0


def test_a_reader_does_not_bring_a_file_up(tmp_path: Path) -> None:
    """Read-only means read-only: an older file is refused with what to do."""
    opened(tmp_path / "x.db").close()
    with pytest.raises(StorageError, match="reading only"):
        opened(tmp_path / "x.db", version=2, migrations={1: ""}, read_only=True)


def test_many_processes_may_make_the_file_at_once(tmp_path: Path) -> None:
    """Who comes second to an empty file waits and finds it made."""
    script = """
        import sys
        from pathlib import Path
        from pagemind.runtime.clock import SystemClock
        from pagemind.runtime.state.home import Home
        print("ready", flush=True)
        sys.stdin.readline()
        Home(Path(sys.argv[1]), SystemClock()).close()
    """
    children = [python(script, tmp_path / "home") for _ in range(4)]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    for child in children:
        _, errors = child.communicate(timeout=30)
        assert child.returncode == 0, errors


def test_what_is_no_database_is_called_damaged(tmp_path: Path) -> None:
    """A file of another kind gives one line with the path."""
    path = tmp_path / "x.db"
    path.write_bytes(b"this is not a database at all, but it is long enough to be one" * 20)
    with pytest.raises(StorageError, match=r"x\.db is damaged"):
        opened(path)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    """No raw error of SQLite reaches the person."""
    with pytest.raises(HomeUnusable, match=r"cannot be written"):
        opened(tmp_path / "nowhere" / "x.db")


def test_a_full_disk_is_said_and_nothing_is_lost(database: Database) -> None:
    """When space ends the transaction is gone, what was there before stays, and after some is
    freed it works again."""
    add(database, "a")
    pages = database.number("PRAGMA page_count")
    database._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(DiskFull):
        fill(database)
    assert names(database) == ["a"]
    database._connection.execute("PRAGMA max_page_count = 1000000")
    add(database, "b")
    assert names(database) == ["a", "b"]


def test_a_full_disk_inside_an_inner_transaction(database: Database) -> None:
    """SQLite may end everything at once: the outer one must not commit half of it."""
    add(database, "a")
    pages = database.number("PRAGMA page_count")
    database._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with suppress(DiskFull), database.transaction():
        add(database, "outer")
        fill(database)
    assert names(database) == ["a"]


def test_committed_means_on_disk(database: Database) -> None:
    """Write-ahead log, synchronous FULL, and the full flush of macOS where there is one."""
    assert database.rows("PRAGMA journal_mode")[0][0] == "wal"
    assert database.number("PRAGMA synchronous") == 2
    assert database.number("PRAGMA fullfsync") == 1


def on_faulty_disk(database: Database, kind: str) -> Faults:
    """The next statement of that kind fails, once."""
    faults = Faults(random.Random(1))
    faults.begin(kind)
    faults.left = 1
    database._connection = FaultyConnection(database._connection, faults)  # type: ignore[assignment]  # same calls
    return faults


def test_ctrl_c_just_after_begin_leaves_no_transaction_open(database: Database) -> None:
    """Or no later one could ever begin."""
    on_faulty_disk(database, "Ctrl-C after a statement")
    with pytest.raises(KeyboardInterrupt):
        add(database, "a")
    add(database, "b")
    assert names(database) == ["b"]


def test_ctrl_c_just_after_commit_is_followed_by_memory(database: Database) -> None:
    """What waits for the commit runs: what is in memory is what is on disk."""
    followed: list[str] = []
    on_faulty_disk(database, "Ctrl-C after a commit")
    with suppress(KeyboardInterrupt), database.transaction():
        add(database, "a")
        database.after_commit(lambda: followed.append("a"))
    assert names(database) == followed == ["a"]


@pytest.mark.parametrize("kind", ["disk full at commit", "disk error at commit"])
def test_memory_does_not_follow_a_commit_that_failed(database: Database, kind: str) -> None:
    """Nor does it run with the next one."""
    followed: list[str] = []
    on_faulty_disk(database, kind)
    with suppress(StorageError), database.transaction():
        add(database, "a")
        database.after_commit(lambda: followed.append("a"))
    add(database, "b")
    assert (names(database), followed) == (["b"], [])


def test_a_disk_that_cannot_be_read_is_said_in_our_words(database: Database) -> None:
    """Also where the writer's epoch is looked up at the start of a transaction."""
    database.take()
    on_faulty_disk(database, "disk error at reading")
    with pytest.raises(StorageError, match="disk I/O error"):
        add(database, "a")
    add(database, "b")
    assert names(database) == ["b"]


def test_asking_for_the_version_lets_go_of_no_lock(tmp_path: Path) -> None:
    """Else the next process to close the file would take the log from under a writer, and what the
    writer commits then would be gone once it is killed."""
    path = tmp_path / "state.db"
    Database(path, ddl=DDL, version=1, migrations={}).close()
    script = f"""
        import os, sys
        from pathlib import Path
        from pagemind.runtime.state.database import Database, version_of
        path = Path(sys.argv[1])
        database = Database(path, ddl={DDL!r}, version=1, migrations={{}})
        database.set_meta("before", "1")
        assert version_of(path) == 1
        print("open", flush=True)
        sys.stdin.readline()
        database.set_meta("after", "1")
        os.kill(os.getpid(), 9)
    """
    writer = python(script, path)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "open\n"
    other = Database(path, ddl=DDL, version=1, migrations={})
    assert other.meta("before") == "1"
    other.close()
    writer.communicate("\n", timeout=60)
    found = Database(path, ddl=DDL, version=1, migrations={}, read_only=True)
    assert found.meta("after") == "1"
    found.close()
