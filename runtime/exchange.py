"""A model call as JSON: what traces hold of a request and its reply, and back.

Of the requests of a turn only what the one before did not have is written; exchanges() puts them
together again.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pagemind.runtime.message import Reasoning, ToolCall, parts_to_json
from pagemind.runtime.model import ModelReply, ModelRequest, ToolSchema, Usage
from pagemind.runtime.trace_file import TraceLine


@dataclass(slots=True)
class Exchange:
    """A request as it was sent, and its reply or the error (type, message) with what was shown of
    the reply before it; neither where the process ended first. `step` is 0 beside the turn."""

    step: int
    model: str
    purpose: str
    sha256: str
    system: list[str]
    functions: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    reply: ModelReply | None = None
    error: tuple[str, str] | None = None
    shown: str = ""


def request_json(
    number: int, model: str, digest: str, request: ModelRequest, before: ModelRequest | None
) -> dict[str, Any]:
    """A request, by what it does not share with the one `before`."""
    messages = request.messages
    kept = 0
    if before is not None:
        pairs = zip(messages, before.messages, strict=False)
        kept = next(
            (n for n, (one, other) in enumerate(pairs) if one != other),
            min(len(messages), len(before.messages)),
        )
    body: dict[str, Any] = {
        "number": number,
        "model": model,
        "purpose": request.purpose,
        "sha256": digest,
        "max_tokens": request.max_tokens,
        "kept": kept,
        "messages": [
            {"role": each.role, "seq": each.seq, "content": json.loads(parts_to_json(each))}
            for each in messages[kept:]
        ],
    }
    if before is None or request.system != before.system:
        body["system"] = list(request.system)
    if before is None or request.tools != before.tools:
        body["functions"] = [_schema(each) for each in request.tools]
    return body


def _schema(schema: ToolSchema) -> dict[str, Any]:
    return {
        "id": schema.name,
        "description": schema.description,
        "parameters": schema.parameters,
    }


def reply_json(reply: ModelReply) -> dict[str, Any]:
    """All of a reply."""
    return {
        "text": reply.text,
        "calls": [
            {"id": each.id, "name": each.name, "arguments": each.arguments}
            for each in reply.tool_calls
        ],
        "reasoning": [asdict(each) for each in reply.reasoning],
        "usage": asdict(reply.usage),
        "finish": reply.finish,
        "model": reply.model,
        "cost": reply.cost,
        "calibrates": reply.calibrates,
    }


def reply_from_json(body: Mapping[str, Any]) -> ModelReply:
    """The inverse. Raises KeyError or TypeError for what is no reply."""
    return ModelReply(
        text=body["text"],
        tool_calls=tuple(ToolCall(c["id"], c["name"], c["arguments"]) for c in body["calls"]),
        reasoning=tuple(Reasoning(**each) for each in body["reasoning"]),
        usage=Usage(**body["usage"]),
        finish=body["finish"],
        model=body["model"],
        cost=body["cost"],
        calibrates=body["calibrates"],
    )


class Exchanges:
    """Puts the requests and replies of one agent's lines together, in order."""

    def __init__(self) -> None:
        self._open: dict[int, Exchange] = {}
        self._before: Exchange | None = None
        self._step = 0

    def take(self, line: TraceLine) -> Exchange | None:
        """A new exchange, if the line begins one. Raises KeyError or TypeError for a bad line."""
        data = line.data
        if line.kind == "opened":  # numbers begin anew
            self._open, self._before = {}, None
        elif line.kind == "model_called":
            self._step = data["step"]
        elif line.kind == "reply":
            found = self._open.pop(data["request"])
            if error := data.get("error"):
                found.error, found.shown = (error["type"], error["message"]), data["shown"]
            else:
                found.reply = reply_from_json(data)
        elif line.kind == "request":
            return self._begin(data)
        return None

    def _begin(self, data: Mapping[str, Any]) -> Exchange:
        turn = data["purpose"] == "turn"
        before = self._before if turn else None
        exchange = Exchange(
            step=self._step if turn else 0,
            model=data["model"],
            purpose=data["purpose"],
            sha256=data["sha256"],
            system=data["system"] if "system" in data or before is None else before.system,
            functions=data["functions"]
            if "functions" in data or before is None
            else before.functions,
            messages=[*(before.messages[: data["kept"]] if before else []), *data["messages"]],
        )
        self._open[data["number"]] = exchange
        if turn:
            self._before = exchange
        return exchange


def exchanges(lines: Iterable[TraceLine]) -> list[Exchange]:
    """All of them."""
    together = Exchanges()
    return [found for line in lines if (found := together.take(line)) is not None]
