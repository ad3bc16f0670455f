"""What all inputs left becomes one, a few at a time, each step once."""

import json
import re
import tracemalloc
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from kernel_kit import runtime_at
from task_kit import HEAD, Bench, run

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.errors import BadRequest, DefinitionError
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.state.home import Home
from pagemind.runtime.state.ledger import Ledger, Spent
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.plan import plan_of
from pagemind.runtime.tasks.reducing import steps
from pagemind.runtime.tasks.results import results_of
from pagemind.runtime.testing import ScriptedModel

LINES = "agents: per_input\ninputs: {lines: many.txt}\n"
DO = "do: [{say: 'Note {{ input }}', as: note}]\n"
END = """
at_end:
  - reduce: note
    take: 3
    say: "Merge {{ count }}:\\n{{ results }}"
    save: end.txt
"""


@pytest.fixture
def many(bench: Bench) -> Bench:
    """Ten lines. A merge is answered with all the numbers in it."""

    def answer(request: ModelRequest) -> str:
        text = request.messages[-1].text
        if "Merge" not in text:
            return f"n{text.split()[-1]}"
        body = text.partition("\n")[2]
        return " ".join(word for word in body.split() if word.startswith("n"))

    bench.model = ScriptedModel(answer)
    bench.file("many.txt", "".join(f"{number}\n" for number in range(1, 11)))
    return bench


def merges(bench: Bench) -> list[str]:
    return [text.partition("Merge ")[2] for text in bench.said() if "Merge" in text]


def test_a_tree_of_three(many: Bench) -> None:
    """Ten results are four groups, these two, these one; what is alone is passed on as it is."""
    report = many.run(LINES + DO + END)
    assert report.row.status == "done", report.failures
    assert many.text("end.txt") == " ".join(f"n{n}" for n in range(1, 11)) + "\n"
    told = merges(many)
    assert [text[:2] for text in told] == ["3:", "3:", "3:", "1:", "3:", "2:"]
    assert told[0] == "3:\n[many.txt:1]\nn1\n\n[many.txt:2]\nn2\n\n[many.txt:3]\nn3"
    assert told[4].startswith("3:\n[many.txt:1 … many.txt:3]\nn1 n2 n3\n\n[many.txt:4 …")
    assert told[5].startswith("2:\n[many.txt:1 … many.txt:9]\nn1")
    assert told[5].endswith("[many.txt:10]\nn10")
    by_action = {(each.action, each.place): each.done for each in report.by_action}
    assert by_action["reduce", "at_end.1"] == 7
    asked = len(many.model.requests)
    assert many.run(LINES + DO + END).row.status == "done"
    assert len(many.model.requests) == asked


def test_one_and_none(many: Bench) -> None:
    """A single result is told once; where no input left one the action fails."""
    many.file("many.txt", "7\n")
    assert many.run(LINES + DO + END).row.status == "done"
    assert [text[:2] for text in merges(many)] == ["1:"]
    many.model = ScriptedModel([BadRequest("no")])
    report = many.run(LINES + DO + END, restart=True)
    assert (("at_end", "at_end.1: no input left note: there is nothing to reduce")) in (
        report.failures
    )


def test_data_of_a_schema(many: Bench) -> None:
    """Rows are told as JSON, and the last step's value is data."""
    schema = "{type: object, properties: {n: {type: integer}}, required: [n]}"

    def answer(request: ModelRequest) -> str:
        text = request.messages[-1].text
        if "Sum" not in text:
            return '{"n": 1}'
        total = sum(int(found) for found in re.findall(r'^{"n": (\d+)}$', text, re.MULTILINE))
        return json.dumps({"n": total})

    many.model = ScriptedModel(answer)
    many.run(
        f"{LINES}do: [{{say: 'Note {{{{ input }}}}', schema: {schema}}}]\nat_end:\n"
        f"  - {{reduce: data, take: 4, say: 'Sum {{{{ results }}}}', schema: {schema}, as: sum}}\n"
        "  - {save: {file: end.txt, text: '{{ sum.n }}'}}\n"
    )
    assert many.text("end.txt") == "10\n"


def test_what_does_not_fit_is_told_in_more_steps(many: Bench) -> None:
    """A group is no longer than what the agent sees of one message; it always comes to an end."""
    many.model = ScriptedModel(lambda request: "word " * 300)
    report = many.run(LINES + DO + END.replace("take: 3", "take: 100"))
    assert report.row.status == "done", report.failures
    counts = [int(text.partition(":")[0]) for text in merges(many)]
    assert max(counts) == 2
    assert len(counts) >= 9


def test_a_step_that_failed_is_done_alone(many: Bench) -> None:
    """--retry does that step and those that follow from it; the groups stay those they were."""
    inner = many.model
    broken = [True]

    def answer(request: ModelRequest) -> Any:
        if "[many.txt:4]" in request.messages[-1].text and broken[0]:
            raise BadRequest("no")
        return inner.complete(request).text

    many.model = ScriptedModel(answer)
    report = many.run(LINES + DO + END)
    assert report.failures == (("at_end", "at_end.1.1.2: no"),)
    broken[0] = False
    asked = len(many.model.requests)
    assert many.run(LINES + DO + END, retry=True).row.status == "done"
    assert len(many.model.requests) == asked + 5
    assert many.text("end.txt").split() == [f"n{n}" for n in range(1, 11)]


def test_a_reducer_may_be_added_later(many: Bench) -> None:
    """It reads what the ledger has: no input is done again."""
    many.run(LINES + DO.replace(", as: note", ""))
    asked = len(many.model.requests)
    report = many.run(
        LINES + DO.replace(", as: note", "") + END.replace("note", "reply"), go_on=True
    )
    assert report.row.status == "done", report.failures
    assert len(many.model.requests) == asked + 6


def test_the_last_that_was_made_counts(bench: Bench) -> None:
    """In a branch or a round, by the order of the actions."""
    bench.file("many.txt", "a\nb\n")
    bench.model = ScriptedModel(lambda request: request.messages[-1].text.split("\n")[-1][-2:])
    report = bench.run(
        LINES
        + "do:\n"
        + "  - {say: 'first {{ input }}1', as: x}\n"
        + "  - if: {of: '{{ input }}', one_of: [b]}\n"
        + "    then:\n"
        + "      - repeat: [{say: 'again {{ input }}2', as: x}]\n"
        + "        until: not_empty\n        at_most: 2\n"
        + "at_end: [{reduce: x, say: 'All {{ results.0 }} {{ results.1 }}', save: end.txt}]\n"
    )
    assert report.row.status == "done", report.failures
    assert bench.said()[-1].endswith("All a1 b2")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("do: [{reduce: reply, say: '{{ results }}'}]\n", "stands under at_end"),
        (DO + "at_end: [{reduce: note}]\n", "reduce needs say"),
        (DO + "at_end: [{reduce: noet, say: '{{ results }}'}]\n", "did you mean 'note'?"),
        (DO + "at_end: [{reduce: note, say: 'all'}]\n", "has no {{ results }}"),
        (DO + "at_end: [{reduce: note, say: '{{ results }}', take: 1}]\n", "at least 2"),
        (DO + "at_end: [{say: '{{ results }}'}]\n", "no variable is called 'results'"),
        (DO + "at_end: [{reduce: note, say: '{{ results }}', with: {a: b}}]\n", "with does not go"),
    ],
)
def test_faults(many: Bench, text: str, says: str) -> None:
    """Told with their lines before anything runs."""
    with pytest.raises(DefinitionError, match=says.replace("{", r"\{").replace("?", r"\?")):
        many.task(LINES + text)


def test_the_plan_counts_the_steps(many: Bench) -> None:
    """Ten inputs by three are seven steps at the most."""
    assert [steps(n, 3) for n in (0, 1, 3, 4, 10)] == [0, 1, 1, 3, 7]
    with runtime_at(many.folder / "home") as runtime:
        plan = plan_of(runtime, many.task(LINES + DO + END), "scripted/echo")
    assert plan.turns == 17
    assert "at_end.1 reduce note, 3 at a time: Merge {{ count }}: {{ results }} → end.txt" in (
        plan.actions
    )


def test_killed_on_the_way(many: Bench) -> None:
    """The steps that are done stay so; the others are done once."""
    many.file("task.yaml", HEAD + LINES.replace("agents: per_input\n", "") + DO + END)
    assert run(many.folder, "end action", "after", 12) == -9  # the second of the first level
    assert run(many.folder, "send", "after", 1) == -9  # said and answered, not yet noted
    assert run(many.folder) == 0
    told = merges(many)
    assert [text[:2] for text in told] == ["3:", "3:", "3:", "1:", "3:", "2:"]


def test_many_results_stream(tmp_path: Path) -> None:
    """Results are read a few inputs at a time."""
    clock = SystemClock()
    home = Home(tmp_path / "home", clock)
    ledger = Ledger(home.database, clock)
    task = ledger.open("many", "x.yaml", "", {}, False)
    with ledger.transaction():
        for number in range(1, 3001):
            ledger.begin_input(task.id, str(number), f"in:{number}", number, "")
            ledger.begin_action(task.id, str(number), "do.1", "say", 1)
            left = {"reply": "x" * 1000}
            ledger.end_action(task.id, str(number), "do.1", "done", left, "", Spent())
            ledger.end_input(task.id, str(number), "done")
    found: Iterator[Any] = results_of(
        ledger.results, task.id, (Action.model_validate({"say": "x"}),), "reply"
    )
    tracemalloc.start()
    try:
        number = 0
        for number, one in zip(count(1), found, strict=False):
            assert one.label == f"in:{number}"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    home.close()
    assert number == 3000
    assert peak < 1 << 20
