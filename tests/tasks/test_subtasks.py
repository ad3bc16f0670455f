"""A task runs another as one of its actions, once, within its own budgets."""

import json
from typing import Any

import pytest
from kernel_kit import runtime_at
from task_kit import Bench

from pagemind.runtime.errors import BadRequest, DefinitionError, UserError
from pagemind.runtime.model import ModelReply, Usage
from pagemind.runtime.tasks.plan import plan_of
from pagemind.runtime.tasks.task_file import load_task
from pagemind.runtime.testing import ScriptedModel

LINES = "inputs: {lines: in.txt}\n"
SUB = """
agent: {definition: ./plain.yaml}
inputs: {lines: "{{ file }}"}
vars: {file: , word: Read}
do: [{say: "{{ word }} {{ input }}", save: facts.jsonl}]
"""
PARENT = (
    LINES
    + """
do:
  - say: "Split {{ input }}"
  - sub: sub.yaml
    set: {file: "parts/{{ input }}.txt"}
    as: read
  - {save: {file: seen.txt, text: "{{ read.status }} {{ read.done }} of {{ read.total }}"}}
"""
)


@pytest.fixture
def nest(bench: Bench) -> Bench:
    bench.file("sub.yaml", SUB)
    for name in ("one", "two", "three"):
        bench.file(f"parts/{name}.txt", f"{name} a\n{name} b\n")
    return bench


def rows(bench: Bench) -> list[str]:
    return [row["reply"] for row in bench.rows("facts.jsonl")]


def everything() -> list[str]:
    return [f"re Read {name} {part}" for name in ("one", "two", "three") for part in "ab"]


def test_a_task_in_a_task(nest: Bench) -> None:
    """It runs for each input with its own values; its outcome is a value, and run again nothing is
    done twice."""
    report = nest.run(PARENT)
    assert report.row.status == "done", report.failures
    assert rows(nest) == everything()
    assert nest.text("seen.txt") == "done 2 of 2\n" * 3
    before, asked = nest.text("facts.jsonl"), len(nest.model.requests)
    assert nest.run(PARENT).row.status == "done"
    assert (nest.text("facts.jsonl"), len(nest.model.requests)) == (before, asked)
    assert {path.rpartition("/")[2] for path, _ in report.outputs} == {"facts.jsonl", "seen.txt"}


def test_it_has_a_ledger_and_agents_of_its_own(nest: Bench) -> None:
    """Named by where it runs; --restart takes them back with the parent."""
    nest.run(PARENT)
    assert nest.said("task do.2 2") == nest.said("task do.2 2")[:2]
    assert "Read two a" in nest.said("task do.2 2")[0]
    with runtime_at(nest.folder / "home") as runtime:
        first = {each.name: each.id for each in runtime.home.all()}
    assert set(first) == {"task", "task do.2 1", "task do.2 2", "task do.2 3"}
    report = nest.run(PARENT, restart=True)
    assert report.row.status == "done", report.failures
    assert rows(nest) == everything()
    with runtime_at(nest.folder / "home") as runtime:
        second = {each.name: each.id for each in runtime.home.all()}
    assert set(second) == set(first)
    assert not set(second.values()) & set(first.values())


def test_one_that_fails_follows_the_policy(nest: Bench) -> None:
    """Its action fails with the reason; --retry does what failed in it again, and no more."""
    replies = {"Read two b": 1}

    def answer(request: Any) -> str:
        text = request.messages[-1].text.rpartition("] ")[2]
        if replies.get(text, 0):
            replies[text] -= 1
            raise BadRequest("no such thing")
        return f"re {text}"

    nest.model = ScriptedModel(answer)
    report = nest.run(PARENT)
    assert report.row.status == "partial"
    ((label, why),) = report.failures
    assert label == "in.txt:2"
    assert why == "do.2: task/do.2/2 is partial: two.txt:2: do.1: no such thing"
    asked = len(nest.model.requests)
    assert nest.run(PARENT, retry=True).row.status == "done"
    assert len(nest.model.requests) == asked + 1
    assert sorted(rows(nest)) == sorted(everything())


def test_a_part_may_do(nest: Bench) -> None:
    """accept: partial goes on with what is done, and can look at it."""

    def answer(request: Any) -> str:
        if "two b" in request.messages[-1].text:
            raise BadRequest("no")
        return "ok"

    nest.model = ScriptedModel(answer)
    report = nest.run(PARENT.replace("    as: read", "    as: read\n    accept: partial"))
    assert report.row.status == "done"
    assert nest.text("seen.txt").splitlines()[1] == "partial 1 of 2"


def test_what_it_takes_counts_around_it(nest: Bench) -> None:
    """The budget of the task that runs it ends it between two turns; with more it goes on."""
    nest.model = ScriptedModel(lambda request: ModelReply("x", usage=Usage(100, 10), cost=0.01))
    report = nest.run(PARENT + "budget: {task: {tokens: 450}}\n")
    assert report.exit_code == 5
    assert "the task's budget is spent: 550 of 450 tokens" in report.row.why
    assert report.spent.tokens == 550
    text = PARENT + "budget: {task: {tokens: 5000}}\n"
    report = nest.run(text, go_on=True)
    assert report.row.status == "done", report.failures
    assert report.spent.tokens == 9 * 110
    by_action = {(each.action, each.place): each.spent.tokens for each in report.by_action}
    assert by_action["sub", "do.2"] == 6 * 110


def test_an_input_of_the_parent_bounds_it(nest: Bench) -> None:
    """A budget of each input, and one of the action itself."""
    nest.model = ScriptedModel(lambda request: ModelReply("x", usage=Usage(100, 10), cost=0.01))
    report = nest.run(PARENT + "budget: {input: {steps: 2}}\n")
    assert report.inputs["failed"] == 3
    assert "the input's budget is spent: 2 of 2 steps" in report.failures[0][1]
    report = nest.run(PARENT.replace("as: read", "as: read\n    budget: {steps: 1}"), restart=True)
    assert report.failures[0][1] == "do.2: its budget is spent: 1 of 1 steps"


def test_on_the_same_agent(nest: Bench) -> None:
    """agent: same: who works on the input does it; so does one that both name."""
    text = PARENT.replace("    as: read", "    as: read\n    agent: same")
    assert nest.run(text).row.status == "done"
    assert len(nest.said()) == 9
    with runtime_at(nest.folder / "home") as runtime:
        assert [each.name for each in runtime.home.all()] == ["task"]
    nest.file("sub.yaml", SUB.replace("{definition: ./plain.yaml}", "task"))
    nest.file("again.yaml", f"name: again\nagent: task\n{PARENT}")
    assert nest.run(load_task(nest.folder / "again.yaml")).row.status == "done"
    assert len(nest.said()) == 18


def test_at_the_end_and_in_a_round(nest: Bench) -> None:
    """What an action before it wrote can be its input; each round is another."""
    text = (
        LINES
        + 'do: [{say: "{{ input }}", save: {file: all.txt, text: "{{ input }}"}}]\nat_end:\n'
        + "  - repeat: [{sub: sub.yaml, set: {file: all.txt, word: Check}}]\n"
        + '    until: {of: "{{ result.done }}", one_of: ["3"]}\n    at_most: 2\n'
    )
    report = nest.run(text)
    assert report.row.status == "done", report.failures
    assert rows(nest) == ["re Check one", "re Check two", "re Check three"]


def test_inputs_at_once(nest: Bench) -> None:
    """Each has its own; one that all of them name is taken by one after another."""
    head = "agents: per_input\nat_once: 3\n"
    assert nest.run(head + PARENT).row.status == "done"
    assert sorted(rows(nest)) == sorted(everything())
    nest.file("sub.yaml", SUB.replace("./plain.yaml", "./plain.yaml, name: reader"))
    report = nest.run(head + PARENT, restart=True)
    assert report.row.status == "done", report.failures
    assert sorted(rows(nest)) == sorted(everything())
    assert len(nest.said("reader")) == 6


@pytest.mark.parametrize(
    ("sub", "action", "says"),
    [
        (SUB, "{sub: sbu.yaml}", "do.1.sub: "),
        (SUB, "{sub: sbu.yaml}", "sub.yaml?"),
        (SUB, "{sub: sub.yaml}", "do.1.sub: sub.yaml needs file: write it under set"),
        (SUB, "{sub: sub.yaml, set: {flie: x}}", "did you mean 'file'?"),
        (SUB, "{sub: sub.yaml, set: {file: '{{ nowhere }}'}}", "no variable is called 'nowhere'"),
        (SUB, "{sub: sub.yaml, with: {file: x}}", "with does not go with sub; that takes: accept"),
        (SUB.replace("input }}", "inptu }}"), "{sub: sub.yaml, set: {file: x}}", "sub.yaml:5: do."),
        (SUB.replace("plain", "plian"), "{sub: sub.yaml, set: {file: x}}", "plian.yaml"),
        (SUB + "at_end: [{sub: task.yaml}]", "{sub: sub.yaml, set: {file: x}}", "reaches itself"),
        (SUB + "at_end: [{call: no}]", "{sub: sub.yaml, set: {file: x}}", "no function 'no'"),
        (
            SUB.replace('lines: "{{ file }}"', "stdin: lines"),
            "{sub: sub.yaml, set: {file: x}}",
            "stand",
        ),
        (SUB + "team: {bo: ./plain.yaml}\n", "{sub: sub.yaml, set: {file: x}}", "has a team"),
        (SUB, "{sub: sub.yaml, set: {file: x}}\n  - {say: '{{ result.dun }}'}", "'dun'"),
    ],
)
def test_faults_are_told_before_anything_runs(
    bench: Bench, sub: str, action: str, says: str
) -> None:
    """Of both files, with their lines."""
    bench.file("sub.yaml", sub)
    with pytest.raises(UserError) as told:
        bench.run(f"do:\n  - {action}\n")
    assert says in f"{told.value.message} {told.value.hint}"
    assert not bench.model.requests


def test_tasks_are_not_nested_for_ever(bench: Bench) -> None:
    """A chain that never closes is refused by its depth, a ring by the names on it."""
    head = "agent: {definition: ./plain.yaml}\n"
    for number in range(12):
        bench.file(f"t{number}.yaml", f"{head}do: [{{sub: t{number + 1}.yaml}}]\n")
    bench.file("t12.yaml", f"{head}do: [{{say: x}}]\n")
    with pytest.raises(DefinitionError, match=r"at most 8 may be: t0\.yaml → t1\.yaml"):
        load_task(bench.folder / "t0.yaml")
    bench.file("t2.yaml", f"{head}do: [{{sub: ./t0.yaml}}]\n")
    with pytest.raises(DefinitionError, match=r"t0\.yaml → t1\.yaml → t2\.yaml → t0\.yaml"):
        load_task(bench.folder / "t0.yaml")


def test_a_changed_file_inside_is_explained(nest: Bench) -> None:
    """The line is shown; a resumed task goes on with the file as it was."""
    nest.run(PARENT)
    nest.file("sub.yaml", SUB.replace("Read", "Study"))
    with pytest.raises(UserError) as told:
        nest.run(PARENT)
    assert "sub.yaml: vars: {file: , word: Study}" in told.value.message
    nest.file("in.txt", "one\ntwo\n\nthree\none\n")
    assert nest.run(PARENT, go_on=True).row.status == "done"
    assert rows(nest)[-2:] == ["re Study one a", "re Study one b"]


def test_a_changed_input_has_another(nest: Bench) -> None:
    """What was done for the input as it was stays; for the new one it runs anew."""
    nest.model = ScriptedModel(["s", "x", "x", "s", "x", BadRequest("no")], after="ok")
    assert nest.run(PARENT).inputs["failed"] == 1
    nest.file("in.txt", "one\nfour\n\nthree\n")
    nest.file("parts/four.txt", "four a\n")
    assert nest.run(PARENT, go_on=True, retry=True).row.status == "done"
    assert [text[-10:] for text in nest.said("task do.2 2")] == ["Read two a", "Read two b"]
    assert [text[-11:] for text in nest.said("task do.2 2 2")] == ["Read four a"]


def test_the_plan_has_it(nest: Bench) -> None:
    """Its actions stand under the one that runs it, and what it takes is counted."""
    with runtime_at(nest.folder / "home") as runtime:
        plan = plan_of(runtime, nest.task(PARENT), "scripted/echo")
    assert "  do.2 › do.1 say {{ word }} {{ input }} → facts.jsonl" in plan.actions
    assert plan.turns == 3 + 3  # how many rows a file has that an input names is not known
    assert "do.2 sub sub.yaml" in plan.as_text()


def test_its_actions_are_told(nest: Bench) -> None:
    """To who watches the task, at the place of the action, and to its own report."""
    report = nest.run(PARENT)
    inside = [each.data for each in nest.events if each.data.get("inside")]
    assert inside[0]["place"] == "do.2 › one.txt:1 do.1"
    assert inside[0]["input"] == "in.txt:1"
    assert len([each for each in nest.events if each.kind == "input_done"]) == 3
    assert report.path is not None
    (own,) = [
        json.loads(path.read_text())
        for path in report.path.parents[1].glob("*/report.json")
        if json.loads(path.read_text())["task"] == "task/do.2/3"
    ]
    assert own["status"] == "done"
    assert [each["bytes"] > 0 for each in own["outputs"]] == [True]
