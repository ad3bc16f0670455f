"""A replay asks nobody, and does nothing to the world again, whatever is missing in the trace."""

import json
from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition import load_definition
from pagemind.runtime.person import ApprovalRequest, Consent, ScriptedPerson
from pagemind.runtime.recorder import Recorder
from pagemind.runtime.replay import replay
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

TOOLS = """
name: worker
embedding: none
context_window: 16000
trust: {world: allow, arguments: allow}
tools:
- shell
- files: {roots: [.]}
- page_in
- replayed_kit:lookup: {at_most: 1, required: true}
"""


class Choosy(ScriptedPerson):
    """Declines what removes."""

    def approve(self, request: ApprovalRequest) -> Consent | None:
        return Consent("rm" not in request.arguments["command"], reason="keep it")


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A talk with each kind of consent, in a folder of its own."""
    (tmp_path / "replayed_kit.py").write_text(
        f"open({str(tmp_path / 'imported')!r}, 'a').write('x')\n"
        "def lookup(name: str) -> str:\n"
        '    """Look a boat up."""\n'
        f"    open({str(tmp_path / 'ran')!r}, 'a').write(name)\n"
        "    return name\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "worker.yaml").write_text(TOOLS)
    (tmp_path / "a.txt").write_text("one")
    ran = f"echo x >> {tmp_path / 'ran'}"
    model = ScriptedModel(
        [
            call("shell", command=ran),
            call("lookup", name="n"),
            call("lookup", name="n"),
            "Ran.",
            call("shell", command="rm a.txt"),
            call("read_file", path="a.txt"),
            "Kept.",
            call("lookup", name="m"),
            "Now.",
            call("shell", command=ran),
            call("lookup", name="o"),
            "Late.",
        ],
        name="worker",
    )
    path = tmp_path / "talk.jsonl"
    clock = FrozenClock()
    recorder = Recorder(path, clock)
    with Runtime(tmp_path / "home", clock=clock, background=False, trace=recorder) as runtime:
        agent = runtime.agent("ada", load_definition(tmp_path / "worker.yaml"), model=model)
        agent.person = Choosy()
        assert agent.send("one").text == "Ran."
        assert agent.send("two").text.endswith("Now.")
        agent.person = None
        assert agent.send("three").stop_reason == "approval"
        assert agent.approve().text == "Late."
    assert (tmp_path / "ran").read_text() == "x\nnmx\no"
    return path


def test_consents_are_those_of_the_record(trace: Path, tmp_path: Path) -> None:
    """Nothing runs, nothing of the person's own is imported, and every request is the same."""
    import sys

    del sys.modules["replayed_kit"]
    (tmp_path / "imported").unlink()
    (tmp_path / "a.txt").write_text("another")
    replayed = replay(trace)
    assert replayed.difference is None
    assert replayed.turns == 4
    assert (tmp_path / "ran").read_text() == "x\nnmx\no"
    assert not (tmp_path / "imported").exists()


def test_a_trace_without_answers_runs_nothing(trace: Path, tmp_path: Path) -> None:
    """A file that somebody has shortened cannot make a replay act."""
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    for line in lines:
        if line["kind"] == "state" and "definition" in json.dumps(line):
            text = json.dumps(line).replace("- shell", "- shell: {rule: allow}")
            line.update(json.loads(text))
    kept = [line for line in lines if line["kind"] != "answer"]
    trace.write_text("".join(json.dumps(line) + "\n" for line in kept))
    replay(trace)
    assert (tmp_path / "ran").read_text() == "x\nnmx\no"
