"""An agent on a disk that fails, in a process that is interrupted anywhere: it goes on after it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from fuzz_faults import Faults, FaultyConnection
from kernel_kit import agent_at, everything, runtime_at, sentence, small
from laws import holds

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import DiskFull, HomeUnusable, StorageError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.trace import TraceEvent


def put_on_faulty_disk(agent: Agent) -> Faults:
    """The agent's database from now on; nothing is armed yet."""
    faults = Faults(random.Random(1))
    database: Any = agent.state.database
    database._connection = FaultyConnection(database._connection, faults)
    return faults


def arm(faults: Faults, kind: str, left: int = 1) -> None:
    faults.begin(kind)
    faults.left = left


def shown(agent: Agent) -> list[str]:
    context = agent.context
    return [context.summary, context.table, *(e.shown.text for e in context.queue)]


@pytest.mark.parametrize("then", ["send", "observe", "retry", "flush", "again"])
def test_a_disk_that_fills_between_a_call_and_its_result(tmp_path: Path, then: str) -> None:
    """Whatever comes first after space is freed finds the turn closed and the history legal."""
    with agent_at(tmp_path, ScriptedModel([call("ring"), "There.", "Here."])) as agent:
        faults = put_on_faulty_disk(agent)

        def observer(event: TraceEvent) -> None:
            if event.kind == "tool_called":
                arm(faults, "disk full until freed")

        with pytest.raises(DiskFull):
            agent.send("Ring the bell.", id="m-1", observer=observer)
        assert agent.state.turns.unfinished() != []
        faults.begin()
        if then == "send":
            assert agent.send("And now?").text == "There."
        elif then == "observe":
            agent.observe("The bell fell.", source="bell")
        elif then == "retry":
            assert agent.retry().text == "There."
        elif then == "flush":
            agent.flush()
        else:
            assert agent.send("Ring the bell.", id="m-1").text == "There."
        holds(agent)
        assert agent.state.turns.unfinished() == []
        assert [m.text for m in everything(agent)].count("Ring the bell.") == 1


@pytest.mark.parametrize("kind", ["disk read-only", "disk full at a statement", "disk locked"])
def test_what_was_left_in_the_inbox_waits_for_the_disk(tmp_path: Path, kind: str) -> None:
    """An item that cannot be written now is no item that nobody could ever take."""
    with agent_at(tmp_path, ScriptedModel(after="Yes.")) as agent:
        left = {"text": "The tide turned.", "source": "bus", "speaker": "bus"}
        agent.state.leave("observe", json.dumps(left))
        faults = put_on_faulty_disk(agent)
        arm(faults, kind)
        with pytest.raises((StorageError, HomeUnusable)):
            agent.send("Hello.")
        faults.begin()
        agent.send("And now?")
        assert [m.text for m in everything(agent)].count("The tide turned.") == 1
        assert agent.state.inbox() == []


def test_a_read_only_disk_is_not_the_models_business(tmp_path: Path) -> None:
    """As with a full one: no function's result tells of it, and the turn ends with the error."""
    editing = call("core_append", block="human", content="Sam")
    with agent_at(tmp_path, ScriptedModel([editing, "Noted."])) as agent:
        faults = put_on_faulty_disk(agent)

        def observer(event: TraceEvent) -> None:
            if event.kind == "tool_called":
                arm(faults, "disk read-only")

        with pytest.raises(HomeUnusable):
            agent.send("I am Sam.", observer=observer)
        holds(agent)
        assert agent.context.core.get("human").value == ""


def test_ctrl_c_just_after_a_flush_is_committed(tmp_path: Path) -> None:
    """Main context follows what is on disk, and later pages cover nothing twice."""
    model = ScriptedModel(after="Yes.")
    with agent_at(tmp_path, model, small(4096)) as agent:
        for number in range(8):
            agent.send(sentence(number))
        faults = put_on_faulty_disk(agent)

        def observer(event: TraceEvent) -> None:
            if event.kind == "summarised":
                arm(faults, "Ctrl-C after a commit")

        agent.queue_manager.observer = observer
        with pytest.raises(KeyboardInterrupt):
            agent.flush()
        assert agent.state.pages.count() > 0
        before = shown(agent)
        holds(agent)
        agent.flush()
        holds(agent)
    assert before[-1] == "Yes."


def test_an_observer_that_raises_at_once_leaves_no_open_turn(tmp_path: Path) -> None:
    """The first event of a turn may find a broken pipe already."""

    def observer(event: TraceEvent) -> None:
        raise BrokenPipeError

    with agent_at(tmp_path, ScriptedModel(["Yes."])) as agent:
        with pytest.raises(BrokenPipeError):
            agent.send("Hello?", observer=observer)
        assert agent.state.turns.unfinished() == []


def test_an_agent_whose_closing_failed_can_be_opened_again(tmp_path: Path) -> None:
    """It is let go all the same: files closed, lock released."""
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(["Yes."]))
        agent.send("Hello.")
        arm(put_on_faulty_disk(agent), "disk error at reading")
        with pytest.raises(StorageError):
            agent.close()
        again = runtime.agent("ada", model=ScriptedModel(["Still here."]))
        assert again.send("And now?").text == "Still here."


def test_the_note_of_when_it_was_used_is_worth_no_failure(tmp_path: Path) -> None:
    """With the registry on a full disk an agent is opened and closed nevertheless."""
    with runtime_at(tmp_path) as runtime:
        runtime.agent("ada", small(), model=ScriptedModel()).close()
        _fill_registry(runtime)
        agent = runtime.agent("ada", model=ScriptedModel(["Yes."]))
        assert agent.send("Hello?").text == "Yes."
        agent.close()


def _fill_registry(runtime: Runtime) -> None:
    faults = Faults(random.Random(1))
    database: Any = runtime.home.database
    database._connection = FaultyConnection(database._connection, faults)
    arm(faults, "disk full until freed")
