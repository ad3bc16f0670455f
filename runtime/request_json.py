"""A request as JSON and as text, to read and to compare. Pure.

request_json() is for programs; canonical() loses nothing: two requests are the same, to the byte,
where their canonical forms are.
"""

import json
from collections.abc import Iterator
from typing import Any

from pagemind.runtime.message import Message, parts_to_json
from pagemind.runtime.model import ModelRequest


def request_json(request: ModelRequest) -> dict[str, Any]:
    """Texts, calls and functions in their order; what only providers read is left out."""
    return {
        "system": list(request.system),
        "messages": [_message(message) for message in request.messages],
        "tools": [
            {"name": t.name, "description": t.description, "parameters": t.parameters}
            for t in request.tools
        ],
        "max_tokens": request.max_tokens,
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        "id": message.short_id if message.seq else None,
        "role": message.role,
        "kind": message.kind,
        "speaker": message.speaker,
        "text": message.text,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.parsed()}
            for call in message.tool_calls
        ],
        "tool_call_id": message.tool_call_id or None,
    }


def canonical(request: ModelRequest) -> bytes:
    """All of a request that a model is given, in one form."""
    body = {
        "system": request.system,
        "messages": [
            [m.role, m.kind, m.seq, json.loads(parts_to_json(m))] for m in request.messages
        ],
        "tools": [[t.name, t.description, t.parameters] for t in request.tools],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "response_schema": request.response_schema,
        "purpose": request.purpose,
        "stable": request.stable,
        "cache_key": request.cache_key,
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def request_lines(request: ModelRequest) -> Iterator[str]:
    """Texts as they are sent, under a line that says what each is."""
    for number, text in enumerate(request.system, 1):
        yield f"--- system, part {number}\n{text}\n"
    for message in request.messages:
        name = f" {message.short_id}" if message.seq else ""
        calls = [f"[call {c.id}] {c.name}({c.arguments})" for c in message.tool_calls]
        body = "\n".join([*([message.text] if message.text else []), *calls])
        yield f"--- {message.role}{name}\n{body}\n"
    for tool in request.tools:
        schema = json.dumps(tool.parameters, ensure_ascii=False)
        yield f"--- function {tool.name}\n{tool.description}\n{schema}\n"
    yield f"--- at most {request.max_tokens:,} tokens of reply"
