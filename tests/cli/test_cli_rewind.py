"""`agents undo`, `rewind`, `bring-back`, `lines` and `fork`, from the command line."""

from pathlib import Path

import pytest
from cli_kit import Cli
from processes import python


@pytest.fixture
def talked(cli: Cli) -> Cli:
    """Three turns, and a passage of a person's between the second and the third."""
    cli.ada("One.", "Two.")
    assert cli("memory", "insert", "ada", "Berth 42.").code == 0
    assert cli("send", "ada", "Three.", "--id", "third").code == 0
    return cli


def said(cli: Cli, agent: str = "ada") -> list[str]:
    return [item["text"] for item in cli("agents", "history", agent, "--json").json["items"]]


def test_undo_shows_what_it_takes_back_before_it_asks(talked: Cli) -> None:
    """Without a terminal and without --yes it refuses; with --dry-run it is only shown."""
    refused = talked("agents", "undo", "ada", "2")
    assert refused.code == 1
    assert "takes back 2 turns (4 messages):\n  m3 user: Two." in refused.out
    assert "passage a1 hidden (a person's change): “Berth 42.”" in refused.out
    assert "an undo is not done without being asked" in refused.err
    assert "then ada is at m2" in talked("agents", "undo", "ada", "2", "--dry-run").out
    assert said(talked) == ["One.", "Two.", "Three."]


def test_undo_and_bring_back(talked: Cli) -> None:
    """The last turn goes, and comes back; what the person kept before it stays."""
    done = talked("agents", "undo", "ada", "--yes")
    assert done.code == 0
    assert "`pagemind agents bring-back ada 1` returns" in done.err
    assert said(talked) == ["One.", "Two."]
    assert "Berth 42." in talked("memory", "search", "ada", "berth").out
    assert "no match" in talked("memory", "search", "ada", "three").out
    lines = talked("agents", "lines", "ada").out.splitlines()
    assert lines[1].split()[:2] == ["1", "m6"]
    assert "undo of 1 turn, before m5" in lines[1]
    assert talked("agents", "bring-back", "ada", "--yes").code == 0
    assert said(talked) == ["One.", "Two.", "Three."]


def test_a_clients_id_of_a_turn_taken_back_is_refused(talked: Cli) -> None:
    """Its old answer is not given, and what was undone is not done again."""
    talked("agents", "undo", "ada", "--yes")
    again = talked("send", "ada", "Three.", "--id", "third")
    assert again.code == 1
    assert "id 'third' is that of turn 3, which was taken back" in again.err
    assert "bring-back ada" in again.err
    assert said(talked) == ["One.", "Two."]
    assert talked("send", "ada", "Three.", "--id", "fourth").code == 0


def test_rewind_keeps_the_turn_that_is_named(talked: Cli) -> None:
    """By any message of it, or by a time."""
    for message in ("m3", "4"):
        done = talked("agents", "rewind", "ada", message, "--json", "--yes").json
        assert (done["seq"], done["hidden"]) == (4, 2)
        assert talked("agents", "bring-back", "ada", "--yes").code == 0
    done = talked("agents", "rewind", "ada", "2001-01-01", "--json", "--yes").json
    assert (done["seq"], done["messages"], done["passages"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("rewind", "ada", "m77"), "there is no message m77"),
        (("rewind", "ada", "m5"), "nothing was said after m6"),
        (("rewind", "ada", "soon"), "'soon' is neither a message nor a time"),
        (("undo", "ada", "9"), "9 turns cannot be taken back"),
        (("bring-back", "ada"), "there is nothing to bring back"),
        (("bring-back", "ada", "7"), "there is no line 7"),
        (("bring-back", "ada", "1"), "line 1 is the current one"),
        (("undo", "bob"), "no agent is called 'bob'"),
        (("fork", "ada", "ada"), "there is an agent called 'ada' already"),
        (("fork", "ada", "bob", "--at", "m77"), "there is no message m77"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_what_cannot_be_done_is_one_line(talked: Cli, words: tuple[str, ...], error: str) -> None:
    """And nothing is changed."""
    ran = talked("agents", *words, *([] if words[0] == "fork" else ["--yes"]))
    assert ran.code == 1
    assert error in ran.err.splitlines()[0]
    assert said(talked) == ["One.", "Two.", "Three."]
    assert "bob" not in talked("agents", "list").out


def test_a_message_that_was_taken_back_says_how_to_get_it(talked: Cli) -> None:
    """A rewind cannot go there; page_in and pin say the same."""
    talked("agents", "undo", "ada", "--yes")
    ran = talked("agents", "rewind", "ada", "m5", "--yes")
    assert "m5 was taken back" in ran.err
    assert "bring-back ada 1" in ran.err
    assert "it was taken back" in talked("memory", "pin", "ada", "m5").err


def test_an_agent_in_use_is_refused(talked: Cli, tmp_path: Path) -> None:
    """Exit code 75; a fork copies it all the same, and says what that costs."""
    lock = next((talked.home / "agents").iterdir()) / "lock"
    script = """
        import sys
        from filelock import FileLock
        with FileLock(sys.argv[1]):
            print("held", flush=True)
            sys.stdin.readline()
    """
    child = python(script, lock)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    try:
        for words in (("undo", "ada"), ("rewind", "ada", "m2"), ("bring-back", "ada")):
            assert talked("agents", *words, "--yes").code == 75
        ran = talked("agents", "fork", "ada", "bob")
        assert ran.code == 0
        assert "ada is in use: the search tables of bob are made anew" in ran.err
    finally:
        child.communicate("\n", timeout=30)
    assert said(talked, "bob") == ["One.", "Two.", "Three."]
    assert "Berth 42." in talked("memory", "search", "bob", "berth").out


def test_a_fork_goes_its_own_way(talked: Cli) -> None:
    """As it was before the next turn; neither changes the other."""
    made = talked("agents", "fork", "ada", "bob", "--at", "m3")
    assert made.code == 0
    assert made.out == "bob is a copy of ada as of m4: 4 messages, 1 passage, 0 pages\n"
    assert talked("send", "bob", "Another.").code == 0
    assert said(talked, "bob") == ["One.", "Two.", "Another."]
    assert said(talked) == ["One.", "Two.", "Three."]
    assert "m8" in talked("agents", "history", "bob").out


def test_the_hash_is_that_of_what_is_remembered(talked: Cli) -> None:
    """An undo changes it, bringing back restores it, and a fork has it too."""
    before = talked("agents", "undo", "ada", "--dry-run", "--json").json["sha256"]
    undone = talked("agents", "undo", "ada", "--yes", "--json").json["sha256"]
    back = talked("agents", "bring-back", "ada", "--yes", "--json").json["sha256"]
    copy = talked("agents", "fork", "ada", "bob", "--json").json["sha256"]
    assert before == back == copy != undone
