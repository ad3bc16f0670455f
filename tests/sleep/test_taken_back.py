"""The life of a memory and the time machine: what the worker did on turns that were taken back is
not seen, nor made, and goes on where the line is brought back."""

from collections.abc import Iterator
from typing import Any

import pytest

from pagemind.runtime.agent import Agent
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.episodes import catch_up
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import Provenance
from pagemind.runtime.sleep import lift
from pagemind.runtime.sleep.job import Report
from pagemind.runtime.testing import ScriptedModel, call, temporary_runtime


@pytest.fixture
def agent() -> Iterator[Agent]:
    """One that has nothing but what a test gives it."""
    with temporary_runtime() as runtime:
        definition = parse_definition("name: ada\nembedding: hashing\ntools: []\n")
        yield runtime.agent("ada", definition=definition, model=ScriptedModel(after="Yes."))


def note(agent: Agent, text: str, *sources: str) -> int:
    state = agent.state
    passage, _ = state.passages.insert(
        text,
        tags=(),
        importance=None,
        metadata={},
        seq=state.journal.last_seq,
        provenance=Provenance("model", trust=80, sources=sources),
        author="worker",
    )
    return passage.number


def planned(agent: Agent, text: str, state: Any = "candidate", op: Any = "") -> int:
    changes, seq = agent.state.changes, agent.state.journal.last_seq
    return changes.add("extract", op, {"text": text}, state=state, seq=seq, trust=80).number


def open_texts(agent: Agent) -> list[tuple[str, str]]:
    found = agent.state.changes.in_state("candidate", "planned", "pending")
    return [(each.state, each.body["text"]) for each in found]


def test_what_was_planned_on_turns_that_were_taken_back_waits_for_them(agent: Agent) -> None:
    """It is neither seen nor open; brought back it is again."""
    agent.send("One.")
    planned(agent, "one")
    agent.send("Two.")
    number = planned(agent, "two")
    agent.undo()
    assert open_texts(agent) == [("candidate", "one")]
    assert agent.state.changes.open(number) is None
    assert agent.state.changes.counts() == {"candidate": 1}
    agent.bring_back()
    assert open_texts(agent) == [("candidate", "one"), ("candidate", "two")]


def test_what_was_made_of_an_earlier_turn_is_open_again(agent: Agent) -> None:
    """A candidate of turn one that was settled during turn two: with turn two taken back its record
    is gone, so the candidate must be there anew; with turn two brought back it is settled."""
    agent.send("One.")
    one, asked = planned(agent, "one"), planned(agent, "asked", "pending", "add")
    agent.send("Two.")
    for number, text in ((one, "one"), (asked, "asked")):
        result = f"a{note(agent, text)}"
        agent.state.changes.plan(number, "add")
        agent.state.changes.settle(number, "applied", by="worker", result=result)
    assert open_texts(agent) == []
    agent.undo()
    assert agent.state.passages.count() == 0
    assert open_texts(agent) == [("candidate", "one"), ("pending", "asked")]
    agent.send("Other.")
    agent.undo()  # once is enough
    assert open_texts(agent) == [("candidate", "one"), ("pending", "asked")]
    agent.bring_back(1)
    assert open_texts(agent) == []
    assert agent.state.passages.count() == 2
    agent.rewind(0)
    assert open_texts(agent) == []
    assert not [f for f in check_state(agent.state) if f.status == "wrong"]


def test_a_dead_one_is_tried_again_on_the_line_where_it_had_not_failed(agent: Agent) -> None:
    """And stands once in the list of what could not be made."""
    agent.send("One.")
    number = planned(agent, "one")
    agent.send("Two.")
    assert agent.state.changes.failed(number, "no luck", most=1) == "dead"
    agent.undo()
    assert open_texts(agent) == [("candidate", "one")]
    assert agent.state.changes.in_state("dead") == []
    agent.bring_back()
    assert open_texts(agent) == []
    assert len(agent.state.changes.in_state("dead")) == 1


def test_a_job_knows_where_it_was_on_each_line(agent: Agent) -> None:
    """Taken back, a turn is unread; brought back, it was read: nothing twice, nothing skipped."""
    at = agent._between.sleep._context(Report())
    assert at.cursor("job") is None
    agent.send("One.")
    at.set_cursor("job", {"turn": 1})
    agent.send("Two.")
    at.set_cursor("job", {"turn": 2})
    agent.undo()
    assert at.cursor("job") == {"turn": 1}
    agent.send("Other.")
    at.set_cursor("job", {"turn": 3})
    assert at.cursor("job") == {"turn": 3}
    agent.bring_back()
    assert at.cursor("job") == {"turn": 2}
    agent.rewind(0)
    assert at.cursor("job") is None
    for turn in range(100):
        agent.observe(f"{turn}", source="clock")
        at.set_cursor("job", turn)
    assert len(at.state.database.meta("sleep")) < 2000
    assert at.cursor("job") == 99


def test_a_link_is_as_old_as_it_is(agent: Agent) -> None:
    """Making it again does not make it younger, so that taking that back leaves it; on a line where
    it was never made it can be made, which the other line does not know."""
    agent.send("One.")
    one, two, three = (note(agent, text) for text in ("a", "b", "c"))
    links = agent.state.links
    assert links.add(one, two, author="worker", seq=agent.state.journal.last_seq)
    agent.send("Two.")
    assert not links.add(two, one, author="user", seq=agent.state.journal.last_seq)
    links.add(one, three, author="worker", seq=agent.state.journal.last_seq)
    agent.undo()
    assert [link.other(one) for link in links.of([one])[one]] == [two]
    agent.send("Other.")
    assert links.add(one, three, author="worker", seq=agent.state.journal.last_seq)
    agent.bring_back()
    assert sorted(link.other(one) for link in links.of([one])[one]) == [two, three]


def test_a_name_that_was_taken_back_leads_nowhere(agent: Agent) -> None:
    """ "Sam is called Bob", taken back, does not make facts about Bob facts about Sam."""
    entities = agent.state.entities
    agent.send("One.")
    sam = entities.make("Sam", "sam", seq=agent.state.journal.last_seq)
    agent.send("Two.")
    entities.also(sam, "Bob", "bob", how="said", seq=agent.state.journal.last_seq)
    assert entities.find("bob") == sam
    agent.undo()
    assert entities.find("bob") is None
    assert entities.get([sam])[sam].names == ("Sam",)
    agent.send("Other.")
    bob = entities.make("Bob", "bob", seq=agent.state.journal.last_seq)
    assert entities.find("bob") == bob != sam
    agent.bring_back()
    assert entities.find("bob") == sam
    assert dict(entities.keys()) == {"sam": sam, "bob": sam}


def test_a_turn_that_was_brought_back_gets_its_episode() -> None:
    """Also where the worker came by while it was taken back."""
    script = [call("archival_insert", content="Noted."), "Yes."]
    definition = parse_definition("name: ada\nembedding: hashing\ntools: [archival_insert]\n")
    with temporary_runtime() as runtime:
        model = ScriptedModel(script, after="Yes.")
        agent = runtime.agent("ada", definition=definition, model=model)
        agent.send("Note that.")
        agent.undo()
        agent.send("Other.")
        catch_up(agent.state)
        assert agent.state.passages.newest(9, kind="episode") == []
        agent.bring_back(1)
        catch_up(agent.state)
        assert len(agent.state.passages.newest(9, kind="episode")) == 1


def test_what_a_segment_gave_since_may_be_looked_for_again(agent: Agent) -> None:
    """Its facts are gone with the turn in which it was promoted."""
    segments = agent.state.segments
    agent.send("One.")
    number = segments.make(1, "boats", ["boat"], trust=80, seq=agent.state.journal.last_seq).number
    agent.send("Two.")
    segments.promoted(number)
    assert segments.get([number])[number].promoted_length == 1
    agent.undo()
    assert segments.get([number])[number].promoted_length == 0


def test_a_block_does_not_wait_for_a_change_that_went_with_its_turn(agent: Agent) -> None:
    """It waits for no person any more, who could not see it either."""
    agent.send("One.")
    agent.send("Two.")
    state = agent.state
    state.changes.add(
        "lift",
        "block",
        {"before": "", "after": "Sam sails."},
        state="pending",
        seq=state.journal.last_seq,
        target="human",
        trust=80,
    )
    context = agent._between.sleep._context(Report())
    assert lift._block(context) is None
    agent.undo()
    assert lift._block(context) is not None
