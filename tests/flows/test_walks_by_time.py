"""Who knows when something was said reads towards that time, from the table, by page_in alone."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import ModuleType

import pytest
from bench_kit import benchmark
from kernel_kit import everything, sentence, small

from pagemind.runtime.agent import Agent
from pagemind.runtime.page_reader import PageReader
from pagemind.runtime.page_tree import read_bound
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import FrozenClock, HashingEmbedder, ScriptedModel, call
from pagemind.runtime.tokens import TokenCounter

walk: ModuleType = benchmark("paging_walk")
WINTER = datetime(2026, 1, 5, 9, tzinfo=UTC)  # when Lisbon's clocks show UTC


@contextmanager
def talk(seed: int, turns: int) -> Iterator[Agent]:
    """An agent after so many turns of all lengths, some with calls, a minute to hours apart. All
    of a turn has one time, as the replies of a quick model have."""
    draw = random.Random(seed)
    clock = FrozenClock(WINTER)
    with Runtime(":memory:", clock=clock, embedder=HashingEmbedder(8), background=False) as runtime:
        model = ScriptedModel([], summary=lambda _: "They spoke of many things.")
        definition = small(2048, "page_in", "core_append", more="prefetch: {tokens: 0}\n")
        agent = runtime.agent("ada", definition, model=model)
        for number in range(turns):
            clock.advance(minutes=draw.choice([1, 1, 2, 7, 30, 200]))
            calls = draw.randrange(3) if draw.random() < 0.2 else 0
            append = [call("core_append", block="human", content="x") for _ in range(calls)]
            model._answers = iter([*append, sentence(number, draw.randint(0, 15))])
            agent.send(sentence(number, draw.randint(0, 15)))
        yield agent


class Walker:
    """Reads as a model does, the narrowest span around a time first."""

    def __init__(self, agent: Agent) -> None:
        self.table = agent.context.table
        self.known: dict[str, str] = {}
        self.reader = PageReader(
            agent.state, count=TokenCounter().count, zone=UTC, part_tokens=lambda: 400
        )

    def reads(self, at: datetime, name: str) -> int:
        """How many pages and directories are read until the message of that name is."""
        known = walk.lines_in(self.table)
        read: list[str] = []
        at = at.replace(second=0, microsecond=0)
        while open_ := [line for line in known if line.covers(at) and line.id not in read]:
            best = min(open_, key=lambda line: line.order)
            read.append(best.id)
            text = self.text(best.id)
            if best.id[0] == "d":
                known += walk.lines_in(text)
            elif f"{name} [" in text:
                return len(read)
        raise AssertionError(f"{name} of {at} was not found; read were {read}")

    def text(self, id: str) -> str:
        if id not in self.known:
            self.known[id] = self._read(id)
        return self.known[id]

    def _read(self, id: str) -> str:
        first = self.reader.read(id, 1)
        more = [self.reader.read(id, part).text for part in range(2, first.parts + 1)]
        return "\n".join([first.text, *more])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_everything_said_is_reached_by_its_time_within_the_bound(seed: int) -> None:
    """A question and its answer, which have the same minute, lie in the same page: every message
    is at most ⌈log16(pages)⌉ + 1 reads away; of a turn longer than a page one more for each page
    that it goes on in."""
    with talk(seed, 160) as agent:
        walker = Walker(agent)
        pages = agent.state.pages.count()
        assert pages > 16
        end = agent.state.history.epoch().queue_start
        gone = [m for m in everything(agent) if m.seq < end and m.kind == "talk"]
        page_of = agent.state.pages.of([m.seq for m in gone])
        of_turn: dict[int, set[int]] = {}
        for m in gone:
            of_turn.setdefault(m.turn, set()).add(page_of[m.seq])
        long = sum(len(several) > 1 for several in of_turn.values())
        assert long <= len(of_turn) // 20
        for m in gone:
            more = len(of_turn[m.turn]) - 1
            assert walker.reads(m.recorded_at, m.short_id) <= read_bound(pages) + more


def test_no_page_ends_within_a_turn_of_everyday_length() -> None:
    """Neither where a page is full nor where a flush ends."""
    with talk(4, 120) as agent:
        turn_of = {m.seq: m.turn for m in everything(agent)}
        lasts = [page.last_seq for page in agent.state.pages.all()]
        assert len(lasts) > 12
        assert [last for last in lasts if turn_of[last] == turn_of.get(last + 1)] == []
