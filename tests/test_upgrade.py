"""Homes of other versions: older ones are brought up after a backup, newer ones are refused."""

import hashlib
import json
import signal
import sqlite3
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from frozen.make import MADE, contents, of_home, ring
from processes import python

from pagemind.runtime import settings
from pagemind.runtime.cli.app import main
from pagemind.runtime.errors import SchemaTooNew, StorageError
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.state import database as database_module
from pagemind.runtime.state import home_schema, schema
from pagemind.runtime.state.database import version_of
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import ScriptedModel
from pagemind.runtime.tool import make_tool

FROZEN = sorted((Path(__file__).parent / "frozen").glob("home-v*.tar.gz"))
NAMES = {"Zoë", "beat", "killed", "fresh"}
V1 = FROZEN[0]  # from which all steps lead on
STATE_NOW, HOME_NOW = settings.STATE_SCHEMA, settings.HOME_SCHEMA


def unpacked(archive: Path, folder: Path) -> tuple[Path, dict[str, Any]]:
    """The frozen home, and what was in it when it was frozen."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    found = json.loads((folder / "contents.json").read_text(encoding="utf-8"))
    return folder / "home", found


def found_of(state: State, wanted: dict[str, Any]) -> dict[str, Any]:
    """What is there of what was there."""
    return {key: value for key, value in contents(state).items() if key in wanted}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A home of the first version."""
    return unpacked(V1, tmp_path)[0]


@pytest.fixture
def current(tmp_path: Path) -> Path:
    """A home of the version that this program writes, with an archive."""
    home = unpacked(FROZEN[-1], tmp_path / "current")[0]
    Runtime.upgrade(home)
    for backup in home.rglob("*.backup"):
        backup.unlink()
    return home


@pytest.fixture
def newer(current: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This program, one version of each schema further on than the `current` home."""
    monkeypatch.setattr(settings, "STATE_SCHEMA", settings.STATE_SCHEMA + 1)
    monkeypatch.setattr(settings, "HOME_SCHEMA", settings.HOME_SCHEMA + 1)
    step = (
        "ALTER TABLE turns ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';\n"
        "UPDATE turns SET mood = 'tense' WHERE stop_reason IS NULL;\n"
    )
    monkeypatch.setitem(schema.STATE_MIGRATIONS, settings.STATE_SCHEMA - 1, step)
    colour = "ALTER TABLE agents ADD COLUMN colour TEXT;\n"
    monkeypatch.setitem(home_schema.HOME_MIGRATIONS, settings.HOME_SCHEMA - 1, colour)


def digests(folder: Path) -> dict[str, str]:
    """The bytes of every file; locks and what SQLite shares among processes hold nothing."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.stat().st_size and not path.name.endswith(("lock", "-shm"))
    }


def states(home: Path) -> list[Path]:
    """Those of agents and archives."""
    return sorted(home.glob("*/*/state.db"))


# --- the first version, by today's program --------------------------------------------------------


@pytest.mark.parametrize("archive", FROZEN, ids=[path.name for path in FROZEN])
def test_a_frozen_home_is_found_whole(archive: Path, tmp_path: Path) -> None:
    """Every message, block, passage, page, summary and turn of a home of long ago is there, and
    its invariants hold."""
    home, expected = unpacked(archive, tmp_path)
    Runtime.upgrade(home)
    with Runtime(home) as runtime:
        shelf = expected.pop("archives", {})
        house = expected.pop("home", {})
        assert {key: of_home(runtime)[key] for key in house} == house
        assert expected.keys() - {"rewound", "learned", "guarded"} == NAMES
        for name, wanted in shelf.items():
            with runtime.archives.reader(name) as archive:
                assert found_of(archive.state, wanted) == wanted
                assert check_state(archive.state) == []
        for name, wanted in expected.items():
            with runtime.reader(name) as reader:
                assert found_of(reader.state, wanted) == wanted
                found = check_state(reader.state)
                assert [each for each in found if each.status == "wrong"] == []


@pytest.mark.parametrize("archive", FROZEN, ids=[path.name for path in FROZEN])
def test_agents_of_a_frozen_home_go_on(archive: Path, tmp_path: Path) -> None:
    """Each is opened and answers; what it said long ago is found; the cut call has its result."""
    home, expected = unpacked(archive, tmp_path)
    shelf = expected.pop("archives", {})
    expected.pop("home", None)
    with Runtime(home, background=False) as runtime:
        for name, wanted in shelf.items():
            memory = runtime.memory(name, create=False)
            assert memory.count() == len(wanted["active"])
            assert memory.add("Added by a later version.").ids
            assert memory.search("a later version", limit=1)[0].text.startswith("Added")
        for name, wanted in expected.items():
            with runtime.writer(name) as writer:
                writer.rebuild(lambda done, total: None)  # the tiers were not frozen
            model = ScriptedModel(after="Still here.")
            agent = runtime.agent(name, model=model, tools=[make_tool(ring)])
            assert agent.send("Are you there?").text == "Still here."
            assert runtime.drain(agent)
            assert check_state(agent.state) == []
            assert check_tiers(agent.state, agent.engine.store) == []
            assert agent.state.journal.last_seq > len(wanted["messages"])
            for message in wanted["messages"]:
                assert agent.state.journal.get([message[0]])[message[0]].text == message[4]
            if name == "Zoë":
                found = agent.engine.search("recall", "item K0007", SearchFilters(), 3).hits
                assert "K0007" in found[0].text
            if name == "killed":
                turn = agent.state.turns.by_client_id("cut")
                assert turn is not None
                assert turn.stop_reason == "interrupted"
                assert runtime.info("killed").messages == len(wanted["messages"]) + 4


# --- from the first version to this one -----------------------------------------------------------


def test_the_first_version_gets_every_step(old: Path) -> None:
    """What later versions added is there, and page gists are on their way into their tier."""
    before = {path: _dump(path) for path in [old / "home.db", *states(old)]}
    done = Runtime.upgrade(old)
    assert {each.agent for each in done} == NAMES | {""}
    assert {each.status for each in done} == {"done"}
    assert {each.before for each in done} == {1}
    assert {each.after for each in done if each.agent} == {STATE_NOW}
    assert {each.after for each in done if not each.agent} == {HOME_NOW}
    for path, rows in before.items():
        assert _dump(path.with_suffix(".v1.backup")) == rows
    made = {path: _tables(path) for path in before}
    assert {"archives"} <= made[old / "home.db"]
    assert all({"accesses", "documents"} <= made[path] for path in states(old))
    with Runtime(old) as runtime:
        assert runtime.archives.all() == []
        with runtime.reader("Zoë") as reader:
            waiting = {i.key for i in reader.state.outbox.pending(10_000) if i.tier == "pages"}
            assert waiting == {page.short_id for page in reader.state.pages.all()}
            assert waiting


def test_a_migrated_file_has_the_tables_of_a_new_one(old: Path, tmp_path: Path) -> None:
    """Columns, indices and triggers, whatever steps led there."""
    Runtime.upgrade(old)
    fresh = tmp_path / "fresh"
    with Runtime(fresh) as runtime:
        runtime.create("ada")
    assert _schema(old / "home.db") == _schema(fresh / "home.db")
    assert _schema(states(old)[0]) == _schema(states(fresh)[0])


def test_the_newest_frozen_home_is_of_todays_tables(tmp_path: Path) -> None:
    """A schema that has a frozen home is not changed without a new version; while it is not
    released, whoever changes it freezes the home anew."""
    number = max(MADE)
    if MADE[number] != (STATE_NOW, HOME_NOW):
        pytest.skip("this version's home is not frozen yet")
    frozen, _ = unpacked(FROZEN[-1], tmp_path)
    assert FROZEN[-1].name == f"home-v{number}.tar.gz"
    fresh = tmp_path / "fresh"
    with Runtime(fresh) as runtime:
        runtime.create("ada")
    assert {str(_schema(path)) for path in states(frozen)} == {str(_schema(states(fresh)[0]))}


def _tables(path: Path) -> set[str]:
    return {name for kind, name, _ in _schema(path) if kind == "table"}


def _schema(path: Path) -> list[tuple[str, str, str]]:
    """Everything that was created, without white space and comments."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL")
        return sorted((kind, name, "".join(sql.split())) for kind, name, sql in rows)
    finally:
        connection.close()


# --- the next version -----------------------------------------------------------------------------


@pytest.mark.usefixtures("newer")
def test_upgrade_brings_everything_up_after_backups(current: Path) -> None:
    """Home and agents: each file has its step done, and beside it lies what it was, byte by byte
    in its contents."""
    before = {path: _dump(path) for path in [current / "home.db", *states(current)]}
    done = Runtime.upgrade(current)
    assert {each.agent for each in done} == NAMES | {"rewound", "learned", "guarded", ""}
    assert {(each.status, each.before, each.after) for each in done} == {
        ("done", now, now + 1) for now in (STATE_NOW, HOME_NOW)
    }
    for path, rows in before.items():
        backup = _backup(path)
        assert version_of(path) == version_of(backup) + 1
        assert _dump(backup) == rows
    assert {Path(str(each.backup)) for each in done} == set(map(_backup, before))
    with Runtime(current) as runtime:
        agent = runtime.agent("killed", model=ScriptedModel(after="Yes."))
        moods = [row[0] for row in agent.state.database.rows("SELECT mood FROM turns")]
        assert moods == ["calm", "tense"]
        assert agent.send("Go on.").text == "Yes."
    assert {each.status for each in Runtime.upgrade(current)} == {"current"}


def _backup(path: Path) -> Path:
    """Of the version before the next one."""
    now = HOME_NOW if path.name == "home.db" else STATE_NOW
    return path.with_suffix(f".v{now}.backup")


def _dump(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


@pytest.mark.usefixtures("newer")
def test_a_dry_upgrade_changes_nothing(current: Path) -> None:
    """It says what is due, and not a byte is written."""
    before = digests(current)
    done = Runtime.upgrade(current, dry=True)
    assert {each.status for each in done} == {"due"}
    assert digests(current) == before


@pytest.mark.usefixtures("newer")
def test_a_reader_says_how_to_upgrade(current: Path) -> None:
    """Reading never writes: the error names the command."""
    with Runtime(current) as runtime, pytest.raises(StorageError) as refused:
        runtime.reader("Zoë")
    assert "pagemind upgrade" in refused.value.hint


@pytest.mark.usefixtures("newer")
def test_a_step_that_fails_leaves_the_old_version(
    current: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent is named, the others are brought up, and the program of before still works."""
    broken = schema.STATE_MIGRATIONS[STATE_NOW] + "UPDATE turns SET nonsense = 1;\n"
    monkeypatch.setitem(schema.STATE_MIGRATIONS, STATE_NOW, broken)
    before = [_dump(path) for path in states(current)]
    done = Runtime.upgrade(current)
    assert {each.status for each in done[1:]} == {"failed"}
    assert all("nonsense" in each.detail for each in done[1:])
    assert [_dump(path) for path in states(current)] == before
    assert not list(current.glob("*/*/*.backup"))  # a second try makes its own
    monkeypatch.setattr(settings, "STATE_SCHEMA", STATE_NOW)
    with Runtime(current) as runtime:
        assert runtime.agent("fresh", model=ScriptedModel(after="Yes.")).send("Hi").text == "Yes."


DYING = """
    import os, signal, sqlite3, sys
    from pathlib import Path
    from pagemind.runtime import settings
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.state import database, schema

    now = settings.STATE_SCHEMA
    settings.STATE_SCHEMA = now + 1
    schema.STATE_MIGRATIONS[now] = (
        "ALTER TABLE turns ADD COLUMN mood TEXT;\\nUPDATE turns SET mood = 'calm';\\n"
    )
    point, left = sys.argv[2], [1]

    class Mortal(sqlite3.Connection):
        def execute(self, sql, *more):
            if point == "after" or not sql.startswith(point):
                result = super().execute(sql, *more)
            if sql.startswith(point) or (point == "after" and sql == "COMMIT" and mood):
                os.kill(os.getpid(), signal.SIGKILL)
            if "mood" in sql:
                mood.append(1)
            return result

    mood = []
    connect = sqlite3.connect
    def mortal(path, **more):
        kind = {"factory": Mortal} if "rwc" in str(path) else {}
        return connect(path, **kind, **more)
    database.sqlite3.connect = mortal
    Runtime.upgrade(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")
@pytest.mark.parametrize(
    ("point", "steps"), [("UPDATE turns SET mood", 0), ("COMMIT", 0), ("after", 1)]
)
def test_killed_in_a_migration(
    current: Path, monkeypatch: pytest.MonkeyPatch, point: str, steps: int
) -> None:
    """Before its commit the old version is intact, after it the new one is; a second run does the
    rest, and never writes over a backup."""
    before = {path: _dump(path) for path in states(current)}
    child = python(DYING, current, point)
    errors = child.communicate(timeout=60)[1]
    assert child.returncode == -signal.SIGKILL, errors
    versions = sorted(version_of(path) for path in states(current))
    assert versions == [STATE_NOW] * (len(before) - 1) + [STATE_NOW + steps]
    backups = {path: path.read_bytes() for path in current.glob("*/*/*.backup")}
    assert len(backups) == 1
    for path, rows in before.items():
        if version_of(path) == STATE_NOW:
            assert _dump(path) == rows
    monkeypatch.setattr(settings, "STATE_SCHEMA", STATE_NOW + 1)
    step = "ALTER TABLE turns ADD COLUMN mood TEXT;\nUPDATE turns SET mood = 'calm';\n"
    monkeypatch.setitem(schema.STATE_MIGRATIONS, STATE_NOW, step)
    done = Runtime.upgrade(current)
    assert {each.status for each in done[1:]} <= {"done", "current"}
    assert {version_of(path) for path in states(current)} == {STATE_NOW + 1}
    for path, data in backups.items():
        assert path.read_bytes() == data
    assert not list(current.rglob("*.unfinished"))


@pytest.mark.usefixtures("newer")
def test_an_agent_in_use_is_left_for_later(
    current: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest is done, and the exit code says that not all is."""
    busy = next(current.glob("agents/*/state.db"))
    script = """
        import sys
        from filelock import FileLock
        with FileLock(sys.argv[1]):
            print("held", flush=True)
            sys.stdin.readline()
    """
    child = python(script, busy.with_name("lock"))
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    try:
        assert main(["upgrade", "--json", "--home", str(current)]) == 3
    finally:
        child.communicate("\n", timeout=30)
    items = json.loads(capsys.readouterr().out)["items"]
    assert sorted(item["status"] for item in items) == ["done"] * 8 + ["in_use"]
    assert [item["archive"] for item in items][-1] == "handbook"
    assert main(["upgrade", "--home", str(current)]) == 0
    step = f"version {STATE_NOW} → {STATE_NOW + 1}"
    assert f"{step}; what it was is in" in capsys.readouterr().out


@pytest.mark.usefixtures("newer")
def test_no_room_for_the_backup_means_no_migration(
    current: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is changed before the copy is on disk."""

    def refuse(path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(database_module, "_flush", refuse)
    before = digests(current)
    with pytest.raises(StorageError, match="no space for the backup; nothing was changed"):
        Runtime.upgrade(current)
    assert digests(current) == before


# --- from the future ------------------------------------------------------------------------------


def test_a_newer_home_is_refused_untouched(old: Path) -> None:
    """Whatever is asked of it: one line, and every byte stays as it was."""
    with sqlite3.connect(old / "home.db") as raw:
        raw.execute("PRAGMA user_version = 9")
    raw.close()
    before = digests(old)
    with pytest.raises(SchemaTooNew, match="version 9"):
        Runtime(old)
    for dry in (True, False):
        with pytest.raises(SchemaTooNew):
            Runtime.upgrade(old, dry=dry)
    assert main(["agents", "list", "--home", str(old)]) == 1
    assert digests(old) == before


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_newer_agent_is_refused_untouched(old: Path, mode: str) -> None:
    """Opening, reading and upgrading leave it as it is, also where its journal is of another
    kind or its newest version stands only in the log; the others work."""
    path = max(states(old), key=lambda each: each.stat().st_size)
    holder = sqlite3.connect(path)  # stays open, so that the log is not carried over
    holder.execute(f"PRAGMA journal_mode = {mode}")
    holder.execute("PRAGMA user_version = 9")
    holder.commit()
    before = digests(path.parent)
    with Runtime(old) as runtime:
        with pytest.raises(SchemaTooNew, match="version 9"):
            runtime.agent("Zoë", model=ScriptedModel(after="Yes."))
        with pytest.raises(SchemaTooNew):
            runtime.reader("Zoë")
        assert runtime.agent("fresh", model=ScriptedModel(after="Yes.")).send("Hi").text == "Yes."
    (zoe,) = [each for each in Runtime.upgrade(old) if each.agent == "Zoë"]
    assert zoe.status == "failed"
    assert f"this pagemind knows {STATE_NOW}" in zoe.detail
    assert digests(path.parent) == before
    holder.close()


def test_a_newer_tier_is_refused_untouched(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A LanceDB table from the future is not written to: rows wait, and are found meanwhile."""
    model = ScriptedModel(after="Yes.")
    with Runtime(old, background=False) as runtime:
        from pagemind.runtime.tiers import schema as tier_schema

        monkeypatch.setattr(tier_schema, "TIER_SCHEMA", 9)
        agent = runtime.agent("beat", model=ScriptedModel(after="Yes."))
        monkeypatch.setattr("pagemind.runtime.tiers.upkeep.TIER_SCHEMA", 9)
        agent.insert("The boat is Nomad.")
        assert runtime.drain(agent)
        monkeypatch.undo()
        tiers = agent.state.tiers
        agent.close()
    before = digests(tiers)
    with Runtime(old, background=False) as runtime:
        agent = runtime.agent("beat", model=model)
        agent.send("My dog is called Rex.")
        assert not runtime.drain(agent, 5)
        found = agent.engine.search("recall", "Rex", SearchFilters(), 3)
        assert "Rex" in found.hits[0].text
        (finding,) = [f for f in check_tiers(agent.state, agent.engine.store)]
        assert "newer pagemind" in finding.detail
        assert finding.repair == ""
        agent.close()
        with runtime.writer("beat") as writer:
            for anew in (writer.rebuild, writer.reembed):
                with pytest.raises(SchemaTooNew):
                    anew(lambda done, total: None)
    assert digests(tiers) == before
