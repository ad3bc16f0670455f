"""Memory pressure as in the MemGPT paper, §2.2: warn, save, flush, and find again."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from kernel_kit import agent_at, everything, last_result, sentence, small

from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.testing import ScriptedModel, call
from pagemind.runtime.trace import TraceEvent

BOAT = "My boat is called Nomad and lies at berth 42 in Horta."
FOUR = ("archival_insert", "archival_search", "recall_search", "page_in")


class Listener:
    """Saves what it was told when the warning comes, as a good model would. `script` goes first."""

    def __init__(self) -> None:
        self.saved = False
        self.script: list[str | ToolCall] = []

    def __call__(self, request: ModelRequest) -> str | ToolCall:
        if self.script:
            return self.script.pop(0)
        last = request.messages[-1]
        if last.kind == "notice" and not self.saved:
            self.saved = True
            return call("archival_insert", content="Sam's boat is Nomad, berth 42, Horta.")
        return "It is noted." if last.role == "tool" else "I see."


def until(agent: object, done: Callable[[], bool], say: Callable[[int], object]) -> int:
    """Talk until something happened; how many messages it took."""
    for number in range(1, 200):
        say(number)
        if done():
            return number
    raise AssertionError("it never happened")


def test_warn_save_flush_and_find(tmp_path: Path) -> None:
    """The warning stands in the queue, the model saves, the flush keeps half of room, and what
    was saved and what was evicted are both found."""
    listener = Listener()
    model = ScriptedModel(listener, summary=lambda request: "Sam told facts about items.")
    events: list[TraceEvent] = []
    with agent_at(tmp_path, model, small(2304, *FOUR)) as agent:
        context = agent.context
        agent.send(BOAT, speaker="Sam", observer=events.append)

        # WARN: one notice, in the queue, and the model acts on it in the same turn.
        def warned() -> bool:
            return any(e.kind == "warned" for e in events)

        def say(number: int) -> None:
            agent.send(sentence(number), speaker="Sam", observer=events.append)

        said = until(agent, warned, say)
        notices = [e for e in context.queue if e.message.kind == "notice"]
        assert len(notices) == 1
        percent = int(re.search(r"(\d+) % full", notices[0].shown.text)[1])
        assert 70 <= percent <= 100
        assert agent.archival.count() == 1
        assert not any(e.kind == "flush_started" for e in events)

        # FLUSH: pages, a summary in the head, half of room left.
        def flushed() -> bool:
            return any(e.kind == "flush_ended" for e in events)

        until(agent, flushed, lambda number: say(said + number))
        pressure = agent.queue_manager.measure()
        assert pressure.paged <= pressure.keep_at * 1.1
        pages = agent.state.pages.all()
        assert pages
        assert pages[0].first_seq == 1
        assert context.summary == "Sam told facts about items."
        head = context.render(128).messages[0].text
        assert "Sam told facts about items." in head
        assert f"{pages[-1].short_id} [" in head
        assert not any(e.message.kind == "notice" for e in context.queue)

        # The passage is found, and so is the evicted message, which page_in reads word for word.
        listener.script = [call("archival_search", query="Nomad boat"), "Nomad."]
        agent.send("What is my boat called?", speaker="Sam")
        assert re.search(r"\ba1\b.*berth 42", last_result(model).text)

        listener.script = [call("recall_search", query="boat berth Horta"), "Found."]
        agent.send("Where did I say it lies?", speaker="Sam")
        found = last_result(model).text
        assert BOAT in found
        assert re.search(r"\bm1\b.*\bp1\b", found), found

        listener.script = [call("page_in", id="p1"), "Read."]
        agent.send("Read it to me.", speaker="Sam")
        assert last_result(model).kind == "reading"
        assert BOAT in last_result(model).text


def test_one_warning_until_the_flush(tmp_path: Path) -> None:
    """A model that ignores the warning is not warned again before the flush."""
    events: list[TraceEvent] = []
    with agent_at(tmp_path, ScriptedModel(after="I see."), small(2048)) as agent:
        for number in range(60):
            agent.send(sentence(number), observer=events.append)
    kinds = [e.kind for e in events if e.kind in ("warned", "flush_ended")]
    assert kinds.count("flush_ended") >= 2
    for before, after in itertools.pairwise(kinds):
        assert (before, after) != ("warned", "warned")


def test_a_warning_is_no_ones_word(tmp_path: Path) -> None:
    """The notice has a seq, but it is neither recalled nor read in a page nor counted as said."""
    with agent_at(tmp_path, ScriptedModel(after="I see."), small(2048)) as agent:
        for number in range(40):
            agent.send(sentence(number))
        notices = [m for m in everything(agent) if m.kind == "notice"]
        assert notices
        assert agent.state.journal.count() == 80
        for page in agent.state.pages.all():
            stored = agent.state.journal.range(page.first_seq, page.last_seq)
            kept = [m for m, _, _ in stored if m.kind == "talk"]
            assert page.messages == len(kept)
        keys = {item.key for item in agent.state.outbox.pending(10_000)}
        assert not keys & {notice.short_id for notice in notices}


def test_every_seq_lies_in_one_page_or_in_the_queue(tmp_path: Path) -> None:
    """Pages are gapless and disjoint from the first message to the queue's start."""
    with agent_at(tmp_path, ScriptedModel(after="I see."), small(2048)) as agent:
        for number in range(80):
            agent.send(sentence(number))
        pages = agent.state.pages.all()
        assert len(pages) > 3
        expected = 1
        for page in pages:
            assert page.first_seq == expected
            expected = page.last_seq + 1
        assert expected == agent.state.history.epoch().queue_start


@pytest.mark.parametrize(("window", "tools"), [(1024, ("page_in",)), (4096, FOUR)])
def test_no_request_is_larger_than_the_window(
    tmp_path: Path, window: int, tools: tuple[str, ...]
) -> None:
    """Each call is measured before it is made and fits."""
    events: list[TraceEvent] = []
    with agent_at(tmp_path, ScriptedModel(after="I see."), small(window, *tools)) as agent:
        for number in range(60):
            agent.send(sentence(number), observer=events.append)
    called = [e.data for e in events if e.kind == "model_called"]
    assert len(called) == 60
    assert all(each["prompt_tokens"] <= each["usable"] for each in called)
