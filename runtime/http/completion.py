"""A turn as OpenAI's chat completion, whole or in chunks. Pure.

`pagemind` beside OpenAI's keys says what a completion has no word for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pagemind.runtime.errors import LimitExceeded
from pagemind.runtime.http.faults import Fault, fault_of
from pagemind.runtime.turn import TurnResult

# Where a limit ended the turn, the answer is not whole.
_FINISH = {"answered": "stop", "empty": "stop", "refused": "content_filter", "approval": "stop"}
_TOLD = ("stop_reason", "reasons", "turn", "conversation", "warnings", "message_ids", "cost")


@dataclass(slots=True)
class Completion:
    """One answer on its way: what all its chunks have in common."""

    id: str
    model: str
    created: int
    ignored: tuple[str, ...] = ()
    taken_in: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def whole(self, result: TurnResult) -> dict[str, Any]:
        """The answer in one piece."""
        message = {"role": "assistant", "content": result.text, "refusal": None}
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish_of(result),
        }
        body = self._frame("chat.completion", [choice])
        return {**body, "usage": usage_of(result), "pagemind": self._told(result)}

    def first(self) -> dict[str, Any]:
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> dict[str, Any]:
        return self._chunk({"content": text})

    def last(self, result: TurnResult) -> dict[str, Any]:
        body = self._chunk({}, finish_of(result))
        return {**body, "pagemind": self._told(result)}

    def usage(self, result: TurnResult) -> dict[str, Any]:
        """The chunk that `stream_options: {include_usage: true}` asks for."""
        return {**self._frame("chat.completion.chunk", []), "usage": usage_of(result)}

    def _chunk(self, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._frame("chat.completion.chunk", [choice])

    def _frame(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }

    def _told(self, result: TurnResult) -> dict[str, Any]:
        body = result.as_json()
        told = {key: body[key] for key in _TOLD}
        return {**told, "ignored": list(self.ignored), "taken_in": self.taken_in}


def finish_of(result: TurnResult) -> str:
    return _FINISH.get(result.stop_reason, "length")


def usage_of(result: TurnResult) -> dict[str, Any]:
    """All steps of the turn; 0 is unknown."""
    usage = result.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


def failure_of(result: TurnResult) -> Fault | None:
    """What makes a turn an error of the request: its model failed, or there was no money to ask
    it."""
    if result.error is not None:
        return fault_of(result.error)
    if result.stop_reason == "cost" and not result.steps:
        return fault_of(LimitExceeded("; ".join(result.reasons) or "the budget is spent"))
    return None
