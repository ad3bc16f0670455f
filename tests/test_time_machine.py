"""The time machine on real stores: whatever is said, kept, rewound and brought back, every store is
whole after each step, a return is to the very state that was left, and a rewind to that of then."""

import os
import random
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from kernel_kit import sentence, small
from laws import evicted_is_found, holds

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import PagemindError, ToolFailed, UserError
from pagemind.runtime.fingerprint import fingerprint
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel, call
from pagemind.runtime.tool import make_tool

FUNCTIONS = ("core_append", "core_rewrite", "archival_insert", "archival_edit", "archival_delete")


def ring(number: int) -> str:
    """Ring the bell of the harbour.

    Args:
        number: How often.
    """
    return f"rung {number} times"


@dataclass(frozen=True)
class Remembered:
    """All that an agent remembers and shows: equal where it is in the same place."""

    request: str
    messages: tuple[tuple[int, str], ...]
    blocks: tuple[tuple[str, str], ...]
    passages: tuple[tuple[str, str, tuple[str, ...], float | None], ...]
    pins: tuple[str, ...]
    pages: tuple[str, ...]
    directories: tuple[str, ...]
    found: tuple[str, ...]
    conversation: int
    counts: tuple[int, ...]
    sha256: str

    @classmethod
    def of(cls, agent: Agent) -> "Remembered":
        state = agent.state
        found = []
        for tier in ("recall", "archival", "pages"):
            for query in ("item K0003 boat", None):
                hits = agent.engine.search(tier, query, SearchFilters(), 12).hits
                # Scores of what waits to be written are estimates: the same hits may change places.
                found += sorted(f"{hit.id} {hit.page} {hit.in_context}" for hit in hits)
        return cls(
            request=str(replace(agent.context.render(100), cache_key="")),
            messages=tuple(
                (m.seq, m.text) for m, _, _ in state.journal.live(1) if m.kind != "notice"
            ),
            blocks=tuple((block.label, block.value) for block in state.blocks.all()),
            passages=tuple(
                (p.short_id, p.text, p.tags, p.importance) for p in state.passages.newest(1000)
            ),
            pins=tuple(state.pins.all()),
            pages=tuple(page.short_id for page in state.pages.all()),
            directories=tuple(
                f"{d.short_id}: {[c.short_id for c in state.pages.children(d.number)]}"
                for d in state.pages.directories()
            ),
            found=tuple(found),
            conversation=state.journal.conversation,
            counts=(
                state.journal.count(),
                state.passages.count(),
                state.pages.count(),
                state.turns.count(),
                len(state.journal.speakers()),
            ),
            sha256=fingerprint(state),
        )


def whole(agent: Agent) -> None:
    """No store breaks an invariant."""
    holds(agent)
    found = check_state(agent.state) + check_tiers(agent.state, agent.engine.store)
    assert [each for each in found if each.status == "wrong"] == []


class Times(RuleBasedStateMachine):
    """One agent with a small window, and all that was ever left."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.clock = FrozenClock()
        self.runtime: Runtime
        self.agent: Agent
        self.number = 0
        self.left: dict[int, Remembered] = {}  # by line: what it was when it was left
        self.then: dict[int, Remembered] = {}  # by the first message of a turn: before it

    @initialize()
    def begin(self) -> None:
        self.open()

    def open(self) -> None:
        self.runtime = Runtime(
            Path(self.folder.name) / "home",
            clock=self.clock,
            embedder=HashingEmbedder(16),
            background=False,
        )
        self.model = ScriptedModel(after="Yes.", summary=lambda _: f"Summary {self.number}.")
        self.agent = self.runtime.agent(
            "ada", small(1280, *FUNCTIONS), model=self.model, tools=[make_tool(ring)]
        )

    def teardown(self) -> None:
        if hasattr(self, "runtime"):
            evicted_is_found(self.agent)
            self.runtime.close()
        self.folder.cleanup()

    def turn(self, *answers: Any) -> None:
        before = Remembered.of(self.agent)
        self.model._answers = iter([*answers, f"Answer {self.number}."])
        self.agent.send(
            sentence(self.number, 20),
            speaker=random.Random(self.number).choice(["Sam", "Ana"]),
            id=f"id {self.number}",
        )
        last = self.agent.state.turns.newest(1)[0]
        self.then[last.first_seq] = before
        self.number += 1

    @rule(times=st.integers(1, 6))
    def talk(self, times: int) -> None:
        for _ in range(times):
            self.turn()

    @rule(minutes=st.sampled_from([1, 20, 60 * 6]))
    def pause(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)

    @rule()
    def keep(self) -> None:
        """The model edits all kinds of memory in one turn."""
        numbers = [p.short_id for p in self.agent.state.passages.newest(3)]
        made = [
            call("core_rewrite", block="human", content=f"Sam, {self.number}."),
            call("archival_insert", content=f"Item K{self.number:04d} is a boat.", tags=["boat"]),
            call("ring", number=self.number),
        ]
        if numbers:
            made.append(call("archival_edit", id=numbers[-1], content=f"Edited {self.number}."))
        if len(numbers) > 1:
            made.append(call("archival_delete", id=numbers[0]))
        self.turn(made)

    @rule()
    def observe(self) -> None:
        self.agent.observe(f"Seen {self.number}.", source="sensor")
        self.number += 1

    @rule()
    def insert(self) -> None:
        self.agent.insert(f"A person's {self.number}.", tags=["mine"], importance=5)
        self.number += 1

    @rule()
    def restore(self) -> None:
        self.agent.restore_block("human", 1)

    @rule()
    def new_conversation(self) -> None:
        self.agent.new_conversation()

    @rule(chance=st.randoms(use_true_random=False))
    def pin(self, chance: random.Random) -> None:
        targets = [f"m{m.seq}" for m in self.agent.state.journal.newest(50)]
        targets += [page.short_id for page in self.agent.state.pages.all()]
        try:
            if pinned := self.agent.state.pins.all():
                self.agent.unpin(chance.choice(pinned))
            if targets:
                self.agent.pin(chance.choice(targets))
        except ToolFailed:
            pass  # too large, or in another

    @rule()
    def page_in(self) -> None:
        if pages := self.agent.state.pages.all():
            self.turn(call("page_in", id=pages[-1].short_id))

    @rule()
    def flush(self) -> None:
        self.agent.flush()

    @rule()
    def write_back(self) -> None:
        assert self.runtime.drain(self.agent)

    @rule(turns=st.integers(1, 5))
    def undo(self, turns: int) -> None:
        here, line = Remembered.of(self.agent), self.agent.state.journal.line
        last = self.agent.state.turns.newest(turns)
        if len(last) < turns:
            with pytest.raises(UserError):
                self.agent.undo(turns)
            return
        self.moved(line, here, self.agent.undo(turns), last[-1].first_seq)

    @rule(chance=st.randoms(use_true_random=False))
    def rewind(self, chance: random.Random) -> None:
        here, line = Remembered.of(self.agent), self.agent.state.journal.line
        live = [m.seq for m, _, _ in self.agent.state.journal.live(1)]
        seq = chance.choice([0, *live])
        try:
            self.agent.rewind(seq, apply=False)
        except PagemindError:
            return
        assert Remembered.of(self.agent) == here  # to look changes nothing
        moved = self.agent.rewind(seq)
        self.moved(line, here, moved, moved.taken_back[0].seq if moved.taken_back else 0)

    def moved(self, line: int, here: Remembered, moved: Any, first: int) -> None:
        assert (moved.from_line, moved.line) == (line, self.agent.state.journal.line)
        self.left[line] = here
        now, then = Remembered.of(self.agent), self.then.get(first)
        said = [turn.seq for turn in moved.taken_back]
        if then is not None and said and moved.hidden == len(here.messages) - len(then.messages):
            assert now.messages == then.messages
            assert now.blocks == then.blocks
            assert now.passages == then.passages
            assert now.pins == then.pins
            assert now.pages == then.pages
            assert now.found == then.found
            assert now.request == then.request

    @precondition(lambda self: self.left)
    @rule(chance=st.randoms(use_true_random=False))
    def bring_back(self, chance: random.Random) -> None:
        current = self.agent.state.journal.line
        line = chance.choice(sorted(set(self.left) - {current}) or [current])
        if line == current:
            return
        here = Remembered.of(self.agent)
        self.agent.bring_back(line)
        assert Remembered.of(self.agent) == self.left[line]
        self.left[current] = here

    @precondition(lambda self: self.number)
    @rule()
    def ask_again(self) -> None:
        """A client asks for its newest turn: the same answer, or a clear no."""
        number = self.number - 1
        row = self.agent.state.turns.by_client_id(f"id {number}")
        if row is None:
            return
        if self.agent.state.journal.lines.contains(row.first_seq):
            assert self.agent.send(sentence(number, 20), id=f"id {number}").turn == row.turn
        else:
            with pytest.raises(UserError, match="was taken back"):
                self.agent.send(sentence(number, 20), id=f"id {number}")

    @rule()
    def reopen(self) -> None:
        here = Remembered.of(self.agent)
        self.runtime.close()
        self.open()
        assert Remembered.of(self.agent) == here

    @rule()
    def fork(self) -> None:
        here = Remembered.of(self.agent)
        made = self.runtime.fork(self.agent, f"copy {self.clock.new_id()}")
        copy = self.runtime.agent(made.agent, model=ScriptedModel(after="No."), tools=[ring])
        whole(copy)
        assert Remembered.of(copy) == here
        copy.close()
        self.runtime.delete(made.agent)

    @invariant()
    def all_is_whole(self) -> None:
        if hasattr(self, "agent"):
            whole(self.agent)


TestTimes = Times.TestCase
TestTimes.settings = settings(
    max_examples=int(os.environ.get("PAGEMIND_TIMES", "4")),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
