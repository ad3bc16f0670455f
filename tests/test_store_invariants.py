"""The invariants of an agent's stores: they hold after ordinary use, and each breach is named."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from kernel_kit import runtime_at, sentence, small

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.finding import Finding
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.tiers.schema import rows_of_message, to_arrow


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose agent talked, edited, archived, paged out and wrote everything back."""
    home = tmp_path_factory.mktemp("used") / "home"
    model = ScriptedModel(
        [
            [
                call("core_append", block="human", content="Sam."),
                call("archival_insert", content="The boat is called Nomad."),
            ],
            "Noted.",
        ],
        after="Yes.",
    )
    with runtime_at(home) as runtime:
        agent = runtime.agent("ada", small(1536, "core_append", "archival_insert"), model=model)
        for number in range(30):
            agent.send(sentence(number), speaker="Sam")
        agent.observe("It rains.", source="sensor")
        assert agent.state.pages.count() >= 3
        assert runtime.drain(agent)
    return home


@pytest.fixture
def reader(used: Path) -> Iterator[AgentReader]:
    with runtime_at(used) as runtime, runtime.reader("ada") as reader:
        yield reader


def check_after(used: Path, folder: Path, breach: str) -> list[Finding]:
    """What is found in a copy of the state database after a statement."""
    with sqlite3.connect(next((used / "agents").iterdir()) / "state.db") as whole:
        copy = sqlite3.connect(folder / "state.db")
        whole.backup(copy)
    whole.close()
    copy.execute(breach)
    copy.commit()
    copy.close()
    state = State(folder, SystemClock(), read_only=True)
    try:
        return check_state(state)
    finally:
        state.close()


def test_all_is_well_after_ordinary_use(reader: AgentReader) -> None:
    """No finding at all, in either store."""
    assert check_state(reader.state) == []
    assert check_tiers(reader.state, reader.store) == []


BREACHES = [
    ("DELETE FROM messages WHERE seq = 5", "seq"),
    ("UPDATE messages SET content = '{' WHERE seq = 3", "messages"),
    ("DELETE FROM messages WHERE role = 'tool'", "calls"),
    ("UPDATE blocks SET value = value || 'x'", "blocks"),
    ("UPDATE blocks SET char_limit = 1", "blocks"),
    ("DELETE FROM block_versions WHERE version = 1", "blocks"),
    ("UPDATE passages SET text = 'another'", "passages"),
    ("DELETE FROM passage_versions", "passages"),
    ("UPDATE speakers SET messages = messages + 1", "speakers"),
    ("DELETE FROM turns WHERE turn = 4", "turns"),
    ("UPDATE turns SET stop_reason = NULL WHERE turn = 4", "turns"),
    ("UPDATE pages SET last_seq = last_seq + 1 WHERE number = 2", "pages"),
    ("DELETE FROM pages WHERE number = 2", "pages"),
    ("UPDATE pages SET messages = 99 WHERE number = 1", "pages"),
    ("DELETE FROM epochs WHERE epoch = 2", "epochs"),
    ("DELETE FROM summaries", "epochs"),
    ("DELETE FROM texts", "epochs"),
    ("UPDATE texts SET text = text || 'x'", "texts"),
    ("UPDATE steps SET epoch = 1000 WHERE step = 2", "steps"),
    ("INSERT INTO views VALUES (10000, 1, 1, 'full', 0)", "views"),
    ("INSERT INTO pins VALUES ('m10000', '', 1)", "pins"),
    ("INSERT INTO pins VALUES ('d1', '', 1)", "pins"),
    ("INSERT INTO outbox (tier, key, op) VALUES ('recall', 10000, 'put')", "outbox"),
    ("UPDATE line_ranges SET last_seq = 10000", "line"),
]


@pytest.mark.parametrize(("breach", "check"), BREACHES, ids=[sql for sql, _ in BREACHES])
def test_a_breach_is_named(used: Path, tmp_path: Path, breach: str, check: str) -> None:
    """Whatever is wrong with the state database is found, under the invariant it breaks."""
    found = check_after(used, tmp_path, breach)
    assert check in {each.check for each in found if each.status == "wrong"}, found


def test_an_open_turn_is_only_a_note(used: Path, tmp_path: Path) -> None:
    """A process may be at work, or have been killed: the next opening closes it."""
    closed = "UPDATE turns SET stop_reason = NULL, ended_at = NULL WHERE turn = 30"
    found = check_after(used, tmp_path, closed)
    assert found == [Finding("unfinished turns", "note", "30", "open")]


def wrong(reader: AgentReader) -> set[tuple[str, str]]:
    return {
        (f.check, f.detail.partition(":")[0])
        for f in check_tiers(reader.state, reader.store)
        if f.status == "wrong" and f.repair == "rebuild"
    }


def test_rows_that_differ_are_found_and_mended_by_a_rebuild(tmp_path: Path) -> None:
    """Missing, doubled, changed and foreign rows of LanceDB are each named; a rebuild of the
    tiers leaves none of it."""
    home = tmp_path / "home"
    model = ScriptedModel([call("archival_insert", content="Berth 42."), "Kept."], after="Yes.")
    with runtime_at(home) as runtime:
        agent = runtime.agent("ada", small(), model=model)
        for number in range(4):
            agent.send(sentence(number))
        assert runtime.drain(agent)
        seqs = [m.seq for m in agent.state.journal.newest(100)]
        messages = agent.state.journal.get(seqs)
        agent.close()
        with runtime.reader("ada") as reader:
            store = reader.store
            store.delete("recall", [f"m{seqs[0]}"])
            table = store._open("recall")
            assert table is not None
            foreign = rows_of_message(messages[seqs[1]])[0]
            table.add(to_arrow([foreign], table.schema))
            table.update(where=f"parent = 'm{seqs[2]}'", values={"text": "forged"})
            table.add(to_arrow([replace(foreign, id="m999.1", parent="m999")], table.schema))
            store.delete("archival", ["a1"])
            assert wrong(reader) == {
                ("recall rows", "missing"),
                ("recall rows", "there twice"),
                ("recall rows", "another text than the state database's"),
                ("recall rows", "of nothing that is kept"),
                ("archival rows", "missing"),
            }
        with runtime.writer("ada") as writer:
            writer.rebuild(lambda done, total: None)
            assert check_tiers(writer.state, writer.store) == []


def test_what_waits_in_the_outbox_is_not_missing(tmp_path: Path) -> None:
    """Rows on their way are found by every search: they are no fault."""
    with runtime_at(tmp_path / "home") as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(after="Yes."))
        agent.send("My boat is called Nomad.")
        with runtime.reader("ada") as reader:
            assert reader.state.outbox.count() == 2
            assert check_tiers(reader.state, reader.store) == []
