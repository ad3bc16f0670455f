"""What always holds, for any sequence of messages, calls, results, flushes and restarts:

every request is legal for every provider and fits the window; groups stay whole; seq is gapless;
pages are gapless and disjoint, and hold every message that left the queue, to the letter; a
restart shows what was shown before.
"""

import tempfile
from collections.abc import Callable
from itertools import count as counting
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from kernel_kit import small
from laws import COUNTER, evicted_is_found, holds
from odd_texts import ODD
from wire_rules import FAMILIES, check

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import (
    BadReply,
    ContextOverflow,
    ModelUnreachable,
    OutputReserveConflict,
    UserError,
)
from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelReply, ModelRequest, Usage
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call
from pagemind.runtime.tool import make_tool

RULES = {family: rules_for(f"{family}/test") for family in FAMILIES}
TEXTS = list(ODD.values())
FEW = ("core_append", "page_in", "page_pin")
SOME = ("core_append", "core_edit", "recall_search", "archival_insert", "page_in", "page_pin")
MANY = (*SOME, "core_rewrite", "page_find", "page_unpin")


# --- what may happen ------------------------------------------------------------------------------

texts = st.one_of(
    st.sampled_from(["Hello.", "My boat is Nomad.", "What did I say about the harbour?"]),
    st.sampled_from(TEXTS),
    st.text(st.characters(codec=None), min_size=1, max_size=40),
    st.integers(20, 900).map(lambda words: "harbour light " * words),
)
ids = st.sampled_from(["", "call_0", "call_0", "abcdefgh1", "x" * 60, "\ud83c"])
calls = st.one_of(
    st.builds(lambda text: call("core_append", block="human", content=text), texts),
    st.builds(lambda text: call("core_rewrite", block="human", content=text), texts),
    st.builds(lambda text: call("archival_insert", content=text), texts),
    st.builds(lambda text: call("recall_search", query=text), texts),
    st.builds(
        lambda kind, number, part: call("page_in", id=f"{kind}{number}", part=part),
        st.sampled_from("pm"),
        st.integers(0, 12),
        st.integers(0, 3),
    ),
    st.builds(lambda text: call("page_find", query=text), texts),
    st.builds(
        lambda function, kind, number: call(function, id=f"{kind}{number}"),
        st.sampled_from(["page_pin", "page_pin", "page_unpin"]),
        st.sampled_from("mmp"),
        st.integers(0, 12),
    ),
    st.builds(lambda number: call("fetch", number=number), st.integers(0, len(TEXTS) - 1)),
    st.builds(lambda text: call("core_apend", content=text), texts),
    st.builds(lambda text: ToolCall("", "core_append", text), texts),
    st.sampled_from(
        [
            ToolCall("", "core_append", '{"block": "human", "content": "cut of'),
            ToolCall("", "nons\ud83cense", "[1, 2]"),
            ToolCall("", "web.search", '{"q": NaN}'),
        ]
    ),
)
with_ids = st.builds(lambda c, i: ToolCall(i, c.name, c.arguments), calls, ids)
replies = st.one_of(
    texts.map(lambda text: ModelReply(text)),
    st.builds(
        lambda said, made, finish: ModelReply(said, tool_calls=tuple(made), finish=finish),
        st.sampled_from(["", "Let me see."]),
        st.lists(with_ids, min_size=1, max_size=3),
        st.sampled_from(["tool_calls", "tool_calls", "length"]),
    ),
    st.sampled_from(
        [
            ModelReply(""),
            ModelReply("I will not.", finish="refusal"),
            ModelUnreachable("no route"),
            ContextOverflow("too long"),
            OutputReserveConflict("too long with max_tokens"),
            BadReply("<html>"),
        ]
    ),
)
steps = st.lists(replies, max_size=4)
events = st.one_of(
    st.tuples(st.just("say"), texts, steps),
    st.tuples(st.just("say"), texts, steps),
    st.tuples(st.just("again"), texts, steps),
    st.tuples(st.just("observe"), texts, st.just([])),
    st.tuples(st.just("flush"), st.just(""), st.just([])),
    st.tuples(st.just("wait"), st.just(""), st.just([])),
    st.tuples(st.just("reopen"), st.just(""), st.just([])),
)


# --- what must hold -------------------------------------------------------------------------------


class Judge(ScriptedModel):
    """Answers with what it is given, and judges each request before it does."""

    def __init__(self, ratio: float) -> None:
        super().__init__()
        self.answers: list[ModelReply | Exception] = []
        self.usable: Callable[[], int] = lambda: 0
        self.window_tokens = 0
        self._ratio = ratio  # reported tokens to ours; 0 reports nothing

    def complete(self, request: ModelRequest, **_: Any) -> ModelReply:
        self.requests.append(request)
        size = tokens_of(request)
        if request.purpose == "summary":
            assert size + request.max_tokens <= self.window_tokens
            return ModelReply("They talked about boats. " * 40)
        assert size <= self.usable(), f"{size} of {self.usable()} tokens"
        for family, rules in RULES.items():
            check(to_wire(request, rules), family, tools=bool(request.tools))
        answer = self.answers.pop(0) if self.answers else ModelReply("Yes.")
        if isinstance(answer, Exception):
            raise answer
        usage = Usage(int(size * self._ratio))
        return ModelReply(answer.text, answer.tool_calls, usage=usage, finish=answer.finish)


def tokens_of(request: ModelRequest) -> int:
    """Counted here, from what is sent, and not by the sections of main context."""
    head = sum(COUNTER.count(text) for text in request.system) + 4
    return (
        head
        + sum(COUNTER.message(message) for message in request.messages)
        + COUNTER.tools(request.tools)
    )


def as_shown(agent: Agent) -> list[Any]:
    context = agent.context
    held = context.held.shown if context.held else None
    head = [context.system, context.summary, context.table, context.pinned]
    return [*head, held, *(e.shown for e in context.queue)]


class NoWriteBack:
    """LanceDB is not part of these facts: rows stay in the outbox."""

    def __getattr__(self, name: str) -> Callable[..., bool]:
        return lambda *_, **__: True


class World:
    """One agent, opened and closed at will."""

    def __init__(self, folder: Path, window: int, ratio: float, prefetch: int) -> None:
        self.folder, self.window, self.prefetch = folder, window, prefetch
        self.clock = FrozenClock()
        self.model = Judge(ratio)
        self.numbers = counting(1)
        self.last: tuple[str, str] | None = None
        self.open()

    def open(self) -> None:
        self.runtime = Runtime(
            self.folder, clock=self.clock, embedder=HashingEmbedder(8), background=False
        )
        self.runtime.counter = COUNTER
        self.runtime._write_back = NoWriteBack()

        def fetch(number: int) -> str:
            """Fetch a text from the world."""
            return TEXTS[number]

        tools = FEW if self.window < 2048 else MANY if self.window > 2048 else SOME
        self.agent = self.runtime.agent(
            "ada",
            small(self.window, *tools, limit=120, more=f"prefetch: {{tokens: {self.prefetch}}}\n"),
            model=self.model,
            tools=[make_tool(fetch)],
        )
        self.model.usable = lambda: self.agent.queue_manager.measure().usable
        self.model.window_tokens = self.window

    def close(self) -> None:
        self.runtime.close()

    def happen(self, kind: str, text: str, answers: list[ModelReply | Exception]) -> None:
        self.model.answers = list(answers)
        agent = self.agent
        try:
            if kind == "say":
                self.last = (text, f"id-{next(self.numbers)}")
                agent.send(text, speaker="Sam", id=self.last[1])
            elif kind == "again" and self.last:
                agent.send(self.last[0], speaker="Sam", id=self.last[1])
            elif kind == "observe":
                agent.observe(text, source="sensor")
                pressure = agent.queue_manager.measure()
                assert pressure.used <= pressure.usable
            elif kind == "flush":
                agent.flush()
            elif kind == "wait":
                self.clock.advance(hours=5)
            elif kind == "reopen":
                before = as_shown(agent)
                self.close()
                self.open()
                assert as_shown(self.agent) == before
        except UserError:
            assert not text.strip("\x00 \n").strip() or kind == "again"


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    window=st.sampled_from([1024, 1536, 2048, 4096, 8192, 32_768, 200_000]),
    ratio=st.sampled_from([0, 0, 0.7, 1.0, 1.3]),
    prefetch=st.sampled_from([0, 300]),
    happenings=st.lists(events, min_size=4, max_size=16),
)
def test_whatever_happens(window: int, ratio: float, prefetch: int, happenings: list[Any]) -> None:
    """See the head of this file."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder) / "home", window, ratio, prefetch)
        try:
            for kind, text, answers in happenings:
                world.happen(kind, text, answers)
                holds(world.agent)
            world.happen("reopen", "", [])
            holds(world.agent)
            evicted_is_found(world.agent)
            event(f"pages: {min(world.agent.state.pages.count(), 5)}")
            event(f"requests: {min(len(world.model.requests) // 10, 5)}0 or more")
        finally:
            world.close()
