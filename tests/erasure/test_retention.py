"""What is older than `keep` goes, by the path of every erasure."""

from pathlib import Path

import pytest
from erasure_kit import Life, scan
from laws import holds

from pagemind.runtime.erasure.closure import plan_of
from pagemind.runtime.erasure.retention import outdated
from pagemind.runtime.erasure.scrub import scrub
from pagemind.runtime.errors import UserError
from pagemind.runtime.state.state import State

_DAY = 86_400


@pytest.fixture
def life(tmp_path: Path) -> Life:
    """With something of 100 days ago, and something of today."""
    made = Life(tmp_path, 3, window=16_000)
    with made.runtime() as runtime:
        agent = made.agent(runtime)
        agent.send("core the word ROBIN0001", speaker="Robin")
        agent.send("note the word DANA0002", speaker="Dana")
        agent.insert("Always keep ROBIN0003.", tags=["evergreen"])
        agent.insert("An old paper about DANA0004.")
        agent.flush()
        made.clock.advance(seconds=100 * _DAY)
        agent.send("note the word ROBIN0005", speaker="Robin")
    return made


def test_what_is_older_goes_and_what_is_evergreen_stays(life: Life) -> None:
    """Messages and records by their own age; core memory holds what it holds today."""
    state = State(life.folder, life.clock)
    assert outdated(state, None) is None
    assert outdated(state, "200d") is None
    due = outdated(state, "90d")
    assert due is not None
    scrub(state, plan_of(state, due))
    assert outdated(state, "90d") is None
    state.close()
    left = scan(life.folder)
    assert "DANA" not in str(left)
    assert "ROBIN0003" in left["passages.text"]
    assert "ROBIN0001" in left["blocks.value"]
    assert "ROBIN0001" not in left["messages.content"]
    assert "ROBIN0005" in left["messages.content"]
    with life.runtime() as runtime:
        agent = life.agent(runtime)
        holds(agent)
        agent.send("talk ROBIN0006", speaker="Robin")


def test_a_person_may_say_that_the_evergreen_goes_too(life: Life) -> None:
    """It is asked for by name."""
    state = State(life.folder, life.clock)
    due = outdated(state, "90d", evergreen=True)
    assert due is not None
    scrub(state, plan_of(state, due))
    state.close()
    assert "ROBIN0003" not in str(scan(life.folder))


def test_it_is_due_a_while_after_its_time(life: Life) -> None:
    """An agent is not cleaned anew for every message that gets old."""
    state = State(life.folder, life.clock)
    assert outdated(state, "99.5 days") is None
    assert outdated(state, "98 days") is not None
    with pytest.raises(UserError, match="no time to keep"):
        outdated(state, "for a while")
    state.close()
