"""Whatever the instant of a SIGKILL, the task goes on, and all that it does is there once."""

import random
import sys
from pathlib import Path

import pytest
from task_kit import HEAD, Bench, run

from pagemind.runtime.invariants import check_state
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills itself with SIGKILL")
TASK = """
inputs: {lines: in.txt}
do:
  - {say: "Take {{ input }} ({{ block.human }})", save: out.jsonl}
  - call: core_append
    with: {block: human, content: "{{ input }}"}
  - if: {contains: one, of: "{{ block.human }}"}
    then: [{save: {file: "{{ input }}.txt", text: "{{ reply }}"}}]
at_end: [{say: "Report {{ done }}", save: end.txt}]
"""
POINTS = [
    ("send", "before", 2),
    ("send", "after", 2),  # said and answered, not yet noted
    ("message", "after", 4),  # said, not yet answered
    ("message", "after", 5),
    ("call", "after", 2),  # memory has changed, the ledger does not know
    ("write", "before", 3),
    ("write", "after", 1),
    ("write", "after", 3),  # in the file, not in the ledger
    ("first write", "after", 1),
    ("begin action", "after", 6),
    ("end action", "before", 4),
    ("end action", "after", 4),
    ("begin input", "after", 3),
    ("end input", "before", 2),
    ("end input", "after", 4),  # of at_end
    ("close", "before", 1),
]


@pytest.fixture
def folder(bench: Bench) -> Path:
    bench.file("task.yaml", HEAD + TASK)
    return bench.folder


def written(folder: Path) -> dict[str, str]:
    names = [*folder.glob("*.txt"), *folder.glob("*.jsonl")]
    return {path.name: path.read_text(encoding="utf-8") for path in names}


def whole(folder: Path) -> None:
    """Outputs, talk and core memory are those of a run that was never disturbed."""
    assert written(folder) == {
        "in.txt": "one\ntwo\n\nthree\n",
        "out.jsonl": (
            '{"input": "in.txt:1", "reply": "re Take one (Sam)"}\n'
            '{"input": "in.txt:2", "reply": "re Take two (Sam\\none)"}\n'
            '{"input": "in.txt:4", "reply": "re Take three (Sam\\none\\ntwo)"}\n'
        ),
        "one.txt": "re Take one (Sam)\n",
        "two.txt": "re Take two (Sam\none)\n",
        "three.txt": "re Take three (Sam\none\ntwo)\n",
        "end.txt": "re Report 3\n",
    }
    home = Runtime(folder / "home", embedder=HashingEmbedder(16), background=False)
    with home as runtime, runtime.reader("task") as reader:
        talk = [m for m in reader.state.journal.newest(1 << 30) if m.kind == "talk"]
        assert [m.role for m in reversed(talk)] == ["user", "assistant"] * 4
        (block,) = reader.state.blocks.all()
        assert block.value == "Sam\none\ntwo\nthree"
        assert check_state(reader.state) == []
        kept = "SELECT count(*) FROM meta WHERE key LIKE 'called %'"
        assert not reader.state.database.number(kept)


def test_one_that_is_not_killed(folder: Path) -> None:
    """What all others are held against."""
    assert run(folder) == 0
    whole(folder)


@pytest.mark.parametrize(("point", "when", "nth"), POINTS)
def test_killed_at_a_point(folder: Path, point: str, when: str, nth: int) -> None:
    """The next run does what is left."""
    assert run(folder, point, when, nth) == -9
    assert run(folder) == 0
    whole(folder)


def test_killed_again_and_again(folder: Path) -> None:
    """Ten kills at random points on the way."""
    chance = random.Random(11)
    kills = 0
    for _ in range(10):
        point = chance.choice(["send", "message", "write", "begin action", "end action"])
        kills += run(folder, point, chance.choice(["before", "after"]), chance.randint(1, 3)) == -9
    assert kills >= 5
    assert run(folder) == 0
    whole(folder)


SHARED = """
inputs: {lines: in.txt}
do:
  - {call: core_append, with: {block: human, content: "{{ input }}"}}
"""


@pytest.mark.parametrize(
    ("choice", "value"), [("skip", "Sam\none\ntwo\nthree"), ("redo", "Sam\none\ntwo\nthree\ntwo")]
)
def test_an_edit_of_a_shared_block_that_was_cut_off(folder: Path, choice: str, value: str) -> None:
    """It stands in the home, apart from the call's answer: nobody knows, as of a call on the
    world."""
    plain = (folder / "plain.yaml").read_text(encoding="utf-8")
    shared = plain.replace('{value: "Sam", limit: 400}', '{value: "Sam", limit: 400, shared: crew}')
    (folder / "plain.yaml").write_text(shared, encoding="utf-8")
    (folder / "task.yaml").write_text(HEAD + SHARED, encoding="utf-8")
    assert run(folder, "share", "after", 2) == -9
    assert run(folder) == 3  # ask: it waits there
    (folder / "task.yaml").write_text(HEAD + SHARED + f"on_unknown: {choice}\n", encoding="utf-8")
    assert run(folder, "go on") == 0
    with Runtime(folder / "home", embedder=HashingEmbedder(16), background=False) as runtime:
        assert runtime.shared_blocks.find("crew").value == value


BELL = """
inputs: {lines: in.txt}
do:
  - {call: ring, with: {number: "{{ number }}"}}
"""


@pytest.mark.parametrize(("choice", "rung"), [("skip", "1\n2\n3\n"), ("redo", "1\n2\n3\n2\n")])
def test_a_call_of_the_world_that_was_cut_off(folder: Path, choice: str, rung: str) -> None:
    """Nobody knows whether it happened: it is asked about, or as `on_unknown` says."""
    (folder / "task.yaml").write_text(HEAD + BELL, encoding="utf-8")
    assert run(folder, "call", "after", 2) == -9
    assert run(folder) == 3  # ask: it stops there
    assert (folder / "bell.txt").read_text() == "1\n2\n3\n"  # the others go on
    (folder / "task.yaml").write_text(HEAD + BELL + f"on_unknown: {choice}\n", encoding="utf-8")
    assert run(folder, "go on") == 0
    assert (folder / "bell.txt").read_text() == rung


FOUR = """
agents: per_input
at_once: 4
inputs: {lines: in.txt}
do:
  - {say: "Take {{ input }} ({{ block.human }})", save: out.jsonl}
  - call: core_append
    with: {block: human, content: "{{ input }}"}
  - save: {file: blocks.txt, text: "{{ block.human }}"}
at_end: [{say: "Report {{ done }}", save: end.txt}]
"""
FOUR_POINTS = [
    ("begin input", "after", 3),
    ("send", "after", 3),
    ("first write", "after", 1),
    ("write", "after", 3),  # in the file, not in the ledger; others wait for their turn to write
    ("message", "after", 6),
    ("end action", "before", 7),
    ("call", "after", 3),
    ("write", "before", 4),
    ("end input", "after", 3),
    ("end action", "after", 9),
    ("begin action", "after", 8),
    ("close", "before", 1),
]


def test_killed_with_four_at_once(folder: Path) -> None:
    """Kill after kill, each at another point: the rows are those of an undisturbed run, and each
    input has been said once to an agent of its own."""
    lines = [f"line {n}" for n in range(1, 17)]
    (folder / "in.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "task.yaml").write_text(HEAD + FOUR, encoding="utf-8")
    kills = sum(run(folder, *point) == -9 for point in FOUR_POINTS)
    assert kills >= 9
    assert run(folder) == 0
    four_whole(folder, lines)


WORKERS_POINTS = [
    ("send", "after", 3),
    ("first write", "after", 1),
    ("write", "after", 7),  # in the file, the first of the second input
    ("take action", "after", 20),
    ("spool", "after", 3),  # its agent is here, and nobody says so
    ("import", "before", 2),  # the ledger says so, and it is not here
    ("import", "after", 2),
    ("end input", "before", 3),
    ("close", "before", 1),
]


def test_killed_with_workers(folder: Path) -> None:
    """Likewise where inputs go to workers, and their agents come back."""
    lines = [f"line {n}" for n in range(1, 17)]
    (folder / "in.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "task.yaml").write_text(HEAD + FOUR, encoding="utf-8")
    kills = sum(run(folder, *point, "workers") == -9 for point in WORKERS_POINTS)
    assert kills >= 8
    assert run(folder, who="workers") == 0
    four_whole(folder, lines)


def four_whole(folder: Path, lines: list[str]) -> None:
    """Outputs, talk and core memory are those of a run that was never disturbed."""
    found = written(folder)
    assert sorted(found["out.jsonl"].splitlines()) == sorted(
        f'{{"input": "in.txt:{n}", "reply": "re Take {line} (Sam)"}}'
        for n, line in enumerate(lines, 1)
    )
    assert sorted(found["blocks.txt"].splitlines()) == sorted(["Sam", *lines] + ["Sam"] * 15)
    assert found["end.txt"] == "re Report 16\n"
    home = Runtime(folder / "home", embedder=HashingEmbedder(16), background=False)
    with home as runtime:
        for n, line in enumerate(lines, 1):
            with runtime.reader(f"task {n}") as reader:
                talk = [m for m in reader.state.journal.newest(1 << 30) if m.kind == "talk"]
                assert [m.role for m in reversed(talk)] == ["user", "assistant"]
                assert reader.state.blocks.all()[0].value == f"Sam\n{line}"
                assert check_state(reader.state) == []
