"""Kill an agent's process and look at what it left. Shared by tests/crash and benchmarks/crash.py.

Acknowledged means that the call which said so has returned in the child: a turn, an observation,
a function's result. All texts are different, so that one can be counted.
"""

import json
import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import warm
from laws import evicted_is_found, holds
from wire_rules import FAMILIES, check

from pagemind.runtime.agent import Agent
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.schema import rows_of_message

CHILD = Path(__file__).parent / "crash" / "child.py"
# Where it dies by its own hand: the point, before or after, and at which passing.
POINTS = [
    ("commit", "before", 25),
    ("commit", "after", 25),
    ("commit", "after", 60),
    ("append", "after", 14),  # inside a transaction
    ("summary", "before", 2),
    ("summary", "after", 1),
    ("pages", "after", 2),  # inside the flush's transaction
    ("flush", "after", 2),
    ("put", "before", 3),
    ("put", "after", 3),  # written to LanceDB, not yet forgotten in the outbox
    ("index", "before", 1),  # a table without its indices
    ("done", "before", 2),
    ("done", "after", 2),
]


@dataclass
class Home:
    """A home whose agent is killed again and again, and all that was ever acknowledged there."""

    path: Path
    seed: int = 0
    number: int = 0  # of the next child's texts
    tried: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)
    block: tuple[int, str] = (1, "")
    kills: int = 0

    def run(
        self, point: str = "none", when: str = "before", nth: int = 0, *, kill: float | None = None
    ) -> int:
        """Start a child and let it die at a point, or `kill` seconds after its first line; how
        many things were acknowledged."""
        self.seed += 1
        arguments = [self.path, self.number, self.seed, point, when, nth]
        child = warm.start([str(CHILD), *map(str, arguments)], stdout=warm.PIPE, stderr=warm.PIPE)
        timer: threading.Timer | None = None
        before = len(self.kept)
        assert child.stdout is not None
        for line in child.stdout:
            told: dict[str, Any] = json.loads(line)
            if told.get("ready") and kill is not None:
                timer = threading.Timer(kill, child.kill)
                timer.start()
            self._note(told)
        errors = child.communicate()[1]
        if timer is not None:
            timer.cancel()
        assert child.returncode in (-9, 0), errors
        self.kills += child.returncode == -9
        self.number += 1000
        return len(self.kept) - before

    def _note(self, told: dict[str, Any]) -> None:
        if "tries" in told:
            self.tried.append(told["tries"])
        self.kept.extend(told.get("kept", ()))
        if "passage" in told:
            self.passages.append(told["passage"])
        if "block" in told:
            self.block = (told["block"][0], told["block"][1])

    def check(self) -> None:
        """Open it and assert that nothing was lost, doubled or broken. Raises AssertionError."""
        self._as_left()
        model = ScriptedModel(after="Still here.")
        with Runtime(self.path, embedder=HashingEmbedder(16), background=False) as runtime:
            if not runtime.home.exists("ada"):
                assert not self.kept  # killed before it was made: nothing was acknowledged
                return
            agent = runtime.agent("ada", model=model)
            holds(agent)
            self._journal(agent)
            self._memory(agent)
            evicted_is_found(agent)
            turn = agent.send(f"Are you there, after {self.kills}?")
            assert turn.text == "Still here."
            for family in FAMILIES:
                rules = rules_for(f"{family}/test")
                check(to_wire(model.requests[-1], rules), family, tools=True)
            assert runtime._write_back.drain(agent.id, 60)
            self._tiers(agent)

    def _as_left(self) -> None:
        """The stores break no invariant, before anything is mended."""
        with Runtime(self.path, embedder=HashingEmbedder(16), background=False) as runtime:
            if runtime.home.exists("ada"):
                with runtime.reader("ada") as reader:
                    found = check_state(reader.state) + check_tiers(reader.state, reader.store)
                    wrong = [
                        f"{each.check}: {each.detail}" for each in found if each.status == "wrong"
                    ]
                    assert not wrong, "; ".join(wrong)

    def _journal(self, agent: Agent) -> None:
        said = Counter(m.text for m in agent.state.journal.newest(1 << 30))
        for text in self.kept:
            assert said[text] == 1, f"{said[text]} times: {text[:20]}"
        for text in self.tried:
            assert said[text] <= 1, f"{said[text]} times: {text[:20]}"
        assert agent.state.turns.unfinished() == []

    def _memory(self, agent: Agent) -> None:
        version, value = self.block
        history = {v.version: v.value for v in agent.state.blocks.history("human")}
        assert history[version] == value
        assert max(history) >= version
        ever = [
            old.value
            for passage in agent.state.passages.newest(1 << 30)
            for old in agent.state.passages.history(passage.number)
        ]
        for text in self.passages:
            assert ever.count(text) == 1, f"{ever.count(text)} times: {text[:20]}"

    def _tiers(self, agent: Agent) -> None:
        """Every message and passage that can be found stands in LanceDB, once."""
        store = agent.engine.store
        wanted = {
            row.id
            for message in agent.state.journal.newest(1 << 30)
            for row in rows_of_message(message, (), agent.zone)
        }
        rows = [row.id for row in store.scan("recall", RowFilter())]
        assert len(rows) == len(set(rows))
        assert set(rows) == wanted
        passages = {p.short_id: p.text for p in agent.state.passages.newest(1 << 30)}
        kept = {row.parent: row.text for row in store.scan("archival", RowFilter())}
        assert kept == passages
        assert agent.state.outbox.count() == 0


def random_delay(chance: random.Random) -> float:
    """Seconds: most kills fall into the first flushes, some into the closing."""
    return chance.choice([0.02, 0.1, 0.3, 0.6, 1.0]) * (0.5 + chance.random())
