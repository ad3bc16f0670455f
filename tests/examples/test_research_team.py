"""examples/research_team.yaml: a supervisor asks three readers, who share a block."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.message import Message, ToolCall
from pagemind.runtime.model import ModelReply, ModelRequest, Usage
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.opening import Answers
from pagemind.runtime.tasks.runner import run_task
from pagemind.runtime.tasks.task_file import load_task
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call
from pagemind.runtime.untrusted import unmarked

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
READERS = ("people", "tides", "trade")


def answer(request: ModelRequest) -> Answer:
    """What a sensible model would do: the supervisor notes and asks all, a reader greps."""
    system = "\n".join(request.system)
    if "You lead a team" in system:
        said = [m for m in request.messages if m.kind == "talk"]
        event = max(at for at, m in enumerate(said) if m.role == "user")
        question = said[event].text.rpartition("] ")[2]
        if "Write a report" in question:
            return "# The harbour\n" + "\n".join(m.text for m in said if m.role == "assistant")
        told = {m.name: unmarked(m.text) for m in said[event:] if m.role == "tool" and m.ok}
        if "send_message_to_all" in told:
            return f"From my readers: {told['send_message_to_all']}"
        if "core_append" in told:
            return call("send_message_to_all", tags=["reader"], text=question)
        return call("core_append", block="agenda", content=f"- {question}")
    asked = max(at for at, m in enumerate(request.messages) if m.role == "user")
    results = [m for m in request.messages[asked:] if m.role == "tool"]
    done = [m.name for m in results]
    calls: list[tuple[str, ToolCall]] = [
        ("list_files", call("list_files")),
        ("grep_files", call("grep_files", text="Halcyon")),
    ]
    for name, each in calls:
        if name not in done:
            return each
    return ModelReply(f"- {_note(results)}", usage=Usage(100, 10), cost=0.001)


def _note(results: list[Message]) -> str:
    found = [unmarked(m.text) for m in results if m.name == "grep_files"]
    return found[0].splitlines()[1].strip() if found else ""


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    with Runtime(
        tmp_path / "home", clock=FrozenClock(), embedder=HashingEmbedder(16), background=False
    ) as made:
        yield made


def test_the_team_answers_and_shares_what_it_found(runtime: Runtime, tmp_path: Path) -> None:
    """Each question goes to all; the block holds what is asked; --restart leaves nothing."""
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    task = load_task(tmp_path / "examples" / "research_team.yaml")
    hiring = Hiring(model=ScriptedModel(answer))
    report = run_task(runtime, task, hiring=hiring)
    assert report.row.status == "done", report.failures
    folder = tmp_path / "examples" / "research_team"
    rows = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    assert len(rows) == 3
    assert all(f"{name}: - " in row["answer"] for row in rows for name in READERS)

    versions = runtime.shared_blocks.history("research_agenda")
    assert {v.author for v in versions[1:]} == {"supervisor"}
    assert len(versions[-1].value.splitlines()) == 3
    found = (folder / "report.md").read_text()
    assert all(name in found for name in ("log_1911.md", "arrivals.csv", "letters.md"))

    for name in READERS:
        with runtime.reader(name) as reader:
            asked = [m for m in reader.messages(1000) if m.role == "user"]
            assert [m.speaker for m in asked] == ["supervisor"] * 3
            assert [m.text for m in asked] == (folder / "questions.txt").read_text().splitlines()
    assert report.as_json()["cost"]["amount"] == pytest.approx(0.009)

    run_task(runtime, task, hiring=hiring, answers=Answers(restart=True))
    assert len(runtime.shared_blocks.history("research_agenda")) == len(versions)
    assert len((folder / "answers.jsonl").read_text().splitlines()) == 3
