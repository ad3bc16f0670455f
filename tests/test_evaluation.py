"""Cases and what becomes of them: what is right, what is counted, what is refused."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kernel_kit import runtime_at, small

from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.eval_cases import EvalCases, parse_cases
from pagemind.runtime.evaluation import Evaluation, evaluate
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call

NOW = datetime(2026, 5, 8, tzinfo=UTC)
NOTES = ("The boat is called Nomad.", "Berth 42 is hers.", "東京の船は青い。")


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[AgentReader]:
    with runtime_at(tmp_path) as runtime:
        script = [call("archival_insert", content=NOTES[0], tags=["boat"]), "Kept."]
        agent = runtime.agent("ada", small(), model=ScriptedModel(script, after="Yes."))
        agent.send("Remember my boat.", speaker="Sam")
        for text in NOTES[1:]:
            agent.observe(text, source="sign")
        yield runtime.reader("ada")


def run(reader: AgentReader, text: str) -> Evaluation:
    return evaluate(reader, parse_cases(text), now=NOW, count=lambda text: len(text.split()))


def one(reader: AgentReader, keys: str) -> str:
    """The status of a single case."""
    return run(reader, f"cases:\n- {{{keys}}}\n").cases[0].status


@pytest.mark.parametrize(
    ("keys", "status"),
    [
        ("question: the boat, expected: nomad", "hit"),
        ("question: the boat, expected: NOMAD", "hit"),
        ("question: the boat, expected: 'called  Nomad'", "hit"),
        ("question: the boat, expected: Noma", "miss"),
        ("question: the berth, expected: '4'", "miss"),
        ("question: the berth, expected: '42'", "hit"),
        ("question: 東京の船, expected: 船は", "hit"),
        ("question: the boat, evidence: a1", "hit"),
        ("question: the boat, expected: [Zephyr, Nomad]", "hit"),
        ("question: the boat, expected: Zephyr, absent: true", "hit"),
        ("question: the boat, expected: Nomad, absent: true", "miss"),
        ("question: the boat, absent: true, start: 2001, end: 2001", "hit"),
        ("question: the boat, absent: true", "miss"),
        ("question: the boat, expected: Nomad, tags: boat", "hit"),
        ("question: the boat, expected: Nomad, tags: car", "miss"),
        ("question: the boat, expected: Remember, speaker: sam", "hit"),
        ("question: the boat, expected: Nomad, role: user", "miss"),
        ("question: the boat, evidence: m999", "error"),
        ("question: the boat, evidence: p9", "error"),
        ("question: the boat, evidence: a9", "error"),
    ],
)
def test_a_case_is_judged(reader: AgentReader, keys: str, status: str) -> None:
    """Texts are whole words in any case; filters hold; what is not there is no miss."""
    assert one(reader, keys) == status


def test_a_page_is_found_by_a_message_of_it(tmp_path: Path) -> None:
    """p1 counts where one of its messages is a hit."""
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(1536), model=ScriptedModel(after="Yes."))
        agent.send("My boat is called Nomad.")
        for number in range(40):
            agent.send(f"{number}: " + "a long sentence about the sea " * 4)
        with runtime.reader("ada") as reader:
            assert reader.state.pages.count() > 1
            assert one(reader, "question: the boat Nomad, evidence: p1") == "hit"


def test_the_totals_are_as_by_hand(reader: AgentReader) -> None:
    """Two hits, one of them whole, one miss, one absent, one error that counts nowhere."""
    found = run(
        reader,
        """
        k: 1
        tier: archival
        cases:
        - {question: what is the boat called, expected: Nomad}
        - {question: what is the boat called, expected: [Nomad, Zephyr]}
        - {question: what is the boat called, expected: Zephyr}
        - {question: what is the boat called, expected: Zephyr, absent: true}
        - {question: what is the boat called, evidence: m999}
        """,
    )
    assert (found.count("hit"), found.count("miss"), found.count("error")) == (3, 1, 1)
    assert found.hit_rate == 3 / 4
    assert found.mrr == pytest.approx(2 / 3)
    assert found.all_rate == pytest.approx(1 / 3)
    assert found.tokens_mean == 5
    assert found.cases[1].missing == ("Zephyr",)
    assert [case.line for case in found.cases] == [5, 6, 7, 8, 9]


def test_a_token_budget_takes_the_best_that_fit(reader: AgentReader) -> None:
    """Never nothing, and never more than the budget after the first."""
    text = "max_tokens: {}\ncases:\n- {{question: the boat, expected: Nomad}}\n"
    assert len(run(reader, text.format(1)).cases[0].hits) == 1
    many = run(reader, text.format(1000)).cases[0]
    assert len(many.hits) > 1
    assert run(reader, text.format(many.tokens)).cases[0].hits == many.hits
    assert len(run(reader, text.format(many.tokens - 1)).cases[0].hits) == len(many.hits) - 1


def test_no_judged_case_has_no_rates(reader: AgentReader) -> None:
    """Nothing is divided by zero, and a floor is not reached by nothing."""
    found = run(reader, "floor: 0.1\ncases:\n- {question: x, evidence: m999}\n")
    assert (found.hit_rate, found.mrr, found.all_rate, found.tokens_mean) == (None,) * 4
    assert not found.passed


def test_a_passage_that_was_deleted_is_an_error_unless_it_should_be_absent(
    tmp_path: Path,
) -> None:
    """To have it as evidence is a mistake; to ask that it stays away is not."""
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel())
        runtime_insert(runtime, agent.name)
        with runtime.reader("ada") as reader:
            assert one(reader, "question: the boat, evidence: a1") == "error"
            assert one(reader, "question: the boat, evidence: a1, absent: true") == "hit"


def runtime_insert(runtime: Runtime, name: str) -> None:
    """Keep a passage, and retire it."""
    agent = runtime.agent(name)
    agent.archival.insert(NOTES[0])
    agent.archival.delete(1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cases: []", "holds no case"),
        ("floor: 0.5", "cases: is missing"),
        ("cases: [{expected: x}]", "cases.0.question: is missing"),
        ("cases: [{question: x}]", "says nothing of what is right"),
        ("cases: [{question: '?', expected: x}]", "must hold a letter or a digit"),
        ("cases: [{question: x, expected: ' '}]", "must not be empty text"),
        ("cases: [{question: x, evidence: m0}]", "'m0' is not an id"),
        ("cases: [{question: x, evidence: [d3]}]", "'d3' is not an id"),
        ("cases: [{question: x, expected: y, start: someday}]", "'someday' is not a date"),
        ("cases: [{question: x, expected: y, role: user}]\ntier: archival", "passages have none"),
        ("cases: [{question: x, expected: y}]\nk: 5\nmax_tokens: 9", "keep one of them"),
        ("cases: [{question: x, expected: y}]\nfloor: 1.5", "floor: must be at most 1, not 1.5"),
        ("cases: [{question: x, expected: y}]\nk: 9999", "k: must be at most 200"),
        ("cases: [{question: x, expected: y}]\ntier: pages", "must be 'recall', 'archival' or"),
        ("cases: [{question: x, expected: y}]\nschema: 2", "schema: must be 1, not 2"),
        ("cases: [{question: x, expected: y}]\nfloors: 1", "did you mean 'floor'?"),
        ("cases: {question: x}", "must be a list, not a mapping"),
        ("- question: x", "a file of cases is a mapping"),
        ("", "the file is empty"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(text: str, says: str) -> None:
    """One line for each fault."""
    with pytest.raises(DefinitionError) as caught:
        parse_cases(text, "c.yaml")
    assert says in caught.value.message
    assert caught.value.message.startswith("c.yaml:")


def test_the_least_that_is_needed_is_a_question_and_an_answer() -> None:
    """Ten hits of both tiers, no floor; a text stands for a list of one."""
    made: EvalCases = parse_cases("cases: [{question: x, expected: y}]")
    assert (made.bound, made.tier, made.floor) == ((10, None), "both", None)
    assert made.cases[0].expected == ("y",)
