"""The audit log: chained rows without content, written with the change that they tell of."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.core_memory import Block
from pagemind.runtime.errors import StorageError
from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import Facets
from pagemind.runtime.state.audit import KEY, NOTHING, OPS, ChainFault
from pagemind.runtime.state.home import Home
from pagemind.runtime.state.state import State

BY = {"author": "user", "reason": "zirconium", "seq": 0}
COLUMNS = "number at op target version by trust digest detail previous hash".split()


def busy(folder: Path) -> State:
    """A state in which a bit of everything was changed."""
    state = State(folder, FrozenClock())
    state.database.set_meta("agent_id", "the-agent")
    state.blocks.save(
        Block("human", "zirconium", 100, "", False, 1), **BY, origin="user", trust=None
    )
    for text in ("zirconium one", "zirconium two", "zirconium three"):
        state.passages.insert(
            text,
            tags=["zirconium"],
            importance=None,
            metadata={"zirconium": "zirconium"},
            provenance=Provenance("model", trust=80),
            facets=Facets("fact", subject="zirconium"),
            **BY,
        )
    state.passages.edit(1, "zirconium four", **BY)
    state.passages.edit(1, None, facets=Facets("fact", superseded_by=2), **BY)
    state.passages.set_status(3, "retired", **BY)
    state.passages.set_status(3, "active", **BY)
    state.passages.set_status(3, "pending", **BY)
    state.passages.set_status(3, "active", **BY)
    state.links.add(1, 2, author="user", why="zirconium", seq=0)
    change = state.changes.add(
        "job", "add", {"text": "zirconium"}, state="planned", seq=0, trust=80
    )
    state.changes.settle(change.number, "applied", by="worker", result="a1")
    state.changes.settle(change.number, "rejected", by="user", error="zirconium")
    return state


def test_every_change_has_its_row(tmp_path: Path) -> None:
    """A row says what was done to what, and in which version."""
    told = [(row.op, row.target, row.version) for row in busy(tmp_path).audit.rows()]
    assert told == [
        ("begun", "the-agent", 0),
        ("block written", "block:human", 1),
        ("inserted", "a1", 1),
        ("inserted", "a2", 1),
        ("inserted", "a3", 1),
        ("edited", "a1", 2),
        ("superseded", "a1", 3),
        ("retired", "a3", 2),
        ("restored", "a3", 3),
        ("quarantined", "a3", 4),
        ("released", "a3", 5),
        ("linked", "a1", 0),
        ("change applied", "c1", 0),
        ("change undone", "c1", 0),
    ]


def test_no_content_stands_in_it(tmp_path: Path) -> None:
    """Texts, tags, metadata, subjects and reasons are not in the log, in no form."""
    state = busy(tmp_path)
    rows = [tuple(row) for row in state.database.rows("SELECT * FROM audit")]
    assert "zirconium" not in json.dumps(rows)
    assert state.audit.digest("zirconium one") in {row[7] for row in rows}


def test_an_erased_text_cannot_be_guessed(tmp_path: Path) -> None:
    """Once the key is another one, the right guess is not told from a wrong one."""
    state = busy(tmp_path)
    before = state.database.meta(KEY)
    state.audit.new_key("user")
    digests = {row.digest for row in state.audit.rows()}
    assert state.audit.digest("zirconium one") not in digests
    assert before not in (tmp_path / "state.db").read_bytes().decode("latin-1").split()
    assert state.database.meta(KEY) != before
    assert state.audit.faults() is None


def test_a_change_that_fails_has_no_row(tmp_path: Path) -> None:
    """A row is there only where the transaction of its change is."""
    state = busy(tmp_path)
    head = state.audit.head()

    def edit_and_fail() -> None:
        with state.database.transaction():
            state.passages.edit(2, "other", **BY)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        edit_and_fail()
    assert state.audit.head() == head


@pytest.mark.parametrize("sql", ["UPDATE audit SET by = 'x'", "DELETE FROM audit"])
def test_rows_are_append_only(tmp_path: Path, sql: str) -> None:
    """SQLite itself refuses to change or delete a row."""
    with pytest.raises(StorageError, match="audit log is never"):
        busy(tmp_path).database.write(sql)


def test_a_copy_begins_its_own_chain(tmp_path: Path) -> None:
    """restart() leaves a chain and a key that are not the source's, and says where it came from."""
    state = busy(tmp_path)
    key = state.database.meta(KEY)
    state.database.set_meta("agent_id", "the-copy")
    state.audit.restart("forked", "the-agent", by="user", number=14)
    rows = list(state.audit.rows())
    assert [(r.number, r.op, r.target) for r in rows] == [
        (1, "begun", "the-copy"),
        (2, "forked", "the-agent"),
    ]
    assert rows[1].detail == {"number": 14}
    assert state.database.meta(KEY) != key
    with pytest.raises(StorageError, match="never deleted"):
        state.database.write("DELETE FROM audit")


def tampered(folder: Path, kind: str, at: int, column: str) -> None:
    """Change the table behind the back of pagemind; `at` is a row."""
    with closing(sqlite3.connect(folder / "state.db", isolation_level=None)) as db:
        db.execute("DROP TRIGGER audit_unchanged")
        db.execute("DROP TRIGGER audit_kept")
        if kind == "edit":
            (value,) = db.execute(f"SELECT {column} FROM audit WHERE number = ?", (at,)).fetchone()
            other = value + 100 if isinstance(value, int) else f"{value}x"
            db.execute(f"UPDATE audit SET {column} = ? WHERE number = ?", (other, at))
        elif kind == "remove":
            db.execute("DELETE FROM audit WHERE number = ?", (at,))
        elif kind == "close up":
            db.execute("DELETE FROM audit WHERE number = ?", (at,))
            for (number,) in db.execute(
                "SELECT number FROM audit WHERE number > ? ORDER BY number", (at,)
            ).fetchall():
                db.execute("UPDATE audit SET number = ? WHERE number = ?", (number - 1, number))
        elif kind == "cut":
            db.execute("DELETE FROM audit WHERE number >= ?", (at,))
        elif kind == "swap":
            db.execute("UPDATE audit SET number = -1 WHERE number = ?", (at,))
            db.execute("UPDATE audit SET number = ? WHERE number = ?", (at, at % 14 + 1))
            db.execute("UPDATE audit SET number = ? WHERE number = -1", (at % 14 + 1,))


@given(
    kind=st.sampled_from(["edit", "remove", "close up", "cut", "swap"]),
    at=st.integers(1, 14),
    column=st.sampled_from(COLUMNS),
)
@settings(max_examples=40, deadline=None)
def test_whatever_is_done_to_rows_is_found(
    tmp_path_factory: pytest.TempPathFactory, kind: str, at: int, column: str
) -> None:
    """Any edit, removal, swap or cut of any row is found, at the first row that it touched."""
    folder = tmp_path_factory.mktemp("audit")
    state = busy(folder)
    head = state.audit.head()
    assert state.audit.faults(head) is None
    state.close()
    tampered(folder, kind, at, column)
    with closing(State(folder, FrozenClock(), read_only=True)) as state:
        fault = state.audit.faults(head)
    assert isinstance(fault, ChainFault)
    assert fault.number == (min(at, at % 14 + 1) if kind == "swap" else at)


def test_a_chain_that_was_written_anew_is_found(tmp_path: Path) -> None:
    """A whole new chain is consistent with itself, not with what the home has noted."""
    state = busy(tmp_path)
    head = state.audit.head()
    state.audit.restart("forked", "the-agent", by="user")
    for _ in range(20):
        state.audit.add("rewound", "m1", by="user")
    assert state.audit.faults() is None
    assert state.audit.faults(head) == ChainFault(
        14, "the home noted another row here: it was written anew"
    )


def test_the_home_keeps_what_outlives_an_agent(tmp_path: Path) -> None:
    """Agents made and removed stand in the home's chain, with the last row of theirs."""
    home = Home(tmp_path, FrozenClock())
    home.add("id-1", "ada", "assistant", "")
    home.audit_heads.note("id-1", busy(tmp_path).audit.head())
    noted = home.audit_heads.get("id-1")
    home.remove(home.find("ada"))
    rows = list(home.audit.rows())
    assert [(row.op, row.target) for row in rows] == [
        ("begun", "home"),
        ("agent made", "id-1"),
        ("agent removed", "id-1"),
    ]
    assert rows[2].detail == {"rows": 14, "head": noted.hash}
    assert home.audit_heads.get("id-1") == NOTHING
    assert home.audit_heads.get("home") == home.audit.head()
    assert home.audit.faults(home.audit_heads.get("home")) is None


def test_a_note_never_goes_back(tmp_path: Path) -> None:
    """What was noted of a longer chain stays, so that a cut one does not overwrite it."""
    home = Home(tmp_path, FrozenClock())
    home.audit.add("erased", "id-1", by="user")
    head = home.audit.head()
    home.audit_heads.note("x", head)
    home.audit_heads.note("x", type(head)(1, "other"))
    assert home.audit_heads.get("x") == head


def test_ops_are_a_table(tmp_path: Path) -> None:
    """What an op means stands in one table; another one is a fault of whoever writes it."""
    assert all(OPS.values())
    with pytest.raises(AssertionError, match="OPS"):
        busy(tmp_path).audit.add("frobbed", "a1", by="user")
