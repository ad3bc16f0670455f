"""`inspect` as values: what would be evicted next, where the summary and the memories are from."""

from pathlib import Path

import pytest
from kernel_kit import agent_at, runtime_at, sentence, small

from pagemind.runtime.inspection import Inspection, page_marks
from pagemind.runtime.testing import ScriptedModel, call


def looked_at(home: Path) -> Inspection:
    with runtime_at(home) as runtime, runtime.reader("ada") as reader:
        return reader.inspect()


@pytest.mark.parametrize("turns", [3, 9, 14, 21, 30])
def test_what_would_be_evicted_next_is_what_a_flush_takes(tmp_path: Path, turns: int) -> None:
    """To the message; groups of calls stay whole, and looking changes nothing."""
    script = [call("core_append", block="human", content="Sam."), "Noted."] * 40
    with agent_at(tmp_path, ScriptedModel(script, after="I see.")) as agent:
        for number in range(turns):
            agent.send(sentence(number))
    before = looked_at(tmp_path)
    assert looked_at(tmp_path) == before
    with agent_at(tmp_path, ScriptedModel(after="They spoke.")) as agent:
        shown = [entry.seq for entry in agent.context.queue]
        agent.queue_manager.flush(None)
        epoch = agent.state.history.epoch()
    assert epoch is not None
    gone = [m.seq for group in before.evicted for m in group.messages]
    assert gone == [seq for seq in shown if seq < epoch.queue_start]
    assert (before.freed > 0) == bool(gone)
    assert before.freed <= before.pressure.sections["queue"]


def test_where_the_summary_came_from_is_told(tmp_path: Path) -> None:
    """Its rung of the ladder, its author, and the last message it covers."""
    with agent_at(tmp_path, ScriptedModel(after="They spoke of items.")) as agent:
        agent.send(sentence(1))
        assert looked_at(tmp_path).as_json()["summary"]["covers_last"] == 0
        for number in range(2, 30):
            agent.send(sentence(number))
        epoch = agent.state.history.epoch()
    assert epoch is not None
    found = looked_at(tmp_path).as_json()["summary"]
    assert found["covers_last"] == epoch.queue_start - 1
    assert (found["rung"], found["author"]) == ("model", "scripted")
    assert found["text"] == "They spoke of items."


def test_the_table_names_what_it_shows(tmp_path: Path) -> None:
    """From its first line on; together that leads to every page."""
    with agent_at(tmp_path, ScriptedModel(after="I see.")) as agent:
        for number in range(60):
            agent.send(sentence(number))
        table = agent.context.table
    found = looked_at(tmp_path)
    lines = [line for line in table.splitlines() if line[0] in "dp" and line[1].isdigit()]
    assert list(found.table) == [line.split()[0] for line in lines]
    assert found.pages > 2


def test_pins_and_memories_mark_their_pages(tmp_path: Path) -> None:
    """A pinned message marks the page it lies in, a pinned page itself."""
    definition = small(more="prefetch: {tokens: 200}\n")
    with agent_at(tmp_path, ScriptedModel(after="I see."), definition) as agent:
        for number in range(40):
            agent.send(sentence(number, 12))
        pages = agent.state.pages
        inside = pages.get(2)
        assert inside is not None
        agent.queue_manager.pinning.pin(f"m{inside.first_seq}")
        agent.send("What is the value of item K0003?")
        memory = looked_at(tmp_path).prefetched
        marks = page_marks(agent.state)
        assert marks.pinned == {2}
        assert memory
        seqs = [int(id[1:]) for id in memory if id[0] == "m"]
        named = {int(id[1:]) for id in memory if id[0] == "p"}
        assert marks.prefetched == named | set(pages.of(seqs).values())
