"""An agent of the product lives through the synthetic life, turn by turn at its hours.

The turns are answered from the life itself, so that they are the same whatever the memory does:
`Voice` says the reply of each turn, looks up what is asked for and quotes what it found, as a model
would. What the worker asks is asked of the judge, or of a real model. The worker runs where
`sleep: every 20 turns` has it run, in this thread, so that runs repeat exactly.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from lifecycle_truth import Record, Truth
from paging_kit import summary_of
from synth_life import Asked, Life, Spoken

from pagemind.runtime.agent import Agent
from pagemind.runtime.cli.forgetting import matching
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.errors import ToolError
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
    inserts: bool
    turn: Spoken | None = None
    query: str = ""

    def __call__(self, request: ModelRequest) -> Answer:
        if request.purpose == "background":
            return self.background(request)
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
    truth: Truth
    every: int  # turns between two sleeps; 0: there is no worker
    calls: int = 0  # of the worker's model …
    tokens: int = 0  # … and what was sent to it and came back
    done: Counter[str] = field(default_factory=Counter)  # by the worker
    notes: list[str] = field(default_factory=list)  # what went wrong there
    forgotten: int = 0  # records that a person has hidden

    def sleep(self) -> None:
        """Let the worker do all that is due."""
        report = self.agent.sleep()
        self.done.update(report.done)
        self.notes += report.notes
        self.calls += report.calls
        self.tokens += report.prompt_tokens + report.completion_tokens

    def forget(self, turn: Spoken) -> None:
        """What a person does who is asked to: `/forget` with the words of it, and of what that
        shows they choose what says it."""
        for told in map(self.truth.life.fact, turn.about):
            for id in matching(self.agent.engine, told.plain):
                number = int(id[1:])
                text = self.agent.state.passages.get([number])[number].text
                if told.fact in self.truth.named(text):
                    self.agent.archival.for_person().delete(number)
                    self.forgotten += 1

    def count(self) -> int:
        """All records that there are, of any kind but episodes, past ones among them."""
        passages = self.agent.state.passages.newest(1_000_000)
        return sum(each.kind != "episode" for each in passages)

    def records(self) -> list[Record]:
        """Every record of the store that states what somebody told: notes, facts, and fields of
        profiles, of which those that were set once and have another value now are past."""
        return self._passages() + self._fields()

    def _passages(self) -> list[Record]:
        return [
            Record(
                each.short_id,
                each.text,
                each.facets.subject,
                each.facets.object,
                each.standing == "active",
            )
            for each in self.agent.state.passages.newest(1_000_000)
            if each.kind in ("note", "fact")
        ]

    def _fields(self) -> list[Record]:
        people = {name.lower(): name for name in self.truth.people}
        now = {
            (people[block.label], field, str(value))
            for block in self.agent.blocks()
            if block.label in people
            for field, values in json.loads(block.value or "{}").items()
            for value in (values if isinstance(values, list) else [values])
        }
        set_once = {
            (people[change.target], str(path).removesuffix("[-]"), str(value))
            for change in self.agent.state.changes.in_state("applied", job="profiles")
            for path, value in change.body["fields"]
            if change.target in people
        }
        return [
            Record(f"block:{name.lower()}", f"{name} {field} {value}", name, value, fact in now)
            for fact in sorted(now | set_once)
            for name, field, value in [fact]
        ]

    def in_view(self, asked: Asked) -> list[str]:
        """What stands in the profile of whom is asked about: that is always in the prompt."""
        about = (each for each in self._fields() if each.subject == asked.subject)
        return [each.text for each in about if each.current]

    def shown(self, asked: Asked) -> list[str]:
        """What the agent is shown for a question, best first: by an ordinary search; with a worker,
        by the functions for facts where the question is of the past."""
        if self.every and asked.kind in ("history", "as-of"):
            for relation in (asked.relation, None):
                if lines := self._looked_up(asked, relation):
                    return lines
        filters = SearchFilters(as_of=asked.as_of)
        found = self.agent.engine.search("archival", asked.text, filters, TOP)
        texts = [*self.in_view(asked), *(hit.text for hit in found.hits)]
        if self.every and asked.kind == "forgotten":
            texts += self._call("fact_history", entity=asked.subject)
        return texts

    def said(self, asked: Asked) -> list[str]:
        """What a search of all that was ever said shows: that is kept, whatever is forgotten."""
        found = self.agent.engine.search("recall", asked.text, SearchFilters(), TOP)
        return [hit.text for hit in found.hits]

    def _looked_up(self, asked: Asked, relation: str | None) -> list[str]:
        """What fact_history shows, with the value before the last one first, or fact_search as of
        the day before."""
        named = {"entity": asked.subject} | ({"relation": relation} if relation else {})
        if asked.as_of is not None:
            day = (asked.as_of - timedelta(seconds=1)).date().isoformat()
            return self._call("fact_search", **named, as_of=day)
        found = self._call("fact_history", **named)
        found = [line for line in found if self.truth.of([line], asked)]
        return [found[-2], found[-1]] if len(found) > 1 else found

    def _call(self, name: str, **arguments: str) -> list[str]:
        """The lines of an answer after its head; none of a refusal."""
        try:
            answer = self.agent.call(name, arguments)
        except ToolError:
            return []
        return answer.splitlines()[1:]


@contextmanager
def lived(
    truth: Truth,
    *,
    embedding: str,
    background: Background,
    every: int = 0,
    more: dict[str, Any] | None = None,
) -> Iterator[Lived]:
    """The agent, when the last day is over and everything is written."""
    life = truth.life
    with tempfile.TemporaryDirectory(prefix="pagemind-life-") as folder:
        clock = FrozenClock(life.turns[0].at - timedelta(minutes=1))
        embedder = make_embedder(embedding)
        voice = Voice(life, background, inserts=not every)
        model = ScriptedModel(voice, summary=summary_of, count=_tokens, keep=1)
        home = Path(folder) / "home"
        with Runtime(home, clock=clock, embedder=embedder, background=False) as runtime:
            agent = runtime.agent(AGENT, _definition(embedding, more or {}), model=model)
            made = Lived(runtime, agent, clock, voice, truth, every)
            day = 0
            for turn in life.turns:
                if turn.day != day:
                    agent.new_conversation()
                    day = turn.day
                clock.advance(seconds=(turn.at - clock.now()).total_seconds())
                say(made, turn)
                if turn.kind == "forget":
                    made.forget(turn)
                if every and turn.number % every == 0:
                    made.sleep()
            clock.advance(seconds=3600)
            if every:
                made.sleep()
            assert runtime.drain(agent, DRAIN_SECONDS), "the write-back did not end"
            yield made
            runtime.drain(agent, DRAIN_SECONDS)  # before its folder goes


def say(made: Lived, turn: Spoken) -> None:
    """One turn, as the life has it."""
    made.voice.turn, made.voice.query = turn, turn.text if turn.kind == "ask" else ""
    done = made.agent.send(turn.text, speaker=turn.speaker)
    assert done.stop_reason == "answered", f"turn {turn.number}: {done.stop_reason}"


def _tokens(text: str) -> int:
    """About as many."""
    return len(text) // 4


def _definition(embedding: str, more: dict[str, Any]) -> AgentDefinition:
    written = {
        "name": AGENT, "embedding": embedding, "timezone": "UTC", "context_window": 16384, **more
    }  # fmt: skip
    return parse_definition(json.dumps(written), "benchmark")  # JSON is YAML
