"""A task inside another is there once, whatever the instant of a SIGKILL."""

import random
import sys
from pathlib import Path

import pytest
from task_kit import HEAD, Bench, run

from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")
PARENT = """
inputs: {lines: in.txt}
do:
  - {sub: sub.yaml, set: {about: "{{ input }}"}, save: done.jsonl}
at_end: [{sub: sub.yaml, set: {about: all}}]
"""
SUB = """
inputs: {files: "parts/*"}
vars: {about: }
do:
  - {say: "{{ about }}: {{ input }}", save: facts.jsonl}
  - {call: core_append, with: {block: human, content: "{{ about }} {{ number }}"}}
"""
POINTS = [
    ("end action", "after", 2),  # of the inner task, in the middle of the outer action
    ("close", "before", 1),  # the inner task is through, and the ledger does not say so
    ("close", "after", 2),  # it does, and the outer action does not
    ("write", "after", 4),
]


@pytest.fixture
def folder(bench: Bench) -> Path:
    bench.file("task.yaml", HEAD + PARENT)
    bench.file("sub.yaml", HEAD + SUB)
    bench.file("parts/a", "ay")
    bench.file("parts/b", "bee")
    return bench.folder


def whole(folder: Path) -> None:
    facts = (folder / "facts.jsonl").read_text(encoding="utf-8").splitlines()
    assert facts == [
        f'{{"input": "parts/{part}", "reply": "re {about}: {text}"}}'
        for about in ("one", "two", "three", "all")
        for part, text in (("a", "ay"), ("b", "bee"))
    ]
    assert len((folder / "done.jsonl").read_text(encoding="utf-8").splitlines()) == 3
    home = Runtime(folder / "home", embedder=HashingEmbedder(16), background=False)
    with home as runtime:
        assert {each.name for each in runtime.home.all()} == {
            *("task", "task do.1 1", "task do.1 2", "task do.1 3", "task at_end.1")
        }
        for number, about in ((1, "one"), (3, "three")):
            with runtime.reader(f"task do.1 {number}") as reader:
                talk = [m for m in reader.state.journal.newest(1 << 30) if m.kind == "talk"]
                assert [m.role for m in reversed(talk)] == ["user", "assistant"] * 2
                (block,) = reader.state.blocks.all()
                assert block.value == f"Sam\n{about} 1\n{about} 2"


@pytest.mark.parametrize(("point", "when", "nth"), POINTS)
def test_killed_at_a_point(folder: Path, point: str, when: str, nth: int) -> None:
    """The next run does what is left, of both."""
    assert run(folder, point, when, nth) == -9
    assert run(folder) == 0
    whole(folder)


def test_killed_again_and_again(folder: Path) -> None:
    """Four kills at random points on the way."""
    chance = random.Random(5)
    kills = 0
    for _ in range(4):
        point = chance.choice(["send", "message", "write", "begin action", "end input"])
        kills += run(folder, point, chance.choice(["before", "after"]), chance.randint(1, 4)) == -9
    assert kills >= 2
    assert run(folder) == 0
    whole(folder)
