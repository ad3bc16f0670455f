"""A turn: what it did, what it cost, and which limit ends it.

Every stop has a named reason, listed with what causes it in docs/stop-reasons.md.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pagemind.runtime.errors import ModelError
from pagemind.runtime.flush import Flushed
from pagemind.runtime.message import SPEAK, Message, ToolCall
from pagemind.runtime.model import ModelReply, Usage
from pagemind.runtime.person import ApprovalRequest
from pagemind.runtime.pressure import Pressure
from pagemind.runtime.settings import (
    MAX_IDENTICAL_CALLS,
    MAX_PAGE_INS,
    MAX_STEPS,
    MAX_TOOL_ERRORS,
    MAX_TURN_SECONDS,
)
from pagemind.runtime.state.turns import TurnRow

StopReason = Literal[
    "answered",
    "steps",
    "tool_errors",
    "repeated_call",
    "page_ins",
    "time",
    "tokens",
    "cost",
    "interrupted",
    "empty",
    "refused",
    "model_error",
    "approval",
    "required",
]


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """When a turn ends by force; None is no bound. Seconds of wall time, US dollars of cost.
    `outer` is told between two steps what the turn has taken (steps, tokens, dollars, seconds), and
    says why it must end where a bound that it shares with others is reached."""

    steps: int = MAX_STEPS
    tool_errors: int = MAX_TOOL_ERRORS
    identical_calls: int = MAX_IDENTICAL_CALLS
    page_ins: int = MAX_PAGE_INS
    seconds: float = MAX_TURN_SECONDS
    tokens: int | None = None
    cost: float | None = None
    outer: Callable[[int, Usage, float, float], tuple[StopReason, str] | None] | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One tool call as it went."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    ok: bool
    error: str | None
    ms: float


@dataclass(frozen=True, slots=True)
class Others:
    """What other agents spent to answer a turn's messages: it counts for the turn's limits, and
    stands in their own books."""

    messages: int = 0
    tokens: int = 0
    cost: float = 0.0
    cost_known: bool = True

    def plus(self, turn: "TurnResult") -> "Others":
        """With another agent's turn, and what that led to in its turn."""
        tokens = turn.usage.prompt_tokens + turn.usage.completion_tokens
        theirs = turn.others
        return Others(
            self.messages + 1 + theirs.messages,
            self.tokens + tokens + theirs.tokens,
            self.cost + turn.cost + theirs.cost,
            self.cost_known and turn.cost_known and theirs.cost_known,
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "messages": self.messages,
            "tokens": self.tokens,
            "cost": {"amount": self.cost, "currency": "USD", "known": self.cost_known},
        }


@dataclass
class Turn:
    """A turn while it runs."""

    number: int
    event_seq: int
    conversation: int
    speaker: str
    started: float  # monotonic seconds
    limits: TurnLimits
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    background: Usage = field(default_factory=Usage)
    cost: float = 0.0
    cost_known: bool = True
    calls: list[CallRecord] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    message_ids: list[str] = field(default_factory=list)
    reply_seqs: list[int] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    flushes: int = 0
    pages_written: int = 0
    empties: int = 0
    nudges: int = 0  # to call what is required
    others: Others = Others()
    pending: ApprovalRequest | None = None
    waited: float = 0.0  # seconds that a person took to answer
    _errors_in_a_row: int = 0
    _last_call: tuple[str, str] = ("", "")
    _same_calls: int = 0
    _page_ins: int = 0

    def exceeded(self, now: float, day_cost_left: float | None) -> StopReason | None:
        """The limit that forbids another step, if one does."""
        limits = self.limits
        if self.steps >= limits.steps:
            return self._stop("steps", f"{self.steps} steps")
        if now - self.started - self.waited > limits.seconds:
            return self._stop("time", f"more than {limits.seconds:g} seconds")
        spent = self.usage.prompt_tokens + self.usage.completion_tokens + self.others.tokens
        if limits.tokens is not None and spent >= limits.tokens:
            return self._stop("tokens", f"{spent:,} of {limits.tokens:,} tokens")
        cost = self.cost + self.others.cost
        if limits.cost is not None and cost >= limits.cost:
            return self._stop("cost", f"{cost:.4f} of {limits.cost:g} US dollars")
        if limits.outer is not None:
            told = limits.outer(self.steps, self.usage, self.cost, now - self.started)
            if told is not None:
                return self._stop(*told)
        if day_cost_left is not None and day_cost_left <= 0:
            return self._stop("cost", "the day's budget is spent")
        return self.stuck()

    def stuck(self) -> StopReason | None:
        """The limit that forbids another call, also one of the same reply."""
        limits = self.limits
        if self._errors_in_a_row >= limits.tool_errors:
            return self._stop("tool_errors", f"{self._errors_in_a_row} failed calls in a row")
        if self._same_calls >= limits.identical_calls:
            name = self._last_call[0]
            return self._stop("repeated_call", f"{name} {self._same_calls} times alike")
        if self._page_ins > limits.page_ins:
            return self._stop("page_ins", f"{self._page_ins} page-ins")
        return None

    def _stop(self, reason: StopReason, detail: str) -> StopReason:
        self.reasons.append(f"{reason}: {detail}")
        return reason

    def wait(self, seconds: float) -> None:
        """A person took so long to answer."""
        self.waited += seconds

    def count_reply(self, reply: ModelReply) -> None:
        self.usage += reply.usage
        self.cost += reply.cost or 0.0
        self.cost_known = self.cost_known and reply.cost is not None

    def count_flush(self, flushed: Flushed | None) -> None:
        if flushed is not None:
            self.flushes += 1
            self.pages_written += len(flushed.pages)
            self.background += flushed.usage

    def meet(self, call: ToolCall) -> int:
        """Count a call before it runs; how many times in a row it was made alike."""
        arguments = call.parsed()
        key = (call.name, json.dumps(arguments, sort_keys=True) if arguments else call.arguments)
        self._same_calls = self._same_calls + 1 if key == self._last_call else 1
        self._last_call = key
        if call.name == "page_in":
            self._page_ins += 1
        return self._same_calls

    def record(self, call: CallRecord) -> None:
        self.calls.append(call)
        self._errors_in_a_row = 0 if call.ok else self._errors_in_a_row + 1


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What a turn came to. `text` is what the person reads; `error` says why a model failed."""

    agent: str
    text: str
    stop_reason: StopReason
    reasons: tuple[str, ...]
    turn: int
    conversation: int
    speaker: str
    model: str
    steps: int
    usage: Usage
    background_tokens: int
    cost: float
    cost_known: bool
    tool_calls: tuple[CallRecord, ...]
    flushes: int
    pages_written: int
    warnings: tuple[str, ...]
    window: Mapping[str, Any]
    message_ids: tuple[str, ...]
    duration_ms: float
    error: ModelError | None = None
    pending: Mapping[str, Any] | None = None  # the call that waits: id, name, arguments, effect
    others: Others = Others()
    data: Any = None  # the value of a reply that was asked to fit a schema (structured.py)

    def as_json(self) -> dict[str, Any]:
        """The answer of `send --json` (contract), without the schema number."""
        return {
            "agent": self.agent,
            "text": self.text,
            "stop_reason": self.stop_reason,
            "reasons": list(self.reasons),
            "turn": self.turn,
            "conversation": self.conversation,
            "speaker": self.speaker,
            "model": self.model,
            "steps": self.steps,
            "usage": {
                "prompt_tokens": self.usage.prompt_tokens,
                "completion_tokens": self.usage.completion_tokens,
                "cached_tokens": self.usage.cached_tokens,
                "background_tokens": self.background_tokens,
            },
            "cost": {"amount": self.cost, "currency": "USD", "known": self.cost_known},
            "tool_calls": [
                {
                    "id": c.id,
                    "name": c.name,
                    "arguments": dict(c.arguments),
                    "ok": c.ok,
                    "error": c.error,
                    "ms": round(c.ms, 3),
                }
                for c in self.tool_calls
            ],
            "flushes": self.flushes,
            "pages_written": self.pages_written,
            "warnings": list(self.warnings),
            "window": dict(self.window),
            "message_ids": list(self.message_ids),
            "duration_ms": round(self.duration_ms, 3),
            **({"others": self.others.as_json()} if self.others.messages else {}),
            **({} if self.pending is None else {"pending": dict(self.pending)}),
            **({} if self.data is None else {"data": _plain(self.data)}),
        }


def _plain(data: Any) -> Any:
    """What a pydantic model holds, as JSON has it."""
    return data.model_dump(mode="json") if hasattr(data, "model_dump") else data


def heard(messages: Sequence[Message], *, heartbeat: bool) -> list[str]:
    """What the person was told by messages of a turn: its replies, and what send_message said
    where it ran. With protocol heartbeat text beside calls is private thought."""
    ran = {m.tool_call_id for m in messages if m.role == "tool" and m.ok}
    texts = []
    for message in messages:
        if message.role != "assistant":
            continue
        if message.text and not (heartbeat and message.tool_calls):
            texts.append(message.text)
        for call in message.tool_calls:
            if call.name == SPEAK and call.id in ran:
                texts.append(str(call.parsed().get("message", "")))
    return texts


def window_json(pressure: Pressure) -> dict[str, Any]:
    """`window` of the answer: tokens of our own counter."""
    return {
        "used": pressure.used,
        "usable": pressure.usable,
        "room": pressure.room,
        "level": str(pressure.level),
    }


def stored_result(agent: str, row: TurnRow, text: str) -> TurnResult:
    """The result of a turn that ended before, for a client that asks again."""
    stored = row.result
    usage = stored["usage"]
    return TurnResult(
        agent=agent,
        text=text,
        stop_reason=stored["stop_reason"],
        reasons=row.reasons,
        turn=row.turn,
        conversation=row.conversation,
        speaker=row.speaker,
        model=stored["model"],
        steps=stored["steps"],
        usage=Usage(usage["prompt_tokens"], usage["completion_tokens"], usage["cached_tokens"]),
        background_tokens=usage["background_tokens"],
        cost=stored["cost"]["amount"],
        cost_known=stored["cost"]["known"],
        tool_calls=tuple(CallRecord(**call) for call in stored["tool_calls"]),
        flushes=stored["flushes"],
        pages_written=stored["pages_written"],
        warnings=tuple(stored["warnings"]),
        window=stored["window"],
        message_ids=tuple(stored["message_ids"]),
        duration_ms=stored["duration_ms"],
        pending=stored.get("pending"),
        others=_stored_others(stored.get("others")),
    )


def _stored_others(stored: Mapping[str, Any] | None) -> Others:
    if stored is None:
        return Others()
    cost = stored["cost"]
    return Others(stored["messages"], stored["tokens"], cost["amount"], cost["known"])
