"""Facts as an agent keeps and looks them up: exactly, at a time, and back after an undo."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kernel_kit import last_result, runtime_at, small

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.fact_search import FactQuery, FactSearch
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.services import SearchFilters, validity_of
from pagemind.runtime.testing import ScriptedModel, call

MAY = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)


class Doing:
    """Makes the calls it is told to, one after another, then answers."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []

    def __call__(self, request: ModelRequest) -> ToolCall | str:
        return self.calls.pop(0) if self.calls else "done"


class Told:
    """An agent, and what its functions answer."""

    def __init__(self, agent: Agent, doing: Doing, model: ScriptedModel) -> None:
        self.agent, self.doing, self.model = agent, doing, model
        self.state = agent.state

    def __call__(self, name: str, speaker: str = "Sam", **arguments: object) -> str:
        self.doing.calls = [call(name, **arguments)]
        assert self.agent.send(f"do {name}", speaker=speaker).stop_reason == "answered"
        return last_result(self.model).text


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(MAY)


@pytest.fixture
def told(tmp_path: Path, clock: FrozenClock) -> Iterator[Told]:
    doing = Doing()
    model = ScriptedModel(doing)
    with runtime_at(tmp_path, clock) as runtime:
        definition = small(8192, "facts", "archival", more="facts: {single: [coach]}\n")
        agent = runtime.agent("ada", definition, model=model)
        yield Told(agent, doing, model)


def test_a_changed_fact_is_told_of_and_kept(told: Told, clock: FrozenClock) -> None:
    """The answer says what ended; search gives what is true, history what was, as_of what was then;
    an undo makes it as it was, and what was believed meanwhile is still known."""
    first = told("fact_add", subject="I", relation="lives in", object="Lisbon", since="May 2026")
    assert first == "stored as a1 Sam lives in Lisbon. (since May 2026)"
    clock.advance(days=60)
    moved = told("fact_add", subject="Sam", relation="moved_to", object="Porto")
    assert "stored as a2 Sam lives in Porto. (since 3 July 2026)" in moved
    assert "ended: a1 Sam lives in Lisbon. (May 2026 until 3 July 2026; now a2)" in moved
    believed = clock.now()
    assert told("fact_search", entity="me", relation="lives_in").splitlines() == [
        "1 fact about lives_in of me",
        "a2 Sam lives in Porto. (since 3 July 2026)",
    ]
    then = told("fact_search", entity="sam", relation="home", as_of="June 2026")
    assert "Lisbon" in then
    assert "Porto" not in then
    history = told("fact_history", entity="Sam", relation="lives_in")
    assert [line[:2] for line in history.splitlines()[1:]] == ["a1", "a2"]

    clock.advance(days=1)
    turns = [each.turn for each in told.state.turns.newest(10)]
    told.agent.undo(len(turns) - 1)
    again = told("fact_search", entity="Sam", relation="lives_in")
    assert again.splitlines()[1:] == ["a1 Sam lives in Lisbon. (since May 2026)"]
    sam = told.state.entities.find("sam")
    assert sam is not None
    search = FactSearch(told.state, clock.now())
    was = search.find(FactQuery(sam, "lives_in", known_at=believed))
    assert [each.fact.facets.object for each in was] == ["Porto"]
    assert search.find(FactQuery(sam, "lives_in", known_at=MAY - timedelta(days=1))) == []


def test_search_goes_by_relation_and_not_by_likeness(told: Told) -> None:
    """Alice's manager is Carol, though "Alice manages Bob" is nearer to the question."""
    told("fact_add", subject="Alice", relation="manages", object="Bob", text="Alice manages Bob.")
    told(
        "fact_add", subject="Carol", relation="manages", object="Alice",
        text="Since spring the team is led by Carol, Alice among them.",
    )  # fmt: skip
    told("fact_add", subject="Carol", relation="lives_in", object="Ghent")
    assert told.agent.engine.near("Alice's manager: Alice manages whom?")[0][0] == "a1"
    assert "Carol" in told("fact_search", entity="Alice", relation="manager")
    assert "Bob" not in told("fact_search", entity="Alice", relation="manager")
    assert "Bob" in told("fact_search", entity="Alice", relation="manages")
    both = told("fact_search", entity="Alice")
    assert "Bob" in both
    assert "Carol" in both
    city = told("fact_search", entity="Alice", relation="lives_in", hops=2)
    assert "Carol lives in Ghent. (since 4 May 2026) (by a2)" in city


def test_what_is_told_wrongly_is_answered_with_what_can_be_done(told: Told) -> None:
    """Names that nothing is known of, pronouns, dates, ids."""
    told("fact_add", subject="Margarethe Vestergaard", relation="likes", object="tea")
    assert "did you mean Margarethe Vestergaard?" in told("fact_search", entity="Margarethe")
    assert "names nobody" in told("fact_add", subject="she", relation="likes", object="tea")
    assert "is not a date" in told(
        "fact_add", subject="Sam", relation="likes", object="x", since="soonish"
    )
    assert "no fact a99" in told("fact_close", id="a99")
    assert "ids look like a7" in told("fact_close", id="the tea")
    told("archival_insert", content="Tea is in the left cupboard.")
    assert "archival_delete" in told("fact_close", id="a2")
    assert told("fact_close", id="a1").startswith("ended: a1 ")
    nothing = told("fact_search", entity="margarethe vestergaard")
    assert "no fact about margarethe vestergaard" in nothing


def test_another_s_word_about_somebody_is_kept_aside(told: Told) -> None:
    """What Mara says of herself stands until a person approves what Joris says."""
    told("fact_add", "Mara", subject="I", relation="drives", object="a Torvo")
    told("fact_add", "Mara", subject="I", relation="lives_in", object="Lisbon")
    claim = told("fact_add", "Joris", subject="Mara", relation="lives_in", object="Porto")
    assert "kept aside as a3" in claim
    assert "a2 Mara lives in Lisbon." in claim
    assert "Lisbon" in told("fact_search", "Joris", entity="Mara", relation="lives_in")


def test_a_search_shows_what_the_question_asks_for(told: Told, clock: FrozenClock) -> None:
    """What is true for one about now; what was, first and marked, for one about before; what was
    then for one about a time. A message whose fact is over comes after the one that told the new.
    """
    agent = told.agent
    told("fact_add", subject="Sam", relation="lives_in", object="Lisbon", since="2025")
    clock.advance(days=30)
    agent.send("Where did I live, do you know? The place where I live is Lisbon.", speaker="Sam")
    lisbon = told.state.journal.last_seq - 1
    told.state.lineage.add("a1", [f"m{lisbon}"], "merged", seq=lisbon)
    clock.advance(days=30)
    told.doing.calls = [call("fact_add", subject="I", relation="lives_in", object="Porto")]
    agent.send("The boxes are unpacked: Porto it is, where I sleep now.", speaker="Sam")
    sources = [edge.source for edge in told.state.lineage.sources_of("a2")]
    (porto,) = (int(each[1:]) for each in sources if each.startswith("m"))

    def found(question: str, **more: object) -> list[str]:
        result = agent.engine.search("archival", question, SearchFilters(**more), 5)  # type: ignore[arg-type] # few of many
        return [f"{hit.id} {validity_of(hit, UTC)}" for hit in result.hits]

    new = "a2 (since 3 July 2026)"
    old = "a1 (2025 until 3 July 2026; now a2)"
    assert found("Where does Sam live?") == [new]
    assert found("Where did Sam live before?") == [old, new]
    assert found("Where did Sam live in March 2026?") == [old, new]
    assert found("Where does Sam live?", as_of=MAY) == [old]
    assert found("Sam lives", standings=("past",)) == [old]
    assert old.removeprefix("a1 ") in told("archival_search", query="Where did Sam live before?")

    question = "Tell me the place where I live: is it Lisbon?"
    hits = agent.engine.search("recall", question, SearchFilters(), 20).hits
    order = [hit.seq for hit in hits]
    assert order.index(porto) < order.index(lisbon)
    assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)
    plain = agent.engine.search("recall", "Lisbon, before?", SearchFilters(start=MAY), 20).hits
    assert plain[0].text.startswith("Where did I live")


def test_a_definition_names_relations_of_one_value(told: Told) -> None:
    """Beside those that are shipped; a fact whose text says something else is a note."""
    told("fact_add", subject="Sam", relation="coach", object="Ruth")
    assert "ended: a1" in told("fact_add", subject="Sam", relation="coach", object="Idris")
    told("archival_edit", id="a2", content="Sam's coach Idris is from Cork.")
    assert "a2" in told("fact_search", entity="Sam", relation="coach")
    told("archival_edit", id="a2", content="Sam has given up sports.")
    assert "no fact" in told("fact_search", entity="Sam", relation="coach")
    assert told.state.passages.get([2])[2].kind == "note"
