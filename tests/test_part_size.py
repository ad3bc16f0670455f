"""What is read in parts is read whole, whatever happens to the room between two parts."""

import re
from pathlib import Path

import pytest
from kernel_kit import agent_at, small

from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.part_size import PartSize, must_be_cut_alike
from pagemind.runtime.testing import ScriptedModel, call

BOOK = "A book: " + " ".join(f"word{number}" for number in range(480))
PART = re.compile(r"^\[m1 part (\d+) of (\d+)\]\n(.*)", re.DOTALL)
READER = small(4096, "page_in", "core_append", limit=4000)


def read_through(directory: Path, grows_by: int) -> str:
    """The book as an agent reads it whose core memory grows before each part; it begins again
    where it is told to."""
    parts: dict[int, str] = {}
    refused = 0

    def reads(request: ModelRequest) -> object:
        nonlocal refused
        results = [m.text for m in request.messages if m.role == "tool" and m.name == "page_in"]
        said = results[-1] if results else ""
        if match := PART.match(said):
            parts[int(match[1])] = match[3]
            if match[1] == match[2]:
                return "Read."
        elif "begin again" in said:
            parts.clear()
            refused += 1
        following = call("page_in", id="m1", part=len(parts) + 1)
        if refused or not parts:
            return [following]
        return [call("core_append", block="human", content="x" * grows_by), following]

    with agent_at(directory, ScriptedModel(reads), READER) as agent:  # type: ignore[arg-type]  # calls and texts alike
        assert agent.send(BOOK).text == "Read."
    return " ".join(" ".join(parts.values()).split())


@pytest.mark.parametrize("grows_by", [80, 3900])
def test_core_memory_that_grows_between_two_parts_leaves_no_gap(
    tmp_path: Path, grows_by: int
) -> None:
    """A little, and the parts stay as they were; much, and the model is told to begin again."""
    assert read_through(tmp_path, grows_by) == BOOK


def test_the_size_follows_the_room_in_leaps(tmp_path: Path) -> None:
    """It outlives the process, and whoever reads on over a leap is told."""
    with agent_at(tmp_path, ScriptedModel([]), READER) as agent:
        room = [4000]
        size = PartSize(agent.state, lambda: room[0])
        first = size()
        room[0] = 3600
        assert size() == PartSize(agent.state, lambda: room[0])() == first
        room[0] = 2000
        assert size() < first
        must_be_cut_alike(agent.state, "m1", 2, size(), 9)


def test_a_first_part_may_always_be_read(tmp_path: Path) -> None:
    """Also at another size than before; the second then follows it, and not the older first."""
    model = ScriptedModel([call("page_in", id="m1", part=1), "Read."])
    with agent_at(tmp_path, model, READER) as agent:
        agent.send(BOOK)
        state = agent.state
        reading = state.journal.newest_reading("m1")
        assert reading is not None
        must_be_cut_alike(state, "m1", 1, 1, 99)
        must_be_cut_alike(state, "m1", 2, reading["tokens"], 9)
        with pytest.raises(ToolFailed, match="begin again with part 1"):
            must_be_cut_alike(state, "m1", 2, reading["tokens"] - 1, 9)
