"""What tests of the write path share: a model that finds the facts it is told to and decides as it
is told to, and looks at what became of them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from sleep_kit import Bed

from pagemind.runtime.model import ModelRequest
from pagemind.runtime.passage import Passage
from pagemind.runtime.sleep.consolidate import Consolidate
from pagemind.runtime.sleep.extract import Extract
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.state.changes import STATES, Change
from pagemind.runtime.testing import ScriptedModel

Decide = Callable[[str], Sequence[dict[str, Any]]]


def fact(
    quote: str, text: str, subject: str, relation: str = "", object: str = "", **more: Any
) -> dict[str, Any]:
    """One as a model answers it."""
    said = {"quote": quote, "text": text, "subject": subject, "relation": relation}
    return {**said, "object": object, "since": "", "importance": 5, **more}


def decision(new: int, op: str, known: int = 0, text: str = "") -> dict[str, Any]:
    return {"new": new, "op": op, "known": known, "text": text}


class Worker:
    """The worker's model: `facts` are what it finds next, `decisions` what it decides."""

    def __init__(self) -> None:
        self.facts: Any = []
        self.decisions: Any = []
        self.model = ScriptedModel(self._answer)

    def _answer(self, request: ModelRequest) -> str:
        prompt = request.messages[0].text
        key, answer = "facts", self.facts
        if '"decisions"' in prompt:
            key, answer = "decisions", self.decisions
        if callable(answer):
            answer = answer(prompt)
        return answer if isinstance(answer, str) else json.dumps({key: answer})

    @property
    def prompts(self) -> list[str]:
        return [request.messages[0].text for request in self.model.requests]


def tend(bed: Bed, worker: Worker | None, **spec: Any) -> SleepContext:
    """Extract, then consolidate, as one sleep does."""
    model = worker.model if worker else None
    bed.run(Extract(), model, **spec)
    return bed.run(Consolidate(), model, **spec)


def told(bed: Bed, worker: Worker, text: str, *facts: dict[str, Any], speaker: str = "Sam") -> None:
    """Somebody says something, the worker finds these facts in it."""
    bed.clock.advance(seconds=86400)
    bed.turn(text, speaker=speaker)
    worker.facts = list(facts)
    tend(bed, worker)


def current(bed: Bed) -> list[str]:
    """The texts that hold now, the oldest first."""
    passages = bed.state.passages.newest(1000)[::-1]
    return [each.text for each in passages if each.standing == "active"]


def record(bed: Bed, text: str) -> Passage:
    return next(each for each in bed.state.passages.newest(1000) if each.text == text)


def changes(bed: Bed) -> list[Change]:
    return bed.state.changes.in_state(*STATES)
