"""`semantic: profile` and `both`: what is found sets fields of profiles."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sleep_kit import Bed, answering, bed
from write_kit import fact

from pagemind.runtime.agent import Agent
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.core_editor import CoreEditor
from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.definition import parse_definition
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.profile import Profile
from pagemind.runtime.reviewing import Reviewing
from pagemind.runtime.sleep.profiles import Profiles
from pagemind.runtime.testing import ScriptedModel, temporary_runtime

__all__ = ["bed"]

YAML = """
name: keeper
context_window: 8192
tools: [core]
semantic: {semantic}
sleep: {{when: idle, review: {review}, reflect: false}}
blocks:
  human:
    profile:
      additionalProperties: false
      properties:
        name: {{type: string}}
        home: {{type: string}}
        pets: {{type: array, items: {{type: string}}}}
        age: {{type: integer}}
"""
HOME = fact("I live in Porto", "Sam lives in Porto.", "Sam", "lives_in", "Porto")
REX = fact("my dog is called Rex", "Sam's dog is called Rex.", "Sam", "pet", "Rex")
JACK = fact("My friend Jack lives in Faro", "Jack lives in Faro.", "Jack", "lives_in", "Faro")


@contextmanager
def tended(changes: Any, semantic: str, review: str = "auto") -> Iterator[Agent]:
    """An agent that was told three facts, after one sleep."""

    def answer(request: ModelRequest) -> str:
        prompt = request.messages[-1].text
        if request.purpose != "background":
            return "Noted."
        if '"changes"' in prompt:
            return json.dumps({"changes": changes})
        return json.dumps({"facts": [HOME, REX, JACK]})

    definition = parse_definition(YAML.format(semantic=semantic, review=review))
    with temporary_runtime() as runtime:
        agent = runtime.agent("ada", definition, model=ScriptedModel(answer))
        text = "I live in Porto and my dog is called Rex. My friend Jack lives in Faro."
        agent.send(text, speaker="Sam")
        agent.sleep()
        yield agent


def records(agent: Agent) -> list[str]:
    return [each.text for each in agent.state.passages.newest(9)]


def value(agent: Agent) -> Any:
    return json.loads(agent.context.core.get("human").value or "{}")


def change(fact: int, path: str, value: Any, block: str = "human") -> dict[str, Any]:
    return {"fact": fact, "block": block, "path": path, "value": value}


SET = [change(1, "home", "Porto"), change(2, "pets[-]", "Rex")]


def test_facts_about_the_person_set_fields() -> None:
    """As one version with its sources; what is about others sets none."""
    wrong = [change(3, "home", "Faro"), change(1, "name", "Samuel"), change(1, "home", "Faro")]
    more = [change(1, "age", 44), change(1, "shoe", "Porto"), change(9, "home", "Porto")]
    with tended([*SET, *wrong, *more, change(1, "home", None)], "profile") as agent:
        assert value(agent) == {"home": "Porto", "pets": ["Rex"]}
        assert records(agent) == []
        sources = agent.state.lineage.sources_of("block:human")
        assert [(edge.source, edge.version) for edge in sources] == [("m1", 2)]


def test_a_list_is_not_given_again_what_it_has() -> None:
    """However often it is told."""
    with tended([*SET, change(2, "pets[-]", "Rex"), change(2, "/pets/-", "Rex")], "both") as agent:
        assert value(agent) == {"home": "Porto", "pets": ["Rex"]}


def test_both_keeps_records_as_well() -> None:
    """Each fact is a record, and a field where there is one."""
    with tended(SET, "both") as agent:
        assert value(agent) == {"home": "Porto", "pets": ["Rex"]}
        assert len(records(agent)) == 3


def test_a_profile_is_left_where_nothing_holds() -> None:
    """Empty values and paths are none; an answer that is none ends as dead, not lost."""
    with tended([change(1, "home", ""), change(1, "", "Porto")], "both") as agent:
        assert value(agent) == {}
        assert len(records(agent)) == 3
    with tended("nothing at all", "profile") as agent:
        assert value(agent) == {}
        assert len(agent.state.changes.in_state("dead")) == 2  # Jack's is for no profile
    with tended("nothing at all", "both") as agent:
        assert value(agent) == {}
        assert len(records(agent)) == 3


def test_with_review_the_fields_wait_for_a_person() -> None:
    """One change for the profile, which is approved, and undone, as a whole."""
    with tended(SET, "profile", review="ask") as agent:
        assert value(agent) == {}
        (waiting,) = agent.state.changes.in_state("pending")
        assert waiting.sources == ("m1",)
        person = CoreEditor(agent.state, agent.context.core, author="user", origin="user")
        reviewing = Reviewing(agent.state, lambda: person)
        reviewing.approve(waiting.short_id)
        assert value(agent) == {"home": "Porto", "pets": ["Rex"]}
        assert [e.source for e in agent.state.lineage.sources_of("block:human")] == ["m1"]
        reviewing.undo(waiting.short_id)
        assert value(agent) == {}


def test_so_many_facts_are_asked_about_as_fit(bed: Bed) -> None:
    """The others follow at once; none is lost because they were too many."""
    schema = {"properties": {"likes": {"type": "array", "items": {"type": "string"}}}}
    bed.state.blocks.save(
        Block("human", "", 2000), author="user", reason="made", seq=0, origin="user", trust=None
    )
    for n in range(9):
        body = {"text": f"Sam likes song {n}. " + "So he says. " * 20, "subject": "Sam"}
        bed.state.changes.add(
            "extract", "", {**body, "speaker": "Sam"}, state="candidate", seq=0, trust=80
        )
    model = answering(lambda request: {"changes": []})
    profiles = {"human": Profile("human", schema)}
    held = CoreMemory(bed.state.blocks.all(), profiles=profiles)
    core = CoreEditor(bed.state, held, author="worker")
    context = replace(
        bed.context(model),
        semantic="profile",
        profiles=profiles,
        core=lambda trust: core,
        room=lambda: 900,
    )
    Profiles().run(context, CancelToken())
    asked = [request.messages[0].text for request in model.requests]
    assert all(len(text.split()) <= 600 for text in asked)
    assert [sum(f"song {n}." in text for text in asked) for n in range(9)] == [1] * 9
