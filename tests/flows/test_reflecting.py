"""An agent that sleeps: what it concludes from its days, and how that goes when a day is undone."""

import json

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.testing import FrozenClock, ScriptedModel, temporary_runtime

ADA = """
name: ada
system: You are a test agent.
embedding: hashing
context_window: 2048
output_reserve: 128
blocks: {human: {value: "", limit: 400}}
tools: [archival_insert, archival_search]
sleep: {when: idle, extract: false, promote: false, reflect: {importance: 20}}
"""
INSIGHT = "Sam plans everything around the boat."


def answer(request: ModelRequest) -> str:
    """The worker's model; the agent's own only listens."""
    text = request.messages[-1].text
    if request.purpose != "background":
        return "Noted."
    if '"questions"' in text:
        return json.dumps({"questions": ["What does Sam plan with the boat?"]})
    if '"insights"' in text:
        return json.dumps({"insights": [{"text": INSIGHT, "evidence": [1, 2], "importance": 7}]})
    return "{}"


def test_an_insight_comes_and_goes_with_the_days_that_it_rests_on() -> None:
    """It is found with its evidence in its lineage; the days undone, it is not there any more."""
    clock = FrozenClock()
    with temporary_runtime(clock) as runtime:
        model = ScriptedModel(answer)
        agent = runtime.agent("ada", definition=parse_definition(ADA), model=model)
        filler = " ".join(f"word{n}" for n in range(60))
        for n in range(8):
            agent.send(f"I promise that my boat sails on day {n}. {filler}", speaker="Sam")
            clock.advance(minutes=2)
        report = agent.sleep()
        assert report.done["insights"] == 1
        assert report.done["segments"] >= 1
        assert report.calls == 2
        (insight,) = agent.state.passages.newest(10, kind="insight")
        edges = agent.state.lineage.sources_of(insight.short_id)
        assert {edge.how for edge in edges} == {"evidence"}
        assert {edge.source[0] for edge in edges} == {"m"}
        assert agent.sleep().done == {}
        agent.undo(8)
        agent.sleep()
        assert agent.state.passages.newest(10, kind="insight") == []
