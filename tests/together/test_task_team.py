"""The team of a task: agents that it makes for its own to work with."""

from pathlib import Path

import pytest
from kernel_kit import runtime_at
from task_kit import Bench

from pagemind.runtime.errors import DefinitionError, UnknownDefinition, UserError
from pagemind.runtime.model import ModelReply, ModelRequest, Usage
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.testing import ScriptedModel, call

WORKER = """
name: worker
system: You work.
embedding: none
context_window: 4096
output_reserve: 128
blocks: {plan: {shared: plan, limit: 400}}
tools: [core]
"""
CHIEF = (
    WORKER.replace("name: worker", "name: chief")
    .replace("You work.", "You lead.")
    .replace("tools: [core]", 'tools: [core, agents: {reach: ["*"]}]')
)
TASK = """
agent: {definition: ./chief.yaml, name: chief}
team: {ben: ./worker.yaml, cat: {definition: ./worker.yaml}}
do: [{say: Go., save: out.txt}]
"""


def answer(request: ModelRequest) -> Answer:
    if "You work." in request.system[0]:
        if request.messages[-1].role == "tool":
            return ModelReply("Done.", usage=Usage(50, 5), cost=0.25)
        return call("core_append", block="plan", content="I was here.")
    if request.messages[-1].role == "tool":
        return f"They say: {request.messages[-1].text}"
    return call("send_message_to", agent="ben", text="Sign.")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path, model=ScriptedModel(answer))
    made.file("worker.yaml", WORKER)
    made.file("chief.yaml", CHIEF)
    return made


def test_the_team_is_made_works_and_goes_with_a_restart(bench: Bench) -> None:
    """What it spends counts for the task; the shared block begins anew, too."""
    task = bench.task(TASK, head="")
    report = bench.run(task)
    assert report.row.status == "done", report.failures
    assert bench.text("out.txt") == "They say: Done.\n"
    assert (report.spent.steps, report.spent.cost) == (4, 0.25)
    with runtime_at(bench.folder / "home") as runtime:
        assert sorted(each.name for each in runtime.home.all()) == ["ben", "cat", "chief"]
        assert [v.author for v in runtime.shared_blocks.history("plan")] == ["ben", "ben"]
    bench.run(task, restart=True)
    with runtime_at(bench.folder / "home") as runtime:
        assert runtime.shared_blocks.find("plan").value == "I was here."


def test_a_run_that_goes_on_finds_its_team(bench: Bench) -> None:
    """With what they remember."""
    bench.run(bench.task(TASK, head=""))
    more = bench.task(TASK.replace("do: [", "do: [{say: Again., save: out.txt}, "), head="")
    assert bench.run(more, go_on=True).row.status == "done"


def test_a_name_that_is_taken_is_said_before_anything_runs(bench: Bench) -> None:
    """Another's agent is never the task's."""
    with runtime_at(bench.folder / "home") as runtime:
        runtime.create("ben", bench.folder / "worker.yaml")
    with pytest.raises(UserError, match="there is an agent called 'ben' already"):
        bench.run(bench.task(TASK, head=""))
    with runtime_at(bench.folder / "home") as runtime:
        assert [each.name for each in runtime.home.all()] == ["ben"]


@pytest.mark.parametrize(
    ("team", "says"),
    [
        ("{ben: ./nobody.yaml}", "nobody.yaml: no such file"),
        ("{ben: {model: x/y}}", "team.ben.definition: is missing"),
        ("{ben/x: ./worker.yaml}", "ben/x"),
    ],
)
def test_faults_are_told_with_their_line(bench: Bench, team: str, says: str) -> None:
    """Before anything runs."""
    text = TASK.replace("{ben: ./worker.yaml, cat: {definition: ./worker.yaml}}", team)
    with pytest.raises((DefinitionError, UnknownDefinition), match=says):
        bench.run(bench.task(text, head=""))
