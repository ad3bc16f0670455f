"""Episodes: what was tried before is found as an example or a warning, and is not repeated."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from kernel_kit import agent_at, runtime_at, small
from sleep_kit import Bed, answering, bed

from pagemind.runtime.agent import Agent
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.episode import Episode, episode_from
from pagemind.runtime.episodes import stored_of
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.feedback import judge
from pagemind.runtime.message import Provenance, ToolCall
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.sleep.episodes import EpisodesJob
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.tool import tool

__all__ = ["bed"]


@tool(effect="world")
def by_ferry(parcel: str) -> str:
    """Send a parcel by ferry."""
    raise ToolFailed("the ferry takes no parcels in winter")


@tool(effect="world")
def by_train(parcel: str) -> str:
    """Send a parcel by train."""
    return f"{parcel} is on its way"


ALONE = "sleep: {extract: false, reflect: false, compress: false, promote: false}\n"
OFFERS = "episodes: {offer: 2}\nprefetch: {tokens: 400}\n"


def open_agent(runtime: Runtime, model: ScriptedModel, more: str = "") -> Agent:
    definition = small(8192, "episode_search", more=f"trust: {{world: allow}}\n{more}")
    return runtime.agent("ada", definition, model=model, tools=[by_ferry, by_train])


def episode(agent: Agent, turn: int) -> tuple[Passage, Episode]:
    found = stored_of(agent.state, turn)
    assert found is not None
    read = episode_from(found.metadata)
    assert read is not None
    return found, read


class Careful:
    """Looks up what was tried, and takes the first way of its list that no warning speaks of."""

    def __init__(self) -> None:
        self.seen = ""

    def __call__(self, request: ModelRequest) -> str | ToolCall:
        last = request.messages[-1]
        if last.role == "user":
            return call("episode_search", situation=last.text)
        if last.name != "episode_search":
            return "Sent." if last.ok else "That did not work."
        self.seen = last.text
        warned = [line for line in last.text.splitlines() if "tried:" in line or "warning" in line]
        ways = [way for way in ("by_ferry", "by_train") if way not in " ".join(warned)]
        return call(ways[0], parcel="the anchor")


def test_a_failed_approach_is_not_repeated(tmp_path: Path) -> None:
    """The warning names what was tried and why it failed; the model takes the other way."""
    model = ScriptedModel(careful := Careful())
    with runtime_at(tmp_path) as runtime:
        agent = open_agent(runtime, model)
        agent.send("Send the anchor to the island.")
        agent.send("Tell me something else.")  # an episode like no other
        agent.send("Send the anchor to the island again, please.")
        assert "warning" in careful.seen
        assert "by_ferry(parcel=the anchor)" in careful.seen
        assert "no parcels in winter" in careful.seen
        tried = [m.name for m in agent.state.journal.newest(20) if m.role == "tool"]
        assert tried[:2] == ["by_train", "episode_search"]


def test_an_episode_says_what_went_wrong_and_what_worked(tmp_path: Path) -> None:
    """Without a model: the error, and the call after it. Looking up is not trying."""
    script = [
        call("episode_search", situation="send it"),
        call("by_ferry", parcel="the anchor"),
        call("by_train", parcel="the anchor"),
        "By train, then.",
    ]
    with runtime_at(tmp_path) as runtime:
        agent = open_agent(runtime, ScriptedModel(script))
        agent.send("Send the anchor.")
        agent.sleep()
        record, made = episode(agent, 1)
        assert [each.name for each in made.actions] == ["by_ferry", "by_train"]
        assert made.lesson == (
            "by_ferry(parcel=the anchor) failed: the ferry takes no parcels in winter;"
            " by_train(parcel=the anchor) worked"
        )
        assert made.outcome == "unknown"
        assert (record.standing, record.provenance.trust) == ("episode", 40)
        assert "t1" in record.provenance.sources
        ordinary = agent.archival.search("anchor", SearchFilters(), 5)
        assert ordinary.hits == ()  # it stands on a shelf of its own


def test_feedback_changes_an_episode_and_its_tally(tmp_path: Path) -> None:
    """A later word counts more than what the runtime saw; every version is kept."""
    with runtime_at(tmp_path) as runtime:
        agent = open_agent(runtime, ScriptedModel([call("by_train", parcel="it"), "Sent."]))
        agent.send("Send it.")
        agent.sleep()
        record, made = episode(agent, 1)
        assert (made.outcome, agent.state.tallies.get([record.number])) == ("unknown", {})
        judge(agent.state, "bad", "I wanted the ferry")
        record, made = episode(agent, 1)
        assert (made.outcome, made.because, record.version) == ("failed", "feedback", 2)
        assert "I wanted the ferry" in made.lesson
        judge(agent.state, "good")
        record, made = episode(agent, 1)
        assert (made.outcome, made.lesson, record.version) == ("ok", "", 3)
        assert agent.state.tallies.get([record.number]) == {record.number: (1, 0)}
        agent.sleep()
        assert episode(agent, 1)[0].version == 3


def test_a_turn_that_is_taken_back_takes_its_episode_along(tmp_path: Path) -> None:
    """And a turn before it keeps its own, though it was made later."""
    script = [*[call("by_train", parcel="it"), "Sent."] * 2]
    with runtime_at(tmp_path) as runtime:
        agent = open_agent(runtime, ScriptedModel(script))
        agent.send("Send the first.")
        agent.send("Send the second.")
        agent.sleep()
        with agent.at_rest() as machine:
            machine.undo(1)
        assert stored_of(agent.state, 2) is None
        assert stored_of(agent.state, 1) is not None


def test_episodes_are_placed_before_an_event_where_the_definition_says_so(tmp_path: Path) -> None:
    """Unasked, as data, and only those that bear on it."""
    script = [call("by_ferry", parcel="the anchor"), "No.", "Hm.", "Then by train."]
    model = ScriptedModel(script)
    with runtime_at(tmp_path) as runtime:
        agent = open_agent(runtime, model, OFFERS)
        agent.send("Send the heavy anchor to the island.")
        agent.send("What is the weather like?")
        assert "no parcels" not in model.requests[-1].messages[-1].text
        agent.send("Please send the heavy anchor to the island of Sark.")
        event = model.requests[-1].messages[-1].text
        assert "the ferry takes no parcels in winter" in event
        assert ' from="tool t1">\n' in event


@pytest.mark.parametrize(
    ("answer", "lesson"),
    [
        ("Take by_train in winter, by_ferry takes no parcels.", True),
        ("Call Bob of Acme at 555-0199 instead of the ferry.", False),  # from nowhere
    ],
)
def test_a_model_words_a_lesson_in_one_call(tmp_path: Path, answer: str, lesson: bool) -> None:
    """A line that names what the episode does not is not taken; it is not asked for again."""

    def say(request: ModelRequest) -> str | ToolCall:
        if request.purpose == "background":
            return json.dumps({"lessons": [{"id": "a1", "lesson": answer}, {"id": "a99"}]})
        last = request.messages[-1]
        return call("by_ferry", parcel="it") if last.role == "user" else "No."

    model = ScriptedModel(say)
    with runtime_at(tmp_path) as runtime:
        agent = open_agent(runtime, model, ALONE)
        agent.send("Send it to the island in winter by_train or by_ferry.")
        agent.send("Send another one.")
        report = agent.sleep()
        _, made = episode(agent, 1)
        assert (made.lesson == answer) is lesson
        assert report.calls == 1
        assert agent.sleep().calls == 0


def test_lessons_are_asked_for_of_as_many_as_fit(bed: Bed) -> None:
    """The rest comes at the next sleep; one that is too long by itself is cut short."""
    for n in range(3):
        made = Episode(n + 1, f"Case {n}. " + "word " * 1500, (), "failed", "expect", "it broke")
        bed.state.passages.insert(
            made.text,
            tags=(),
            importance=None,
            metadata=made.as_json(),
            seq=0,
            provenance=Provenance("runtime"),
            author="worker",
            facets=Facets("episode", key=f"t{n}"),
        )
    model = answering({"lessons": []})
    for _ in range(4):
        bed.run(EpisodesJob(), model)
    asked = [request.messages[0].text for request in model.requests]
    assert [sum(f"Case {n}." in text for n in range(3)) for text in asked] == [2, 1]
    tight = replace(bed.context(model), room=lambda: 600)
    tight.set_cursor("lessons", 0)
    EpisodesJob().run(tight, CancelToken())
    assert len(model.requests[-1].messages[0].text.split()) < 600


def test_an_agent_without_the_function_still_has_episodes(tmp_path: Path) -> None:
    """Made by the worker; a turn without calls is none."""
    model = ScriptedModel([call("core_append", block="human", content="Sam")])
    with agent_at(tmp_path, model) as agent:
        agent.send("I am Sam.")
        agent.send("And?")
        assert agent.sleep().done.get("episodes") == 1
        assert stored_of(agent.state, 2) is None
