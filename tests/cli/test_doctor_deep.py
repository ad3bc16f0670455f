"""`pagemind doctor --deep` finds what breaks an invariant; `--repair` does what is safe."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli_kit import Cli


def folder(cli: Cli) -> Path:
    return Path(cli("agents", "path", "ada").out.strip())


def change(cli: Cli, sql: str) -> None:
    connection = sqlite3.connect(folder(cli) / "state.db")
    connection.execute(sql)
    connection.commit()
    connection.close()


def deep(cli: Cli, *more: str, code: int = 0) -> dict[tuple[str, str], dict[str, Any]]:
    """What it found, by agent and check."""
    ran = cli("doctor", "--deep", *more, "--json")
    assert ran.code == code, ran.out + ran.err
    assert ran.json["ok"] == (code == 0)
    return {(item["agent"] or "", item["check"]): item for item in ran.json["items"]}


@pytest.fixture
def ada(cli: Cli) -> Cli:
    cli.ada("My boat is called Nomad.")
    cli.tell_much()
    assert cli("memory", "insert", "ada", "Berth 42.").code == 0
    assert cli("memory", "rebuild", "ada").code == 0
    return cli


def test_a_sound_agent_holds_all_of_it(ada: Cli) -> None:
    """One line says so."""
    assert deep(ada)["ada", "invariants"]["detail"] == "all hold"
    assert "all is well" in ada("doctor", "--deep").out


def test_a_hole_in_the_history_is_wrong_and_not_repaired(ada: Cli) -> None:
    """Texts are the authority's: nothing invents them, and a backup is asked for."""
    change(ada, "DELETE FROM messages WHERE seq = 7")
    found = deep(ada, code=3)
    assert "m7" in found["ada", "seq"]["detail"]
    assert "backup" in found["ada", "seq"]["hint"]
    assert ("ada", "seq") in deep(ada, "--repair", code=3)


def test_lost_tiers_are_rebuilt(ada: Cli) -> None:
    """The folder of LanceDB is gone: --repair makes it anew and says so, and search finds all."""
    shutil.rmtree(folder(ada) / "lance")
    found = deep(ada, code=3)
    assert found["ada", "recall rows"]["status"] == "wrong"
    assert "memory rebuild ada" in found["ada", "recall rows"]["hint"]
    found = deep(ada, "--repair")
    assert "tiers rebuilt" in found["ada", "repaired"]["detail"]
    assert found["ada", "invariants"]["status"] == "ok"
    assert ada("memory", "search", "ada", "Berth", "--json").json["total"] >= 1


def test_an_open_turn_is_closed(ada: Cli) -> None:
    """What a killed process left open is a note; --repair closes it."""
    change(ada, "UPDATE turns SET ended_at = NULL, stop_reason = NULL WHERE turn = 3")
    found = deep(ada)
    assert found["ada", "unfinished turns"]["detail"] == "3"
    found = deep(ada, "--repair")
    assert "unfinished turns" in found["ada", "repaired"]["detail"]
    assert ("ada", "unfinished turns") not in found


def test_abandoned_folders_are_removed_and_strangers_are_not(ada: Cli) -> None:
    """A folder that never became an agent, or was deleted, goes. A stranger's file stays, and so
    does an agent with messages that the registry has lost: that is wrong."""
    agents = ada.home / "agents"
    (agents / "unfinished").mkdir()
    shutil.copytree(folder(ada), agents / "lost")
    shutil.copytree(folder(ada), agents / "removed")
    (agents / "removed" / "deleted").touch()
    (agents / "note.txt").write_text("mine", encoding="utf-8")
    found = deep(ada, code=3)
    assert found["", "abandoned folders"]["detail"] == "removed, unfinished"
    assert "note.txt" in found["", "foreign files"]["detail"]
    assert found["", "unknown agents"]["status"] == "wrong"
    found = deep(ada, "--repair", code=3)
    assert ("", "abandoned folders") not in found
    assert sorted(each.name for each in agents.iterdir() if len(each.name) < 20) == [
        "lost",
        "note.txt",
    ]
    assert ada("agents", "new", "bob", "-d", str(ada.definition)).code == 0
    assert (agents / "lost" / "state.db").exists()


def test_an_agent_in_use_is_looked_at_but_not_repaired(ada: Cli) -> None:
    """Its process is at work; nothing is called wrong for that."""
    from pagemind.runtime.runtime import Runtime

    with Runtime(ada.home) as runtime:
        agent = runtime.agent("ada")
        agent.send("Something new.")
        assert deep(ada)["ada", "invariants"]["status"] == "ok"
        change(ada, "UPDATE turns SET ended_at = NULL, stop_reason = NULL WHERE turn = 3")
        found = deep(ada, "--repair")
        assert "in use" in found["ada", "repaired"]["detail"]


def test_shared_archives_and_blocks_are_looked_at(cli: Cli) -> None:
    """What agents share breaks as what is theirs does, and is named."""
    for words in (
        ("archives", "new", "handbook", "--embedding", "none"),
        ("archives", "insert", "handbook", "Park at the gate."),
        ("archives", "rebuild", "handbook"),
        ("blocks", "new", "plan", "--text", "Map."),
        ("blocks", "edit", "plan", "--text", "Sound."),
    ):
        assert cli(*words).code == 0
    ran = cli("doctor", "--deep", "--json")
    assert ran.code == 0, ran.out
    items = {(item["archive"], item["check"]): item["status"] for item in ran.json["items"]}
    assert items["handbook", "invariants"] == items[None, "shared blocks"] == "ok"
    (archive,) = (cli.home / "archives").iterdir()
    for path, sql in (
        (archive / "state.db", "UPDATE passages SET text = 'x'"),
        (cli.home / "home.db", "DELETE FROM shared_block_versions WHERE version = 1"),
    ):
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(sql)
    ran = cli("doctor", "--deep", "--json")
    assert ran.code == 3
    wrong = {
        (item["archive"], item["check"]) for item in ran.json["items"] if item["status"] == "wrong"
    }
    assert {("handbook", "passages"), (None, "shared blocks")} <= wrong
