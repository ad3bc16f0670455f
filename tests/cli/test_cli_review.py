"""`memory review`: planned changes are seen as diffs and decided on by id."""

import pytest
from cli_kit import Cli

from pagemind.runtime.runtime import Runtime
from pagemind.runtime.skill import Draft
from pagemind.runtime.skill_book import SkillBook


@pytest.fixture
def waiting(cli: Cli) -> Cli:
    """ada knows a note and a block, and her worker would change both; one change is put aside."""
    cli.ada("Hello.")
    assert cli("memory", "insert", "ada", "Sam lives in Lisbon.").code == 0
    with Runtime(cli.home) as runtime, runtime.writer("ada") as writer:
        changes = writer.state.changes
        body = {"text": "Sam lives in Porto\u200b.", "plan": {"text": "Sam lives in Porto\u200b."}}
        plan = {"state": "pending", "seq": 0, "trust": 100, "sources": ["m1"]}
        changes.add("consolidate", "update", body, target="a1", base=1, why="he moved", **plan)
        block = {"before": "", "after": "Lives in Porto."}
        changes.add("promote", "block", block, target="human", base=1, **plan)
        dead = changes.add("extract", "", {}, state="candidate", seq=0, trust=100)
        changes.failed(dead.number, "the model answered in prose", most=1)
    return cli


def test_what_waits_is_seen_as_a_diff(waiting: Cli) -> None:
    """With the reason, the sources and every character."""
    shown = waiting("memory", "review", "ada").out
    assert "c1  consolidate: update a1" in shown
    assert "- Sam lives in Lisbon." in shown
    assert "+ Sam lives in Porto⟨U+200B⟩." in shown
    assert "why: he moved" in shown
    assert "error: the model answered in prose" in shown
    ran = waiting("memory", "review", "ada", "--json")
    assert [each["id"] for each in ran.json["items"]] == ["c1", "c2", "c3"]


def test_changes_are_decided_on_by_id(waiting: Cli) -> None:
    """Made, taken back, rejected, tried anew; each says what became of it."""
    assert waiting("memory", "review", "ada", "c1", "--reword", "Sam lives in Porto.").code == 0
    assert "c1 is made" in waiting("memory", "review", "ada", "c1", "--approve").err
    assert "Sam lives in Porto." in waiting("memory", "passages", "ada").out
    assert waiting("memory", "review", "ada", "c2", "--approve").code == 0
    assert "Lives in Porto." in waiting("memory", "blocks", "ada").out
    assert waiting("memory", "review", "ada", "c1", "c2", "--undo").code == 0
    assert "Sam lives in Lisbon." in waiting("memory", "passages", "ada").out
    assert "Lives in Porto." not in waiting("memory", "blocks", "ada").out
    assert "to be tried anew" in waiting("memory", "review", "ada", "c3", "--retry").err
    states = waiting("memory", "review", "ada", "c1", "c2", "c3", "--json").json["items"]
    assert [each["state"] for each in states] == ["rejected", "rejected", "candidate"]


def test_what_cannot_be_decided_is_said(waiting: Cli) -> None:
    """One line, and nothing is changed."""
    for words, why in (
        (("c9", "--approve"), "there is no change 'c9'"),
        (("x", "--approve"), "there is no change 'x'"),
        (("c3", "--approve"), "c3 is dead, and does not wait"),
        (("c1", "--undo"), "c1 is pending, not applied"),
        (("--approve",), "of what is named"),
        (("c1", "--approve", "--reject"), "say one thing"),
        (("--state", "waiting"), "there is no state waiting"),
    ):
        ran = waiting("memory", "review", "ada", *words)
        assert (ran.code, why in ran.err) == (1, True), ran.err
    with Runtime(waiting.home) as runtime, runtime.writer("ada") as writer:
        writer.write_block("human", "Likes tea.")
    ran = waiting("memory", "review", "ada", "c2", "--approve")
    assert "human is not in the version that c2 was planned on" in ran.err
    assert "Likes tea." in waiting("memory", "blocks", "ada").out


def test_a_skill_that_waits_is_a_change_like_others(cli: Cli) -> None:
    """Approved, it is active."""
    cli.ada("Hello.")
    with Runtime(cli.home) as runtime, runtime.writer("ada") as writer:
        book = SkillBook(writer.state)
        for name in ("moor", "sail"):
            draft = Draft.of(name, "When the boat comes in.", "Fenders first.", None, "")
            book.ask(book.save(draft, why="it waits", refused=False, trust=80, turn=1))
    assert "+ moor: Fenders first." in cli("memory", "review", "ada").out
    assert cli("memory", "review", "ada", "c1", "--approve").code == 0
    assert cli("memory", "review", "ada", "c2", "--reject").code == 0
    with Runtime(cli.home) as runtime, runtime.reader("ada") as reader:
        states = {each.name: each.state for each in SkillBook(reader.state).all()}
    assert states == {"moor": "active", "sail": "refused"}


def test_a_source_is_taken_back_after_a_look(cli: Cli) -> None:
    """Not without a word, not while somebody uses the agent; in quarantine neither."""
    cli.ada("Hello.")
    assert cli("memory", "insert", "ada", "The rules are few.", "--source", "x").code != 0
    (cli.home / "rules.md").write_text("The harbour rules: moor at the left.", encoding="utf-8")
    assert cli("memory", "insert", "ada", "--file", str(cli.home / "rules.md")).code == 0
    seen = cli("memory", "revoke", "ada", "--source", "rules.md", "--dry-run", "--json").json
    assert (seen["revoked"], [each["what"] for each in seen["taken"]]) == (False, ["retired"])
    assert cli("memory", "revoke", "ada", "--source", "rules.md").code == 1
    with Runtime(cli.home) as runtime, runtime.writer("ada") as writer:
        record = writer.state.passages.get([1])[1]
        writer.state.passages.set_status(1, "pending", author="x", reason="x", seq=0)
        assert record.provenance.status == "active"
        for words in (("review", "ada", "a1", "--approve"), ("revoke", "ada", "--source", "a1")):
            assert "in use" in cli("memory", *words).err
    assert "harbour rules" in cli("memory", "review", "ada", "--source", "rules.md").out
    ran = cli("memory", "revoke", "ada", "--source", "rules.md", "--yes")
    assert (ran.code, "a1  retired: The harbour rules" in ran.out) == (0, True)
    assert "nothing rests on it" in cli("memory", "revoke", "ada", "--source", "a1").out
