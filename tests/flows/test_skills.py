"""Skills: nothing an agent writes down about how to do things holds before it has been checked."""

from pathlib import Path
from typing import Any

import pytest
from kernel_kit import runtime_at, small

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import BadArguments, UserError
from pagemind.runtime.feedback import judge
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import SKILL_FAILURES
from pagemind.runtime.skill import Draft
from pagemind.runtime.skill_answers import skills_json
from pagemind.runtime.skill_book import SkillBook
from pagemind.runtime.testing import ScriptedModel, call

LEARNS = "memory: {procedural: rw}\n"
DOUBLE = "def double(n):\n    return n * 2\n"
TWICE = {
    "name": "double",
    "when_to_use": "When a number has to be doubled.",
    "code": DOUBLE,
    "tests": "assert double(2) == 4",
}


class Kit:
    """An agent with skills, and what the model reads of one call."""

    def __init__(self, runtime: Runtime, more: str = LEARNS) -> None:
        self._next: list[Any] = []
        self.model = ScriptedModel(lambda request: self._next.pop(0) if self._next else "done")
        definition = small(16000, "skills", more=more)
        self.agent: Agent = runtime.agent("ada", definition, model=self.model)
        self.book = SkillBook(self.agent.state)

    def run(self, function: str, /, **arguments: Any) -> str:
        self._next = [call(function, **arguments)]
        turn = self.agent.send("go")
        said = self.agent.state.journal.of_turn(turn.turn)
        result = next(m for m in said if m.role == "tool")
        self.ok = result.ok
        return result.text

    def forget_what_was_said(self) -> None:
        """What functions of the world answered leaves the window: later skills are not tainted."""
        with self.agent.at_rest() as machine:
            machine.undo(1)


@pytest.fixture
def kit(tmp_path: Path) -> Any:
    with runtime_at(tmp_path) as runtime:
        yield Kit(runtime)


def test_code_is_active_once_its_tests_pass(kit: Kit) -> None:
    """It is found by when it is of use, and runs in a process of its own."""
    assert kit.run("skill_save", **TWICE) == "double version 1 is active as a1: its tests passed"
    found = kit.run("skill_search", task="a number has to be doubled, please")
    assert found == "double(n): When a number has to be doubled."
    assert kit.run("skill_run", name="double", arguments={"n": 21}) == "42"
    assert kit.book.tallies(1) == (1, 0)
    assert "double(n): " in (said := kit.run("skill_search", task="double a number"))
    assert said.endswith("[1 good, 0 bad]")
    edge = kit.agent.state.lineage.derived_of("a1")[0]
    assert edge.derived == "t3"


def test_what_fails_its_tests_is_not_offered_and_the_old_version_stays(kit: Kit) -> None:
    """The next version that passes takes its place."""
    kit.run("skill_save", **TWICE)
    worse = {**TWICE, "code": "def double(n):\n    return n * 3\n"}
    told = kit.run("skill_save", **worse)
    assert told.startswith("double version 2 is stored as a2, but not active: its tests failed:")
    assert "AssertionError" in told
    active = kit.book.active("double")
    assert active is not None
    assert (active.version, active.body) == (1, DOUBLE.strip())
    better = {**TWICE, "code": "def double(n):\n    return n + n\n"}
    assert "version 3 is active" in kit.run("skill_save", **better)
    states = [(each.version, each.state) for each in kit.book.versions("double")]
    assert states == [(1, "past"), (2, "withdrawn"), (3, "active")]
    old = kit.book.versions("double")[0]
    assert kit.book.approve(old, by="user", why="the old one was better").state == "active"
    assert [each.state for each in kit.book.versions("double")] == ["active", "withdrawn", "past"]
    with pytest.raises(UserError, match="was withdrawn"):
        kit.book.approve(kit.book.versions("double")[1], by="user", why="yes")


def test_a_skill_that_misbehaves_is_refused(tmp_path: Path) -> None:
    """One that loops for ever, one that feigns an end, one that writes to its own record."""
    with runtime_at(tmp_path) as runtime:
        kit = Kit(runtime, f"{LEARNS}skills: {{seconds: 1}}\n")
        own = str(kit.agent.state.folder / "state.db")
        for code, said in (
            ("def double(n):\n    while True:\n        pass\n", "stopped after 1 seconds"),
            ("def double(n):\n    import os\n    os._exit(0)\n", "before it came to its end"),
            (f"def double(n):\n    open({own!r}, 'r+b').write(b'x')\n", "PermissionError"),
        ):
            told = kit.run("skill_save", **{**TWICE, "code": code})
            assert "but not active" in told
            assert said in told
        assert kit.book.active("double") is None


def test_skills_call_each_other_but_not_in_a_circle(kit: Kit) -> None:
    """They are loaded into one process; a circle is refused before anything runs."""
    kit.run("skill_save", **TWICE)
    four = {
        "name": "four_times",
        "when_to_use": "When a number is wanted four times.",
        "code": "def four_times(n):\n    return double(double(n))\n",
        "tests": "def test_it():\n    assert four_times(1) == 4\n",
    }
    assert "is active" in kit.run("skill_save", **four)
    assert kit.run("skill_run", name="four_times", arguments={"n": 3}) == "12"
    circle = {**TWICE, "code": "def double(n):\n    return four_times(n) // 2\n"}
    told = kit.run("skill_save", **circle)
    assert told == ("skills may not call each other in a circle: double → four_times → double")
    assert len(kit.book.versions("double")) == 1
    # Its own tests would pass; those of what calls it do not.
    worse = {**TWICE, "code": "def double(n):\n    return 4 if n == 2 else 0\n"}
    told = kit.run("skill_save", **worse)
    assert "four_times calls it, and fails with it:" in told
    active = kit.book.active("double")
    assert active is not None
    assert active.version == 1


def test_a_skill_that_keeps_failing_is_demoted_and_can_be_revised(kit: Kit) -> None:
    """Wrong arguments are the caller's fault and do not count."""
    weak = {**TWICE, "code": "def double(n):\n    return 4 if n == 2 else 1 / 0\n"}
    kit.run("skill_save", **weak)
    told = kit.run("skill_run", name="double", arguments={"m": 1})
    assert told.endswith("it is called as double(n)")
    for _ in range(SKILL_FAILURES):
        told = kit.run("skill_run", name="double", arguments={"n": 1})
        assert "ZeroDivisionError" in told
    assert "not offered any more: it failed 3 times in a row" in told
    assert kit.run("skill_search", task="double a number") == "no skill is of use for that"
    assert "not active, but demoted" in kit.run("skill_run", name="double", arguments={"n": 1})
    assert [c.why for c in kit.agent.state.changes.of("a1")] == ["it failed 3 times in a row"]
    # What ran is the agent's own, in a process without files or network: no stranger was in view.
    assert "is active" in kit.run("skill_save", **TWICE)
    assert kit.run("skill_run", name="double", arguments={"n": 4}) == "8"


def test_a_person_approves_instructions(tmp_path: Path) -> None:
    """By default; a rule may accept them, or nothing at all."""
    steps = {
        "name": "moor_the_boat",
        "when_to_use": "When the boat comes into harbour.",
        "instructions": "Fenders first, then the stern line.",
    }
    with runtime_at(tmp_path / "ask") as runtime:
        kit = Kit(runtime)
        told = kit.run("skill_save", **steps)
        assert told.endswith("waits for a person: a person approves instructions")
        assert kit.run("skill_search", task="the boat comes into harbour").startswith("no skill")
        kit.book.approve(kit.book.versions("moor_the_boat")[0], by="user", why="good")
        assert kit.run("skill_run", name="moor_the_boat") == steps["instructions"]
        judge(kit.agent.state, "good")
        assert kit.book.tallies(1) == (1, 0)
        judge(kit.agent.state, "bad", "the bow came first")
        assert kit.book.tallies(1) == (0, 1)
    with runtime_at(tmp_path / "all") as runtime:
        kit = Kit(runtime, "memory: {procedural: rw}\nskills: {accept: instructions}\n")
        assert "is active" in kit.run("skill_save", **steps)
    with runtime_at(tmp_path / "none") as runtime:
        kit = Kit(runtime, "memory: {procedural: rw}\nskills: {accept: never}\n")
        assert "waits for a person" in kit.run("skill_save", **TWICE)
        kit.book.refuse(kit.book.versions("double")[0], by="user", why="no arithmetic")
        assert "refused: no arithmetic" in kit.run("skill_run", name="double")


def test_an_agent_may_use_skills_without_saving_them(tmp_path: Path) -> None:
    """procedural: r is the default."""
    with runtime_at(tmp_path) as runtime:
        kit = Kit(runtime, "")
        names = [tool.name for tool in kit.agent.context.tools]
        assert names == ["skill_search", "skill_run"]
        assert "procedural" in kit.run("skill_save", **TWICE)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "Double It"}, "is no name of a skill"),
        ({"name": "print"}, "is no name of a skill"),
        ({"when_to_use": " "}, "when_to_use says in one sentence"),
        ({"code": "def other(n): pass"}, "must define the function double"),
        ({"code": "def double(n:"}, "code is not Python"),
        ({"tests": ""}, "code needs tests"),
        ({"tests": "double(2)"}, "tests assert nothing"),
        ({"tests": "assert True"}, "tests never call double"),
        ({"instructions": "do it"}, "either instructions or code"),
        ({"code": "# " + "x" * 30_000}, "at most 20,000 characters"),
    ],
)
def test_a_draft_that_can_be_told_wrong_by_reading_is_not_run(
    wrong: dict[str, str], said: str
) -> None:
    """One line that says what to do."""
    given = {"instructions": None, **TWICE, **wrong}
    with pytest.raises(BadArguments, match=said):
        Draft.of(**given)


def test_undo_takes_a_version_back(kit: Kit) -> None:
    """The one before it is active again."""
    kit.run("skill_save", **TWICE)
    kit.run("skill_save", **{**TWICE, "code": "def double(n):\n    return n + n\n"})
    kit.forget_what_was_said()
    active = kit.book.active("double")
    assert active is not None
    assert active.version == 1
    kit.agent.send("Forget that, too.")
    with kit.agent.at_rest() as machine:
        machine.undo(2)
    assert skills_json(kit.agent.state) == []
