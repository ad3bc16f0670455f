"""`pagemind memory skills`: list, show, decide."""

import pytest
from cli_kit import Cli

from pagemind.runtime.runtime import Runtime
from pagemind.runtime.skill import Draft
from pagemind.runtime.skill_book import SkillBook


@pytest.fixture
def taught(cli: Cli) -> Cli:
    """An agent with a skill that waits for a person."""
    cli.ada("Hello.")
    with Runtime(cli.home) as runtime, runtime.writer("ada") as writer:
        book = SkillBook(writer.state)
        draft = Draft.of("moor", "When the boat comes in.", "Fenders first.", None, "")
        book.ask(book.save(draft, why="a person decides", refused=False, trust=80, turn=1))
    return cli


def test_a_person_sees_what_waits_and_decides(taught: Cli) -> None:
    """The list names it; what is shown is what is approved."""
    listed = taught("memory", "skills", "ada")
    assert "pending" in listed.out
    assert "`pagemind memory skills ada moor --approve`" in listed.out
    shown = taught("memory", "skills", "ada", "moor")
    assert "Fenders first." in shown.out
    assert "from t1" in shown.out
    done = taught("memory", "skills", "ada", "moor", "--approve", "--why", "it is right")
    assert done.out == "moor version 1 is active\n"
    one = taught("memory", "skills", "ada", "moor", "--json").json
    assert (one["state"], one["why"], one["waiting"]) == ("active", "it is right", None)
    assert [each["state"] for each in one["history"]] == ["active"]


def test_what_cannot_be_done_is_said(taught: Cli) -> None:
    """In one line, with what to do."""
    assert taught("memory", "skills", "ada", "more").code == 1
    assert "did you mean moor?" in taught("memory", "skills", "ada", "more").err
    assert "its versions: 1" in taught("memory", "skills", "ada", "moor", "--version", "7").err
    assert "say which skill" in taught("memory", "skills", "ada", "--approve").err
    assert taught("memory", "skills", "ada", "moor", "--refuse").out.endswith("is refused\n")
    assert "no version of moor waits" in taught("memory", "skills", "ada", "moor", "--approve").err
