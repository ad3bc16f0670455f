"""Listing a home never fails for the sake of one agent."""

from pathlib import Path

from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import FrozenClock


def test_a_damaged_agent_is_listed_with_its_problem(tmp_path: Path) -> None:
    """The others are listed as ever, and the damaged one says what is wrong."""
    with Runtime(tmp_path, clock=FrozenClock()) as runtime:
        runtime.create("sound", "assistant")
        damaged = runtime.create("damaged", "assistant")
        database = runtime.home.folder(damaged.id) / "state.db"
        for side in database.parent.glob("state.db-*"):
            side.unlink()
        database.write_bytes(b"not a database at all " * 400)
        listed = {each.name: each for each in runtime.agents()}
    assert listed["sound"].problem == ""
    assert "state.db" in listed["damaged"].problem
    assert listed["damaged"].as_json()["messages"] == 0
