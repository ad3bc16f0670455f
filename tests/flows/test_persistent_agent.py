"""An agent outlives its process: what it saw, knew and was asked is there when it is opened."""

from datetime import timedelta
from pathlib import Path

import pytest
from kernel_kit import agent_at, everything, last_asked, runtime_at, sentence, small

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import AgentInUse, UnknownAgent
from pagemind.runtime.testing import ScriptedModel, call


def test_the_next_request_continues_the_last(tmp_path: Path) -> None:
    """After a restart the prompt is that of before plus what was said since, to the letter."""
    first = ScriptedModel(after="I see.")
    with agent_at(tmp_path, first) as agent:
        for number in range(40):
            agent.send(sentence(number), speaker="Sam")
        agent.send("And now?", speaker="Sam")
        before = last_asked(first)
        epoch = agent.state.history.epoch()
    second = ScriptedModel(after="I still see.")
    with agent_at(tmp_path, second) as agent:
        assert agent.state.history.epoch() == epoch
        agent.send("Still there?", speaker="Sam")
    after = last_asked(second)
    assert after.system == before.system
    assert after.tools == before.tools
    shown = [(m.role, m.text) for m in before.messages]
    assert [(m.role, m.text) for m in after.messages][: len(shown)] == shown
    assert [m.text for m in after.messages][len(shown) :] == ["I see.", "Sam: Still there?"]


def test_core_memory_and_passages_stay(tmp_path: Path) -> None:
    """What the agent wrote down is in its head and its archive after a restart."""
    model = ScriptedModel(
        [
            [
                call("core_append", block="human", content="Name: Sam"),
                call("archival_insert", content="The boat is Nomad."),
            ],
            "Noted.",
        ]
    )
    with agent_at(tmp_path, model) as agent:
        agent.send("I am Sam, my boat is Nomad.")
    again = ScriptedModel(["Hello Sam."])
    with agent_at(tmp_path, again) as agent:
        agent.send("Hello")
        assert "Name: Sam" in last_asked(again).system[1]
        assert agent.state.passages.newest(5)[0].text == "The boat is Nomad."


def test_opening_never_rewrites_memory(tmp_path: Path) -> None:
    """A changed definition does not touch the blocks of an agent that exists."""
    model = ScriptedModel([call("core_rewrite", block="human", content="Sam")])
    with agent_at(tmp_path, model, small(2048, "core_rewrite")) as agent:
        agent.send("I am Sam.")
    changed = small(2048, "core_rewrite", limit=100)
    with agent_at(tmp_path, ScriptedModel(), changed) as agent:
        (block,) = agent.state.blocks.all()
        assert (block.value, block.limit, block.version) == ("Sam", 400, 2)


def test_a_long_pause_starts_a_new_conversation(tmp_path: Path) -> None:
    """Coming back after hours is a new conversation; within minutes it is not."""
    clock = FrozenClock()
    with agent_at(tmp_path, ScriptedModel(), clock=clock) as agent:
        first = agent.send("Good morning.")
        clock.advance(minutes=5)
        same = agent.send("Still here.")
    clock.advance(hours=9)
    model = ScriptedModel()
    with agent_at(tmp_path, model, clock=clock) as agent:
        later = agent.send("Good evening.")
        assert agent.new_conversation() == later.conversation + 1
        asked = agent.send("Another thing.")
    assert first.conversation == same.conversation == 1
    assert later.conversation == 2
    assert asked.conversation == 3
    # The time stands on the message after the pause, in the agent's own zone.
    stamp = (clock.now() + timedelta(0)).strftime("%a %Y-%m-%d %H:%M")
    assert f"[{stamp}] Good evening." in [m.text for m in model.requests[0].messages]


def test_time_may_go_backwards(tmp_path: Path) -> None:
    """A clock that was set back neither breaks the order nor starts a conversation."""
    clock = FrozenClock()
    with agent_at(tmp_path, ScriptedModel(), clock=clock) as agent:
        first = agent.send("One.")
        clock.advance(hours=-30)
        second = agent.send("Two.")
        assert [m.seq for m in everything(agent)] == [1, 2, 3, 4]
    assert first.conversation == second.conversation


def test_one_process_object_for_each_agent(tmp_path: Path) -> None:
    """Asking for an open agent gives the same object, whatever the case of its name."""
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("Ada", definition=small(), model=ScriptedModel())
        assert runtime.agent("ADA", model=ScriptedModel()) is agent


def test_a_second_runtime_is_told_that_the_agent_is_in_use(tmp_path: Path) -> None:
    """While one runtime holds an agent another gets AgentInUse; afterwards it gets the agent."""
    with runtime_at(tmp_path) as one, runtime_at(tmp_path) as other:
        agent = one.agent("ada", definition=small(), model=ScriptedModel(["Hello."]))
        with pytest.raises(AgentInUse):
            other.agent("ada", model=ScriptedModel())
        agent.send("Hello")
        agent.close()
        agent.close()
        assert other.agent("ada", model=ScriptedModel(["Again."])).send("Hi").text == "Again."


def test_many_threads_may_ask_for_an_agent_at_once(tmp_path: Path) -> None:
    """Threads that open an agent at the same moment all get the one agent."""
    from concurrent.futures import ThreadPoolExecutor

    with runtime_at(tmp_path) as runtime:
        runtime.create("ada", small())
        model = ScriptedModel(after="Yes.")
        with ThreadPoolExecutor(8) as pool:
            agents = list(pool.map(lambda _: runtime.agent("ada", model=model), range(8)))
            assert len(set(map(id, agents))) == 1
            results = list(pool.map(lambda n: agents[0].send(f"Number {n}"), range(8)))
        assert sorted(r.turn for r in results) == list(range(1, 9))
        messages = everything(agents[0])
        # One turn after another: each question is followed by its own answer.
        assert [m.role for m in messages] == ["user", "assistant"] * 8
        assert [m.turn for m in messages] == [n for n in range(1, 9) for _ in range(2)]


def test_a_deleted_agent_is_gone(tmp_path: Path) -> None:
    """Deleting removes the folder and the name; an open agent is not deleted."""
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", definition=small(), model=ScriptedModel(["Hello."]))
        agent.send("Hello")
        folder = runtime.path("ada")
        with pytest.raises(AgentInUse):
            runtime.delete("ada")
        agent.close()
        assert runtime.delete("ada").messages == 2
        assert not folder.exists()
        with pytest.raises(UnknownAgent):
            runtime.agent("ada", model=ScriptedModel(), create=False)
