"""Random events and faults for one agent, and what must hold after each of them.

From one seed: `World(seed).live(events)`. Shared by tests/test_fuzz.py and benchmarks/faults.py.
"""

import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz_faults import ARMED, Faults, FaultyEmbedder, Killed, OnDemand, Stuck, injected
from fuzz_ledger import Broken, Ledger, must
from fuzz_model import TEXTS, RandomModel
from kernel_kit import small
from laws import COUNTER, evicted_is_found, holds

from pagemind.runtime.agent import Agent
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import (
    Cancelled,
    HomeUnusable,
    PagemindError,
    PromptTooLarge,
    StorageError,
    UserError,
)
from pagemind.runtime.invariants import check_state, check_tiers
from pagemind.runtime.message import clean_text
from pagemind.runtime.pressure import Level
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.tool import Tool, make_tool
from pagemind.runtime.trace import TraceEvent
from pagemind.runtime.turn import TurnResult

WINDOWS = (1024, 1024, 1536, 2048, 2048, 4096, 8192)
FEW = ("core_append", "page_in")
MANY = (
    *FEW,
    *("core_edit", "core_rewrite", "recall_search"),
    *("archival_insert", "archival_edit", "archival_delete", "archival_search"),
)
EVENTS = {
    "say": 55,
    "say again": 7,
    "retry": 4,
    "observe": 8,
    "insert": 4,
    "leave": 4,
    "flush": 3,
    "new conversation": 2,
    "restore block": 2,
    "clock": 5,
    "write back": 4,
    "reopen agent": 2,
    "reopen runtime": 2,
    "die": 2,
}

MENDING = ("say", "say again", "retry", "observe", "flush", "reopen agent", "reopen runtime", "die")


class UiError(Exception):
    """An observer's own."""


class World:
    """One agent in a home of its own, its ledger of what was acknowledged, and its faults."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = chance = random.Random(seed)
        self.clock = FrozenClock()
        self.faults = Faults(chance)
        self.window = chance.choice(WINDOWS) if chance.random() < 0.97 else 200_000
        more = f"prefetch: {{tokens: {chance.choice([0, 0, 300])}}}\nlimits: {{steps: 8}}\n"
        if chance.random() < 0.3 and self.window > 1024:
            more += "protocol: heartbeat\n"
        self.definition = small(
            self.window, *(MANY if self.window >= 4096 else FEW), limit=120, more=more
        )
        ratio = chance.choice([0, 0, 0.7, 1.0, 1.3, 1.6])
        self.window = self.definition.context_window or self.window
        self.model = RandomModel(chance, self.faults, self.clock, self.window, ratio)
        self.number = 0
        self.log: list[str] = []
        self.ledger = Ledger()
        self.ids: dict[str, tuple[str, TurnResult | None]] = {}
        self.turns = self.faulty = self.events = 0
        self.struck: Counter[str] = Counter()  # by kind of fault …
        self.survived: Counter[str] = Counter()  # … and how many of them all held after
        self.whole = True  # the last event left nothing for the next one to mend

    # --- its life -------------------------------------------------------------------------------

    def live(self, events: int) -> None:
        """Raises Broken with the seed and the last events."""
        with tempfile.TemporaryDirectory(prefix="pagemind-fuzz-") as folder, injected(self.faults):
            self.folder = Path(folder)
            try:
                self._open()
                for _ in range(events):
                    self._event()
                self._end()
            except (Exception, Killed, Stuck) as fault:
                told = "\n  ".join(self.log[-12:])
                raise Broken(
                    f"seed {self.seed}, event {self.events}, window {self.window}:"
                    f" {type(fault).__name__}: {fault}\n  {told}",
                    stuck=isinstance(fault, Stuck) or getattr(fault, "stuck", False),
                ) from fault
            finally:
                self._kill()

    def _open(self) -> None:
        self.runtime = Runtime(
            self.folder / "home",
            clock=self.clock,
            embedder=FaultyEmbedder(self.faults),
            background=False,
        )
        self.runtime.counter = COUNTER
        self.runtime._write_back = OnDemand()
        self._open_agent()

    def _open_agent(self) -> None:
        self.agent: Agent = self.runtime.agent(
            "ada", self.definition, model=self.model, tools=_tools()
        )
        self.model.usable = lambda: self.agent.queue_manager.measure().usable

    def _kill(self) -> None:
        """The process is gone: what it had open is closed as the system would do it."""
        for agent, lock in list(self.runtime._agents.values()):
            agent.state.database._connection.real.close()
            lock.release()
        self.runtime._agents.clear()
        self.runtime.home.database._connection.real.close()

    def _event(self) -> None:
        chance = self.chance
        kind = chance.choices(list(EVENTS), list(EVENTS.values()))[0]
        armed = chance.choice(ARMED) if chance.random() < 0.65 else ""
        if armed.startswith("tiers: put") and chance.random() < 0.7:
            kind = "write back"  # seldom else
        self.events += 1
        self.log.append(f"{self.events} {kind} / {armed or '-'}")
        self.faults.begin(armed)
        self.model.begin()
        act: Callable[[], None] = getattr(self, "_" + kind.replace(" ", "_"))
        storage = False
        try:
            act()
        except Killed:
            pass
        except KeyboardInterrupt:
            if not any("Ctrl-C" in struck for struck in self.faults.struck):
                raise
            storage = True
        except UiError:
            pass
        except StorageError as error:
            storage = True
            self.log[-1] += f" → {error.message[-60:]}"
        except PagemindError as error:
            storage = bool(self.faults.struck)
            self.log[-1] += f" → {type(error).__name__}: {error.message[:80]}"
        struck = self.faults.struck.copy()
        dead = self.faults.dead
        self.log[-1] += f" | {', '.join(struck)}"
        self.faults.begin()
        if dead:
            self._restart()
            storage = False
        for agent, _ in self.runtime._agents.values():
            self.agent = agent
        if self.runtime._agents == {}:  # it could not be opened while the fault lasted
            self._open_agent()
        if kind in ("say", "say again", "retry"):
            self.turns += 1
            self.faulty += bool(struck)
        if storage:
            self.whole = False
        elif dead or kind in MENDING:
            self.whole = True
        self.struck.update(struck)
        # What a model says is checked as it says it; the rest of the world breaks in more ways.
        self._check(not all(kind.startswith(("model:", "summary:")) for kind in struck))
        self.survived.update(struck)

    def _restart(self) -> None:
        self._kill()
        self._open()
        self.ledger.look_anew(self.agent)

    # --- events ---------------------------------------------------------------------------------

    def _text(self) -> str:
        self.number += 1
        chance = self.chance
        more = (
            chance.choice(TEXTS) if chance.random() < 0.15 else "the tide " * chance.randint(1, 60)
        )
        return f"Text {self.number:05}: {more}"

    def _send(self, text: str, client: str | None) -> None:
        cancel = CancelToken()

        def observer(event: TraceEvent) -> None:
            if self.faults.strikes("cancelled at an event"):
                cancel.cancel()
            if self.faults.strikes("observer raises"):
                raise UiError("a broken pipe")

        self.ledger.tries(text)
        result = self.agent.send(text, speaker="Sam", id=client, observer=observer, cancel=cancel)
        self.log[-1] += f" → {result.stop_reason}"
        self.ledger.keeps(text)
        self.ledger.answered(self.agent, result)
        if client is not None:
            before = self.ids[client][1]
            if before is not None:
                must(result.turn == before.turn, "a client's id was given a second turn")
                if before.stop_reason == "answered":
                    must(result.text == before.text, "another answer to the same id")
            self.ids[client] = (text, result)

    def _say(self) -> None:
        text = self._text()
        client = f"id-{self.number}" if self.chance.random() < 0.4 else None
        if client is not None:
            self.ids[client] = (text, None)
        self._send(text, client)

    def _say_again(self) -> None:
        if not self.ids:
            return self._say()
        client = self.chance.choice(list(self.ids)[-5:])
        self._send(self.ids[client][0], client)

    def _retry(self) -> None:
        try:
            self.ledger.answered(self.agent, self.agent.retry())
        except HomeUnusable:
            raise
        except UserError as nothing:
            must("nothing to retry" in nothing.message, nothing.message)

    def _observe(self) -> None:
        text = self._text()
        self.ledger.tries(text)
        self.agent.observe(text, source="sensor")
        self.ledger.keeps(text)
        pressure = self.agent.queue_manager.measure()
        must(pressure.used <= pressure.usable, "an observation filled the window")

    def _insert(self) -> None:
        text = self._text()
        self.agent.insert(text, tags=["x"], importance=5)
        self.ledger.passages.append(clean_text(text))

    def _leave(self) -> None:
        text = self._text()
        self.ledger.tries(text)
        self.agent.state.leave(
            "observe", json.dumps({"text": text, "source": "bus", "speaker": "bus"})
        )
        if self.chance.random() < 0.2:
            self.agent.state.leave("nonsense", "{}")
        self.ledger.keeps(text)

    def _flush(self) -> None:
        self.agent.flush()

    def _new_conversation(self) -> None:
        self.agent.new_conversation()

    def _restore_block(self) -> None:
        self.agent.restore_block("human", 1)

    def _clock(self) -> None:
        self.faults.note(step := self.chance.choice(["clock: back", "clock: days on"]))
        self.clock.advance(hours=-30 if step == "clock: back" else 100)

    def _write_back(self) -> None:
        self.runtime.drain(self.agent)

    def _reopen_agent(self) -> None:
        before = self._before()
        self.agent.close()
        self._open_agent()
        self._same(before)

    def _reopen_runtime(self) -> None:
        before = self._before()
        self.agent.close()
        self._kill()
        self._open()
        self._same(before)
        self.ledger.look_anew(self.agent)

    def _die(self) -> None:
        self.faults.note("killed between two events")
        before = self._before()
        self._restart()
        self._same(before)

    # --- what must hold -------------------------------------------------------------------------

    def _before(self) -> list[Any] | None:
        """What must be shown again after opening it; None if opening it has something to do."""
        full = self.agent.queue_manager.measure().level is Level.FLUSH
        busy = full or not self.whole or self.agent.state.inbox()
        return None if busy else _shown(self.agent)

    def _same(self, before: list[Any] | None) -> None:
        if before is not None and not self.faults.struck:
            must(_shown(self.agent) == before, "another context after opening it again")

    def _check(self, thorough: bool = True) -> None:
        must(not self.model.wrong, "; ".join(self.model.wrong[:3]))
        self.ledger.read_on(self.agent)
        if self.whole and (thorough or self.events % 3 == 0):
            holds(self.agent)
            open_turns = self.agent.state.turns.unfinished()
            must(not open_turns, f"turns are left open: {[t.turn for t in open_turns]}")
        if self.whole and self.events % 4 == 0:
            wrong = [f for f in check_state(self.agent.state) if f.status == "wrong"]
            must(not wrong, str(wrong[:3]))

    def _end(self) -> None:
        """With all faults gone it answers, LanceDB is whole, and a new process sees the same."""
        self.log.append("the end")
        self.faults.begin()
        self.model.begin()
        self.model.oddness = 0.0
        self.model.ratio = min(self.model.ratio, 1.0)
        for _ in range(6):
            text = self._text()
            self.ledger.tries(text)
            self.model.begin()
            try:
                stop = self.agent.send(text).stop_reason
            except PromptTooLarge as large:  # many calls at once; the next turn pages them out
                stop = large.message
                continue
            self.ledger.keeps(text)
            if stop == "answered":
                break
        if stop != "answered":
            raise Broken(f"no answer at the end: {stop}", stuck=True)
        self.whole = True
        self._check()
        must(self.runtime.drain(self.agent), "not all could be written back")
        wrong = [f for f in check_state(self.agent.state) if f.status == "wrong"]
        wrong += [
            f for f in check_tiers(self.agent.state, self.agent.engine.store) if f.status == "wrong"
        ]
        must(not wrong, str(wrong[:3]))
        evicted_is_found(self.agent)
        self._reopen_runtime()
        holds(self.agent)


def _shown(agent: Agent) -> list[Any]:
    context = agent.context
    held = context.held.shown if context.held else None
    return [context.system, context.summary, context.table, held, *(e.shown for e in context.queue)]


def _tools() -> list[Tool]:
    def fetch(number: int) -> str:
        """Fetch a text from the world."""
        return TEXTS[number]

    def fail(how: int) -> str:
        """Fail in one of several ways."""
        if how == 0:
            raise RuntimeError("no luck")
        if how == 1:
            raise Cancelled("a tool's own")
        if how == 2:
            raise MemoryError
        return "\ud83c\x00"

    return [make_tool(fetch), make_tool(fail)]
