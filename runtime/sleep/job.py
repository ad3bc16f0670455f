"""Job: one kind of work on an agent's memory between turns; SleepContext: what it is given.

A job reads and writes under `held()`, and thinks (asks a model) outside it, so that a turn never
waits for a model. What it plans is a row of `state.changes` before it is made; where it left off
stands in `cursor`/`set_cursor`. It may be stopped anywhere and is taken up again.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, Final, Protocol

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.definition_parts import Semantic, Sleeping
from pagemind.runtime.errors import (
    BadReply,
    BadRequest,
    ContextOverflow,
    OutputReserveConflict,
    PagemindError,
)
from pagemind.runtime.memory_bounds import Forgetting
from pagemind.runtime.memory_kinds import Kind
from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.model import Model, ModelReply, ModelRequest
from pagemind.runtime.outbox import Tier
from pagemind.runtime.profile import Profile
from pagemind.runtime.services import Core, Hit, SearchFilters
from pagemind.runtime.state.state import State

# What a model raises of one question: asked again it would say the same, and cost the same.
UNANSWERABLE: Final = (BadReply, BadRequest, ContextOverflow, OutputReserveConflict)
_KEY = "sleep"  # of meta: a JSON object, job → [newest seq then, where it was], …
_MARKS = 32  # that are kept of a job

Near = Callable[[str, int, SearchFilters], list[tuple[str, float]]]
Find = Callable[[Tier, str, SearchFilters, int], Sequence[Hit]]


def kept(state: State, key: str) -> dict[str, Any]:
    """A JSON object in `meta`; {} for what is none: it may have come out of a file."""
    try:
        found = json.loads(state.database.meta(key, "{}"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(slots=True)
class Report:
    """What a run of jobs did: counts by name (added, superseded, noop, …), model calls, tokens."""

    done: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """`memory sleep --json`, the event `slept` and the line of `up`."""
        tokens = self.prompt_tokens + self.completion_tokens
        return {"done": dict(self.done), "calls": self.calls, "tokens": tokens, "notes": self.notes}

    def count(self, name: str, many: int = 1) -> None:
        if many:
            self.done[name] = self.done.get(name, 0) + many


@dataclass(slots=True)
class SleepContext:
    """One agent as its jobs see it.

    `model` is None where no model may be asked: a job that needs one is then not due. `near` gives
    short ids and cosines of passages, the closest first; empty where no embedder works. `held` is
    the agent's lock; `written` has changed rows written back; `may_write` says whether the agent's
    declared kinds let the worker write working, episodic, semantic or procedural memory. `profiles`
    are the blocks that hold JSON; `core(trust)` edits core memory as the worker, within limits and
    schemas (`patch` sets fields of a profile). `eager`: nobody wants to
    wait until there is more of it, as somebody does who works at every pause.
    """

    agent: str
    state: State
    spec: Sleeping
    model: Model | None
    near: Near
    now: Callable[[], datetime]
    zone: tzinfo
    count: Callable[[str], int]
    room: Callable[[], int]  # tokens that a request of a job may have
    held: Callable[[], AbstractContextManager[object]]
    written: Callable[[], None]
    report: Report = field(default_factory=Report)
    may_write: Callable[[Kind], bool] = lambda kind: True
    semantic: Semantic = "collection"
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    core: Callable[[int], Core] | None = None
    scope: str = "/"
    forget: Forgetting = field(default_factory=Forgetting)
    affordable: Callable[[], bool] = lambda: True
    search: Find = lambda tier, query, filters, limit: ()
    near_pages: Callable[[str, int], list[tuple[str, float]]] = lambda text, limit: []
    eager: bool = True

    @property
    def review(self) -> bool:
        """Whether a person looks at changes before they are made."""
        return self.spec.review == "ask"

    def reply(self, most: int) -> int:
        """The tokens that an answer may have: no more than so many, nor than a third of the
        room."""
        return min(most, max(128, self.room() // 3))

    def ask(
        self,
        prompt: str,
        *,
        max_tokens: int,
        schema: dict[str, Any] | None = None,
        cancel: CancelToken,
    ) -> ModelReply:
        """One background call of the worker's model; counted. Raises what the model raises,
        Cancelled among it; PagemindError where the budget is used up."""
        assert self.model is not None
        if not self.affordable():
            raise PagemindError("the budget for background work is used up")
        message = Message("user", (Text(prompt),), provenance=Provenance("runtime"))
        reply = self.model.complete(
            ModelRequest(
                system=(),
                messages=(message,),
                max_tokens=max_tokens,
                response_schema=schema,
                purpose="background",
            ),
            cancel=cancel,
        )
        self.report.calls += 1
        self.report.prompt_tokens += reply.usage.prompt_tokens
        self.report.completion_tokens += reply.usage.completion_tokens
        return reply

    def cursor(self, job: str) -> Any:
        """What set_cursor() kept for a job, as it was known on the current line; None at first."""
        lines = self.state.journal.lines
        return next(
            (value for seq, value in reversed(self._marks(job)) if lines.contains(seq)), None
        )

    def set_cursor(self, job: str, value: Any) -> None:
        """Keep where a job is, as JSON; within the transaction that did the work. What was kept on
        other lines, or before, stays: turns that are taken back take back that they were read."""
        seq = self.state.journal.last_seq
        marks = [*(mark for mark in self._marks(job) if mark[0] != seq), [seq, value]]
        if len(marks) > _MARKS:  # of what is long ago fewer will do
            marks = [*marks[: _MARKS // 2 : 2], *marks[_MARKS // 2 :]]
        cursors = {**kept(self.state, _KEY), job: marks}
        self.state.database.set_meta(_KEY, json.dumps(cursors, ensure_ascii=False))

    def _marks(self, job: str) -> list[Any]:
        """The newest seq of then and the value of each mark, the oldest first."""
        marks = kept(self.state, _KEY).get(job)
        return marks if isinstance(marks, list) else []


class Job(Protocol):
    """One kind of work."""

    @property
    def name(self) -> str:
        """As reports, `changes.job` and YAML have it."""

    def due(self, context: SleepContext) -> bool:
        """Whether there is something to do; cheap, under the lock."""

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        """Do it, or as much as is sensible at once; outside the lock. Raises Cancelled, ModelError,
        StorageError: nothing that was committed is undone, the rest is due again."""
