"""What a person changes in an agent's memory by hand: blocks, passages, a word on an answer."""

from pathlib import Path

import pytest
from cli_kit import Cli


def editor(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(path))


def test_a_block_is_edited_in_the_editor(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was saved is the block's next version, by the person; nothing saved, nothing changed."""
    cli.ada("Hello")
    editor(cli.home, monkeypatch, 'printf "Sam sails." > "$1"')
    assert cli("memory", "edit", "ada", "human").out == "human is changed: 10 of 200 characters\n"
    assert cli("memory", "edit", "ada", "human").out == "human is as it was\n"
    versions = cli("memory", "history", "ada", "human", "--json").json["items"]
    assert [(v["author"], v["value"]) for v in versions][-1] == ("user", "Sam sails.")
    assert len(versions) == 2
    editor(cli.home, monkeypatch, "exit 3")
    ran = cli("memory", "edit", "ada", "human")
    assert (ran.code, "ended with code 3: human is as it was" in ran.err) == (1, True)
    monkeypatch.delenv("EDITOR")  # one that is there wants a terminal
    ran = cli("memory", "edit", "ada", "human")
    assert (ran.code, "an editor needs a terminal" in ran.err, ran.out) == (1, True, "")


def test_a_block_is_given_a_text(cli: Cli) -> None:
    """--text, or standard input; what does not fit, or is no block, is refused."""
    cli.ada("Hello")
    ran = cli("memory", "edit", "ada", "human", "--text", "Sam rows.", "--json")
    assert ran.json["items"][-1]["value"] == "Sam rows."
    assert cli("memory", "edit", "ada", "human", "--text", "-", stdin=b"Sam swims.\n").code == 0
    assert cli("memory", "blocks", "ada", "--json").json["items"][0]["value"] == "Sam swims."
    for words in (["human", "--text", "x" * 201], ["nobody", "--text", "x"]):
        ran = cli("memory", "edit", "ada", *words)
        assert ran.code == 1
        assert ran.err.startswith("error: ")
        assert "Traceback" not in ran.err
    assert cli("memory", "restore", "ada", "human", "1").code == 0
    assert cli("memory", "blocks", "ada", "--json").json["items"][0]["value"] == ""


def test_passages_are_forgotten_and_brought_back(cli: Cli) -> None:
    """By id at once; what a query finds is shown, and hidden with --yes alone where nobody is
    asked; each can be restored."""
    cli.ada("Hello")
    for text in ("Nomad lies in Porto", "The light of Porto is red", "Bread is baked at six"):
        assert cli("memory", "insert", "ada", text).code == 0
    ran = cli("memory", "forget", "ada", "--query", "Porto", "--dry-run", "--json")
    assert {p["id"] for p in ran.json["passages"]} == {"a1", "a2"}
    assert ran.json["forgotten"] is False
    ran = cli("memory", "forget", "ada", "--query", "Porto")
    assert (ran.code, "not done without being asked" in ran.err) == (1, True)
    assert "Nomad lies in Porto" in ran.out  # seen before it is asked
    assert len(cli("memory", "passages", "ada", "--json").json["items"]) == 3
    ran = cli("memory", "forget", "ada", "a3", "a3")
    assert (ran.code, ran.out.count("a3")) == (0, 1)
    assert "`pagemind memory restore ada a3 1` brings it back" in ran.err
    assert cli("memory", "forget", "ada", "-q", "Porto", "--yes").code == 0
    assert cli("memory", "passages", "ada", "--json").json["items"] == []
    assert cli("memory", "restore", "ada", "a3", "1").code == 0
    (back,) = cli("memory", "passages", "ada", "--json").json["items"]
    assert back["id"] == "a3"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ([], "say which passages"),
        (["a1", "--query", "x"], "say which passages"),
        (["a9"], "ada has no passage a9"),
        (["p1"], "'p1' names no passage"),
        (["--query", "zebra"], "no passage of ada matches 'zebra'"),
    ],
)
def test_what_cannot_be_forgotten_is_said(cli: Cli, words: list[str], error: str) -> None:
    """One line, with a hint; nothing is hidden."""
    cli.ada("Hello")
    assert cli("memory", "insert", "ada", "Nomad lies in Porto").code == 0
    ran = cli("memory", "forget", "ada", *words)
    assert ran.code == 1
    assert error in ran.err
    assert "hint: " in ran.err
    assert len(cli("memory", "passages", "ada", "--json").json["items"]) == 1


def test_the_last_answer_is_judged(cli: Cli) -> None:
    """The words of the chat, /good and /bad; the last of them holds."""
    cli.ada()
    assert "there is no turn to judge" in cli("agents", "good", "ada").err
    cli("send", "ada", "Hello")
    ran = cli("agents", "good", "ada", "it listened")
    assert ran.out == "turn 1 is marked good, with your reason\n"
    answer = cli("agents", "bad", "ada", "--json").json
    assert answer == {"schema": 1, "agent": "ada", "turn": 1, "verdict": "bad", "why": ""}
