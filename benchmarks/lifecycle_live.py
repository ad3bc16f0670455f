"""An agent of the product lives through the synthetic life, turn by turn at its hours.

The turns are answered from the life itself, so that they are the same whatever the memory does:
`Voice` says the reply of each turn, looks up what is asked for and quotes what it found, as a model
would. What runs in the background (the worker) is asked of the judge, or of a real model.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from lifecycle_truth import Record
from paging_kit import summary_of
from synth_life import Asked, Life, Spoken

from pagemind.runtime.agent import Agent
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models.embedders import make_embedder
from pagemind.runtime.models.scripted_model import Answer, ScriptedModel, call
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.services import SearchFilters

AGENT = "bench"
TOP = 10  # of a search
QUOTED = 400  # characters of a result that an answer quotes
DRAIN_SECONDS = 600.0
Background = Callable[[ModelRequest], Answer]


@dataclass
class Voice:
    """The agent's model: replies of the life, lookups for its questions. With `inserts`, it stores
    every fact itself in the turn, as a script would that has no worker."""

    life: Life
    background: Background
    inserts: bool = False
    turn: Spoken | None = None
    query: str = ""
    calls: int = 0  # of the background
    tokens: int = 0  # sent and received by it, four characters each

    def __call__(self, request: ModelRequest) -> Answer:
        if request.purpose == "background":
            answer = self.background(request)
            said = answer if isinstance(answer, str) else ""
            sent = [*request.system, *(message.text for message in request.messages)]
            self.calls += 1
            self.tokens += (sum(map(len, sent)) + len(said)) // 4
            return answer
        last = request.messages[-1]
        if self.query:
            if last.role == "tool":
                return f"I looked it up. {last.text[:QUOTED]}"
            return call("archival_search", query=self.query)
        assert self.turn is not None
        if self.inserts and self.turn.told and last.role != "tool":
            facts = map(self.life.fact, self.turn.told)
            return [call("archival_insert", content=each.plain) for each in facts]
        return self.turn.reply


@dataclass
class Lived:
    """The agent after its life."""

    runtime: Runtime
    agent: Agent
    clock: FrozenClock
    voice: Voice
    forgotten: int = 0  # records that were forgotten on request

    def records(self) -> list[Record]:
        """Every record of the store."""
        passages = self.agent.state.passages.newest(1_000_000)
        return [Record(each.short_id, each.text) for each in passages]

    def shown(self, asked: Asked, tier: str = "archival") -> list[str]:
        """What an ordinary search shows for a question, best first."""
        found = self.agent.engine.search(tier, asked.text, SearchFilters(), TOP)
        return [hit.text for hit in found.hits]


@contextmanager
def lived(
    life: Life,
    *,
    embedding: str,
    background: Background,
    inserts: bool = False,
    more: dict[str, Any] | None = None,
) -> Iterator[Lived]:
    """The agent, when the last day is over and everything is written."""
    with tempfile.TemporaryDirectory(prefix="pagemind-life-") as folder:
        clock = FrozenClock(life.turns[0].at - timedelta(minutes=1))
        embedder = make_embedder(embedding)
        voice = Voice(life, background, inserts)
        model = ScriptedModel(voice, summary=summary_of, keep=1)
        home = Path(folder) / "home"
        with Runtime(home, clock=clock, embedder=embedder, background=False) as runtime:
            agent = runtime.agent(AGENT, _definition(embedding, more or {}), model=model)
            made = Lived(runtime, agent, clock, voice)
            day = 0
            for turn in life.turns:
                if turn.day != day:
                    agent.new_conversation()
                    day = turn.day
                clock.advance(seconds=(turn.at - clock.now()).total_seconds())
                say(made, turn)
            clock.advance(seconds=3600)
            assert runtime.drain(agent, DRAIN_SECONDS), "the write-back did not end"
            yield made


def say(made: Lived, turn: Spoken) -> None:
    """One turn, as the life has it."""
    made.voice.turn, made.voice.query = turn, turn.text if turn.kind == "ask" else ""
    done = made.agent.send(turn.text, speaker=turn.speaker)
    assert done.stop_reason == "answered", f"turn {turn.number}: {done.stop_reason}"


def _definition(embedding: str, more: dict[str, Any]) -> AgentDefinition:
    written = {
        "name": AGENT, "embedding": embedding, "timezone": "UTC", "context_window": 16384, **more
    }  # fmt: skip
    return parse_definition(json.dumps(written), "benchmark")  # JSON is YAML
