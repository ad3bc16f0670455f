"""What must hold of an agent between two turns, whatever happened to it."""

from pagemind.runtime.agent import Agent
from pagemind.runtime.page_reader import PageReader
from pagemind.runtime.tokens import TokenCounter

COUNTER = TokenCounter()  # shared, so that the odd texts are counted once


def holds(agent: Agent) -> None:
    """Everything that must be true between two turns."""
    state, context = agent.state, agent.context
    journal = state.journal
    messages = [m for m, _, _ in journal.range(1, journal.last_seq)]
    epoch = state.history.epoch()
    assert epoch is not None
    start = epoch.queue_start

    # seq is gapless.
    assert [m.seq for m in messages] == list(range(1, journal.last_seq + 1))

    # Pages are gapless and disjoint, from the first live message to the queue.
    pages, lines = state.pages.all(), journal.lines
    expected = lines.onward(1)
    for page in pages:
        assert page.first_seq == expected <= page.last_seq
        assert lines.contains(page.last_seq)
        expected = lines.onward(page.last_seq + 1)
    assert expected == lines.onward(start)
    live = {message.seq for message, _, _ in journal.live(1)}
    assert state.pages.of(sorted(live)).keys() == {seq for seq in live if seq < start}

    # Every page is in one directory or among the newest, and within the bound from the table.
    tops = state.pages.tops()
    below = [c for d in state.pages.directories() for c in state.pages.children(d.number)]
    assert len({node.short_id for node in [*tops, *below]}) == len(tops) + len(below)
    assert {page.short_id for page in pages} == {
        node.short_id for node in [*tops, *below] if not node.level
    }
    assert not [d for d in state.pages.directories() if len(state.pages.children(d.number)) != 16]
    if context.table:
        shown = {line.split()[0] for line in context.table.splitlines()}
        assert "d0" in shown or {top.short_id for top in tops} <= shown

    # What is pinned in view is what the epoch says, and can be read.
    assert context.pinned == agent.queue_manager.pinning.of_epoch(epoch)
    for target, (first, last) in zip(context.pinned.targets, context.pinned.spans, strict=True):
        assert 1 <= first <= last <= journal.last_seq
        assert f'<pin id="{target}"' in context.pinned.text

    # The queue holds what is in no page, but for notices that have had their time.
    resident = {entry.seq for entry in context.queue}
    for message in messages[start - 1 :]:
        assert (message.seq in resident) <= (message.seq in live)
        if message.seq in live:
            assert message.seq in resident or message.kind == "notice"
    assert all(seq >= start for seq in resident)
    assert context.queue.tokens == sum(entry.tokens for entry in context.queue)
    for entry in context.queue:
        assert entry.tokens == (0 if entry.view.hidden else COUNTER.message(entry.shown))

    # Every call has its result, once, and groups are whole in the queue and in pages.
    called = next((each for each in reversed(messages) if each.tool_calls), None)
    for at, message in enumerate(messages):
        if not message.tool_calls:
            continue
        results = messages[at + 1 : at + 1 + len(message.tool_calls)]
        if agent.pending() is not None and message == called:  # the rest waits for a person
            given = [r.tool_call_id for r in results if r.role == "tool"]
            assert given == [c.id for c in message.tool_calls][: len(given)]
            continue
        assert [r.tool_call_id for r in results] == [c.id for c in message.tool_calls]
        group = {message.seq, *(r.seq for r in results)}
        if message.seq not in live:
            assert not group & live
            continue
        places = state.pages.of(sorted(group))
        assert (places.keys() == group and len(set(places.values())) == 1) or not places
        assert bool(places) == (message.seq < start)

    # No empty message is kept, and blocks are within their limits.
    assert not [m for m in messages if m.role == "assistant" and not (m.text or m.tool_calls)]
    for block in state.blocks.all():
        assert len(block.value) <= block.limit
        assert block == context.core.get(block.label)
        assert [v.version for v in state.blocks.history(block.label)][-1] == block.version


def evicted_is_found(agent: Agent) -> None:
    """Every message that left the queue stands in its page, to the letter."""
    reader = PageReader(agent.state, count=COUNTER.count, zone=agent.zone, part_tokens=lambda: 2000)
    for page in agent.state.pages.all():
        first = reader.look(page.short_id, 1)
        parts = [first.text] + [
            reader.look(page.short_id, number).text for number in range(2, first.parts + 1)
        ]
        told = "".join("".join(part.partition("\n")[2] for part in parts).split())
        for message, _, _ in agent.state.journal.span(page.first_seq, page.last_seq):
            if message.kind in ("talk", "observation"):
                assert "".join(message.text.split()) in told
                assert f"{message.short_id}[" in told
