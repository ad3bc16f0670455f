"""`pagemind agents` and the names people give: made whole or not at all, deleted when asked."""

import os
from pathlib import Path

import pytest
from cli_kit import PLAIN, Cli


def test_an_agent_is_made_shown_and_deleted(cli: Cli) -> None:
    """Its folder comes and goes with it."""
    new = cli("agents", "new", "ada", "-d", str(cli.definition), "--json").json
    assert (new["name"], new["definition"], new["messages"]) == ("ada", "plain", 0)
    folder = Path(cli("agents", "path", "ada").out.strip())
    assert (folder / "state.db").is_file()
    assert "plain" in cli("agents", "show", "ada").out
    assert cli("agents", "delete", "ada", "--yes", "--json").json["name"] == "ada"
    assert not folder.exists()
    assert cli("agents", "list").err.startswith("no agents yet")


def test_deleting_is_asked_for(cli: Cli) -> None:
    """Where nobody can be asked, only --yes deletes."""
    cli.ada()
    ran = cli("agents", "delete", "ada")
    assert ran.code == 1
    assert "--yes" in ran.err
    assert cli("agents", "show", "ada").code == 0


def test_a_name_is_taken_once(cli: Cli) -> None:
    """Case does not make another name."""
    cli.ada()
    ran = cli("agents", "new", "Ada", "-d", str(cli.definition), "--json")
    assert (ran.code, ran.json["error"]["type"]) == (1, "AgentExists")


def test_an_update_shows_what_changes(cli: Cli, tmp_path: Path) -> None:
    """Nothing is applied without --yes; memory stays, new blocks come."""
    cli.ada()
    other = tmp_path / "other.yaml"
    other.write_text(
        PLAIN.replace("name: plain", "name: other").replace(
            "blocks:\n", "blocks:\n  desk: {value: tidy}\n"
        ),
        encoding="utf-8",
    )
    shown = cli("agents", "update", "ada", "-d", str(other), "--dry-run")
    assert shown.code == 0
    assert '+    "desk"' in shown.out
    assert cli("agents", "update", "ada", "-d", str(other)).code == 1
    done = cli("agents", "update", "ada", "-d", str(other), "--yes", "--json").json
    assert done["applied"]
    assert done["definition"] == "other"
    blocks = cli("memory", "blocks", "ada", "--json").json["items"]
    assert {block["label"] for block in blocks} == {"human", "desk"}
    assert cli("agents", "update", "ada", "-d", str(other), "--yes").out == "nothing changes\n"


def test_history_lists_the_turns(cli: Cli) -> None:
    """What was said and how it ended, the oldest first."""
    cli.ada("One", "Two")
    items = cli("agents", "history", "ada", "--json").json["items"]
    assert [(i["turn"], i["text"], i["stop_reason"]) for i in items] == [
        (1, "One", "answered"),
        (2, "Two", "answered"),
    ]
    assert "Two" in cli("agents", "history", "ada", "--last", "1").out


def test_usage_counts_every_agent(cli: Cli) -> None:
    """Steps are counted also where a model reports no tokens."""
    cli.ada("One", "Two")
    (item,) = cli("usage", "--json").json["items"]
    assert (item["agent"], item["steps"], item["cost"]["known"]) == ("ada", 2, False)
    assert "ada" in cli("usage").out


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "adda"],
        ["observe", "adda", "x"],
        ["memory", "blocks", "adda"],
        ["memory", "search", "adda", "x"],
        ["memory", "insert", "adda", "x"],
        ["memory", "rebuild", "adda"],
        ["agents", "path", "adda"],
        ["agents", "delete", "adda", "--yes"],
    ],
)
def test_an_unknown_agent_names_the_nearest(words: list[str], cli: Cli) -> None:
    """One line, and which one may be meant."""
    cli.ada()
    ran = cli(*words)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[0].startswith("error: no agent is called 'adda'")
    assert "did you mean ada?" in ran.err


@pytest.mark.parametrize("name", ["a/b", "..", "", "x" * 65, "a\nb", "a\x00b", "caf\udce9"])
def test_a_name_that_cannot_be_one_is_refused(name: str, cli: Cli) -> None:
    """Nothing is made; the error says why."""
    ran = cli("send", "-m", "scripted/echo", "--", name, "Hello")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: agent name ")
    assert cli("agents", "list", "--json").json["total"] == 0


@pytest.mark.parametrize("name", ["Sam the Cat", "⛵ nomad", "água", "名前"])
def test_a_name_may_be_any_words(name: str, cli: Cli) -> None:
    """Spaces, emoji and any script: the folder has an opaque name."""
    new = ("-d", str(cli.definition), "-m", "scripted/echo")
    assert cli("send", name, "Hello", *new).code == 0
    folder = Path(cli("agents", "path", name).out.strip())
    assert folder.name.isascii()
    assert cli("agents", "list", "--json").json["items"][0]["name"] == name


def test_a_malformed_definition_is_named_with_its_line(cli: Cli, tmp_path: Path) -> None:
    """File, line and what is allowed; no half-made agent."""
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: bad\nblocks:\n  human: {limit: many}\n", encoding="utf-8")
    ran = cli("agents", "new", "bad", "-d", str(bad))
    assert ran.code == 1
    assert f"{bad}:3" in ran.err.splitlines()[0]
    assert "Traceback" not in ran.err
    assert cli("agents", "list", "--json").json["total"] == 0


def test_an_unknown_definition_names_the_nearest(cli: Cli) -> None:
    """A shipped one that is spelt nearly so."""
    ran = cli("agents", "new", "ada", "-d", "asistant")
    assert ran.code == 1
    assert "did you mean assistant?" in ran.err


def test_an_unknown_model_makes_nothing(cli: Cli) -> None:
    """A local model that is not in the catalogue is refused before anything is kept."""
    ran = cli("send", "ada", "Hello", "-d", str(cli.definition), "-m", "local/nothing")
    assert ran.code == 1
    assert "no local model is called 'nothing'" in ran.err
    assert cli("agents", "list", "--json").json["total"] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_home_is_told_in_one_line(cli: Cli, tmp_path: Path) -> None:
    """And what to set instead."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    ran = cli("send", "ada", "Hello", "-m", "scripted/echo", "--home", str(closed))
    assert ran.code == 1
    assert "PAGEMIND_HOME" in ran.err


def test_a_home_that_is_a_file_is_told_in_one_line(cli: Cli, tmp_path: Path) -> None:
    """Every command says so alike."""
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    for words in (["agents", "list"], ["send", "ada", "Hello"]):
        ran = cli(*words, "--home", str(file))
        assert ran.code == 1
        assert "cannot be used as the home" in ran.err.splitlines()[0]


def test_agents_are_listed_by_tag(cli: Cli) -> None:
    """The column is there where anybody has one; the definition gives them."""
    assert "tags" not in cli("agents", "list").out
    cli.definition.write_text(PLAIN + "tags: [worker, north]\n", encoding="utf-8")
    cli("agents", "new", "ben", "-d", str(cli.definition))
    cli.definition.write_text(PLAIN, encoding="utf-8")
    cli("agents", "new", "cat", "-d", str(cli.definition))
    listed = cli("agents", "list", "--tag", "worker", "--tag", "other", "--json").json
    assert [(each["name"], each["tags"]) for each in listed["items"]] == [
        ("ben", ["worker", "north"])
    ]
    assert "worker, north" in cli("agents", "list").out
    assert "no agent has the tag zzz" in cli("agents", "list", "--tag", "zzz").err
