"""`audit verify` finds what was done to the audit log, or to memory, behind its back."""

import hashlib
import json
import re
import shutil
import sqlite3
import tarfile
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_kit import runtime_at, small

from pagemind.runtime.audit import RECEIPTS, Verified
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import StorageError, UnknownAgent
from pagemind.runtime.message import ToolCall
from pagemind.runtime.person import ScriptedPerson
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.audit import OPS
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import ScriptedModel, call

FROZEN = Path(__file__).parent / "frozen"
LATER = datetime(2026, 2, 1, tzinfo=UTC)  # a frozen clock begins with the same ids
ASKED = small(2048, "{clock_now: {rule: ask}}")


def faults(runtime: Runtime, agent: str | None = None) -> list[tuple[str, int, str]]:
    return [(each.name, each.row, each.fault) for each in runtime.audit.verify(agent) if each.fault]


def sql(folder: Path, *statements: str, file: str = "state.db") -> None:
    """Behind the back of pagemind."""
    with closing(sqlite3.connect(folder / file, isolation_level=None)) as db:
        for trigger in ("audit_unchanged", "audit_kept"):
            db.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        for statement in statements:
            db.execute(statement)


@pytest.fixture(scope="module")
def lived_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent that learned, forgot, was rewound and asked; an archive; a second agent."""
    home = tmp_path_factory.mktemp("lived") / "home"
    model = ScriptedModel(
        [
            call("core_append", block="human", content="Zirconium is called Sam."),
            call("archival_insert", content="The zirconium boat lies at berth 42."),
            "Noted.",
            "Yes.",
        ]
    )
    with runtime_at(home) as runtime:
        agent = runtime.agent("ada", small(), model=model)
        agent.send("I am Sam Zirconium.", speaker="Zirconium")
        agent.send("And the zirconium dog?")
        agent.undo()
        agent.close()
        with runtime.writer("ada") as writer:
            writer.archival().insert("A zirconium ring.", tags=["zirconium"])
            writer.retire(2, reason="zirconium")
        runtime.memory("handbook").add("Park at the zirconium gate.", tags=["zirconium"])
        runtime.agent("bob", small(), model=ScriptedModel([])).close()
        runtime.fork("ada", "eva")
        runtime.delete("bob")
    return home


@pytest.fixture
def lived(lived_home: Path, tmp_path: Path) -> Path:
    shutil.copytree(lived_home, tmp_path / "home")
    return tmp_path / "home"


def folder_of(home: Path, agent: str = "ada") -> Path:
    with runtime_at(home, FrozenClock()) as runtime:
        return runtime.path(agent)


def test_a_life_is_whole_and_without_content(lived: Path) -> None:
    """Nothing is found where nothing was done, and no word of it stands in any chain."""
    with runtime_at(lived) as runtime:
        found = runtime.audit.verify()
        assert [(each.kind, each.name) for each in found] == [
            ("home", "home"),
            ("agent", "ada"),
            ("agent", "eva"),
            ("archive", "handbook"),
        ]
        assert not [each.fault for each in found if each.fault]
        assert all(each.texts for each in found[1:2])
        ops = [row.op for row in runtime.audit.show("ada")]
        assert {"block written", "inserted", "retired", "turns undone"} <= set(ops)
        forked = runtime.audit.show("eva")[1]
        ada = runtime.audit.show("ada")
        assert forked.detail["hash"] == ada[forked.detail["number"] - 1].hash
        assert [row.op for row in runtime.audit.show()][-2:] == ["agent made", "agent removed"]
    for database in lived.rglob("*.db"):
        with closing(sqlite3.connect(database)) as db:
            rows = db.execute("SELECT * FROM audit").fetchall()
            assert rows
            assert "zirconium" not in json.dumps(rows).lower()


@given(
    place=st.sampled_from(["ada", "eva", "home"]),
    at=st.integers(1, 3),
    what=st.sampled_from(
        [
            "UPDATE audit SET {column} = {column} || '1' WHERE number = {at}",
            "DELETE FROM audit WHERE number = {at}",
            "DELETE FROM audit WHERE number >= {at}",
        ]
    ),
    column=st.sampled_from(["at", "op", "target", "version", "by", "trust", "digest", "detail"]),
)
@settings(max_examples=12, deadline=None)
def test_any_row_of_any_chain(
    tmp_path_factory: pytest.TempPathFactory,
    lived_home: Path,
    place: str,
    at: int,
    what: str,
    column: str,
) -> None:
    """An edit, a removal and a cut are found in each of them, by the first row; no other chain is
    accused."""
    home = tmp_path_factory.mktemp("tampered") / "home"
    shutil.copytree(lived_home, home)
    statement = what.format(column=column, at=at)
    if place == "home":
        sql(home, statement, file="home.db")
    else:
        sql(folder_of(home, place), statement)
    with runtime_at(home) as runtime:
        assert [(name, row) for name, row, _ in faults(runtime)] == [(place, at)]


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE passage_versions SET text = 'x' WHERE number = 2", "a2@1 says another text"),
        ("DELETE FROM passage_versions WHERE number = 2", "a2@1, which it tells of, is not there"),
        ("UPDATE block_versions SET value = 'x' WHERE version = 2", "human@2 says another text"),
        ("UPDATE passages SET trust = 99 WHERE number = 1", "a1 is trusted 99"),
    ],
)
def test_memory_that_was_changed_behind_it(lived: Path, statement: str, fault: str) -> None:
    """A text or trust that no row tells of is found, though the chain is whole."""
    sql(folder_of(lived), statement)
    with runtime_at(lived) as runtime:
        ((name, row, what),) = faults(runtime)
    assert name == "ada"
    assert row > 0
    assert what.startswith(fault)


def test_a_shared_block_that_was_changed_behind_it(lived: Path) -> None:
    """Its versions are held against the home's chain, and those of one that went are not."""
    with runtime_at(lived) as runtime:
        for text in ("Map.", "Sound."):
            runtime.shared_blocks.make(
                "plan", text, limit=100, description="", author="user", origin="user"
            )
            assert not faults(runtime)
            if text == "Map.":
                runtime.shared_blocks.delete("plan")
    sql(lived, "UPDATE shared_block_versions SET value = 'x'", file="home.db")
    with runtime_at(lived) as runtime:
        ((name, row, fault),) = faults(runtime)
        told = runtime.audit.show(op="shared block written")
    assert (name, row) == ("home", told[-1].number)
    assert fault == "plan@1 says another text than it was given"


def test_after_an_erasure_old_hashes_are_no_evidence(lived: Path) -> None:
    """With a new key what was erased is not missed, and what is written then is held again."""
    folder = folder_of(lived)
    with closing(State(folder, FrozenClock())) as state:
        state.audit.new_key("user")
    sql(folder, "DELETE FROM passage_versions WHERE number = 2")
    with runtime_at(lived) as runtime:
        (found,) = runtime.audit.verify("ada")
        assert (found.fault, found.texts) == ("", 0)
        with runtime.writer("ada") as writer:
            writer.archival().insert("Something new.")
        assert runtime.audit.verify("ada")[0].texts == 1


def test_a_kill_before_the_note_is_no_alarm(lived: Path) -> None:
    """Rows that the home has not heard of yet are no fault; they are noted by the next verify."""
    folder = folder_of(lived)
    with closing(State(folder, FrozenClock())) as state:  # closed by nobody: as if it was killed
        state.audit.add("rewound", "m1", by="user")
        head = state.audit.head()
    with runtime_at(lived) as runtime:
        id = runtime.home.find("ada").id
        assert runtime.home.audit_heads.get(id).number == head.number - 1
        assert not faults(runtime)
        assert runtime.home.audit_heads.get(id) == head


def test_another_agents_chain_is_not_its_own(lived: Path) -> None:
    """A folder put in the place of another is found by how its chain begins."""
    ada, eva = folder_of(lived), folder_of(lived, "eva")
    shutil.copy(eva / "state.db", ada / "state.db")
    sql(ada, f"UPDATE meta SET value = '{ada.name}' WHERE key = 'agent_id'")
    with runtime_at(lived) as runtime:
        ((name, row, _),) = faults(runtime)
    assert (name, row) == ("ada", 1)


def test_an_agent_that_vanished_is_missed(lived: Path) -> None:
    """The home tells of every agent that it made, and of each that was deleted."""
    sql(lived, "DELETE FROM agents WHERE name = 'eva'", file="home.db")
    with runtime_at(lived) as runtime:
        ((name, _, fault),) = faults(runtime)
    assert name == "home"
    assert "gone from the registry" in fault


def test_a_receipt_that_was_edited(lived: Path) -> None:
    """A receipt is what the home's chain says that an erasure gave, to the byte."""
    receipt = lived / RECEIPTS / "e1.json"
    receipt.parent.mkdir(exist_ok=True)
    receipt.write_text('{"erased": 3}', encoding="utf-8")
    with runtime_at(lived) as runtime:
        sha256 = hashlib.sha256(receipt.read_bytes()).hexdigest()
        runtime.home.audit.add("erased", "id-1", by="user", receipt=sha256)
        assert not faults(runtime)
        receipt.write_text('{"erased": 2}', encoding="utf-8")
        said = "the home's log has no erasure that gave it as it is"
        assert faults(runtime) == [("e1.json", 0, said)]


def test_a_persons_word_on_a_call_is_told(tmp_path: Path) -> None:
    """Yes and no, with the function and without its arguments or the reason."""
    calls: list[str | ToolCall] = [call("clock_now"), "Nine.", call("clock_now"), "No."]
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", ASKED, model=ScriptedModel(calls))
        agent.person = ScriptedPerson(frozenset({"clock_now"}))
        agent.send("What time is it?")
        agent.person = ScriptedPerson()
        agent.send("And now?")
        rows = [row for row in runtime.audit.show("ada") if row.op.startswith("call")]
    assert [(row.op, row.target, row.by, row.detail["turn"]) for row in rows] == [
        ("call approved", "clock_now", "user", 1),
        ("call refused", "clock_now", "user", 2),
    ]


@pytest.mark.parametrize("version", [1, 4])
def test_an_upgraded_home_is_held_from_then_on(tmp_path: Path, version: int) -> None:
    """What was there before has no rows; what is done since has, and is held."""
    with tarfile.open(FROZEN / f"home-v{version}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    home = tmp_path / "home"
    Runtime.upgrade(home)
    with Runtime(home) as runtime:
        assert not faults(runtime)
        with runtime.writer("beat") as writer:
            made = writer.archival().insert("A new one.")[0].number
        assert not faults(runtime)
        folder = runtime.path("beat")
    sql(folder, f"UPDATE passage_versions SET text = 'x' WHERE number = {made}")
    with Runtime(home) as runtime:
        assert [(name, row) for name, row, _ in faults(runtime)] == [("beat", 2)]
    sql(folder, "DELETE FROM audit")
    with Runtime(home) as runtime:
        assert [(name, row) for name, row, _ in faults(runtime)] == [("beat", 1)]


def test_an_import_begins_its_own_chain(lived: Path, tmp_path: Path) -> None:
    """It says which file it came out of, in its own chain and in the home's."""
    with runtime_at(lived, FrozenClock(LATER)) as runtime:
        runtime.export_agent("ada", tmp_path / "ada.pmz")
        runtime.import_agent(tmp_path / "ada.pmz", name="gil")
        rows = runtime.audit.show("gil")
        assert [row.op for row in rows] == ["begun", "imported"]
        of_home = runtime.audit.show(op="imported")[-1]
        assert of_home.detail["file"] == rows[1].target
        assert not faults(runtime)


def test_what_cannot_be_read_is_said(lived: Path) -> None:
    """A row that is no row any more is one line, and which one it is."""
    sql(folder_of(lived), "UPDATE audit SET detail = '{' WHERE number = 2")
    with runtime_at(lived) as runtime:
        with pytest.raises(StorageError, match="a row that cannot be read"):
            runtime.audit.show("ada")
        with pytest.raises(UnknownAgent):
            runtime.audit.verify("nobody")
        assert faults(runtime, "ada") == [("ada", 2, "it was changed after it was written")]


DOC = (Path(__file__).resolve().parents[1] / "docs" / "audit.md").read_text(encoding="utf-8")


def test_every_op_stands_in_the_page() -> None:
    """With what it tells, as state/audit.py has it."""
    rows = dict(re.findall(r"^\| `([a-z ]+)` \| (.+) \|$", DOC, re.MULTILINE))
    assert rows == OPS


def test_every_fault_stands_in_the_page() -> None:
    """What verify says of a chain is explained there."""
    source = (Path(__file__).resolve().parents[1] / "runtime" / "state" / "audit.py").read_text(
        encoding="utf-8"
    )
    said = re.findall(r'ChainFault\(\s*(?:number(?: \+ 1)?|1), f?"([^"{]+)', source)
    assert len(said) >= 5
    words = " ".join(DOC.split())
    assert not [each for each in said if each.partition(":")[0].strip() not in words]


def test_verified_as_json_has_no_row_where_none_is_meant() -> None:
    """A fault of the whole is of no row."""
    verified = Verified("receipt", "e1.json", fault="x")
    assert verified.as_json()["row"] is None
    assert replace(verified, row=3).as_json()["row"] == 3
