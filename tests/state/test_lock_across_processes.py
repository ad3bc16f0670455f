"""One writer per agent, across processes: the operating system holds the lock."""

from pathlib import Path

import pytest
from kernel_kit import runtime_at, small
from processes import python

from pagemind.runtime.errors import AgentInUse, LostAgent
from pagemind.runtime.state.home import AgentLock
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import ScriptedModel

HOLD = """
    import sys
    from pathlib import Path
    from pagemind.runtime.state.home import AgentLock
    lock = AgentLock(Path(sys.argv[1]), "ada")
    lock.acquire(0)
    print("held", flush=True)
    sys.stdin.readline()
    lock.release()
    print("released", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_goes_with_its_process(tmp_path: Path) -> None:
    """While a process holds it the agent is in use; when it is killed the agent is free."""
    child = python(HOLD, tmp_path)
    assert child.stdout.readline() == "held\n"
    lock = AgentLock(tmp_path, "ada")
    assert lock.held()
    with pytest.raises(AgentInUse) as refused:
        lock.acquire(0)
    assert refused.value.exit_code == 75
    assert refused.value.retryable
    child.kill()
    child.communicate()
    lock.acquire(5)
    lock.release()


def test_waiting_gets_the_lock_when_it_is_released(tmp_path: Path) -> None:
    """acquire(wait) returns as soon as the other one lets go."""
    child = python(HOLD, tmp_path)
    assert child.stdout.readline() == "held\n"
    child.stdin.write("\n")
    child.stdin.flush()
    lock = AgentLock(tmp_path, "ada")
    lock.acquire(20)
    assert child.stdout.readline() == "released\n"
    lock.release()
    child.communicate("\n")


def test_an_agent_held_elsewhere_can_be_read_and_left_things(tmp_path: Path) -> None:
    """Readers need no lock; observations wait in the inbox."""
    with runtime_at(tmp_path) as runtime:
        runtime.create("ada", small())
        child = python(HOLD, runtime.path("ada"))
        assert child.stdout.readline() == "held\n"
        with pytest.raises(AgentInUse):
            runtime.agent("ada", model=ScriptedModel())
        assert runtime.info("ada").in_use
        runtime.leave("ada", "observe", {"text": "It rains.", "source": "sky", "speaker": ""})
        child.kill()
        child.communicate()
        agent = runtime.agent("ada", model=ScriptedModel(), wait=5)
        assert [m.text for m in agent.state.journal.newest(5)] == ["It rains."]


def test_a_suspended_process_cannot_write_after_it_lost_the_agent(tmp_path: Path) -> None:
    """Where locks fail (a network file system), the epoch still keeps the old writer out."""
    with runtime_at(tmp_path) as runtime:
        agent = runtime.agent("ada", small(), model=ScriptedModel(["Hello."]))
        agent.send("Hello")
        child = python(
            """
            import sys
            from pathlib import Path
            from pagemind.runtime.clock import SystemClock
            from pagemind.runtime.state.state import State
            state = State(Path(sys.argv[1]), SystemClock())
            state.database.take()
            state.close()
            """,
            runtime.path("ada"),
        )
        assert child.wait(30) == 0
        with pytest.raises(LostAgent):
            agent.send("Are you there?")
        reader = State(runtime.path("ada"), runtime.clock, read_only=True)
        assert reader.journal.last_seq == 2
        reader.close()
