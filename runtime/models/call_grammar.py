"""Function calling for models without it: a JSON grammar of {reply | call}, and its reading.

`call_schema(tools)` is what the engine enforces, `describe(tools)` the compact list the model
reads, `encode_call()` how an earlier call is shown to it, `parse()` the finished JSON as text and
calls, and `ReplyDecoder` takes the reply's characters out of that JSON while it streams.
"""

import json
from collections.abc import Sequence
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.model import ToolSchema

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def call_schema(tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """A JSON schema that admits one reply, or one call of one of the tools, and nothing else."""
    reply = {
        "type": "object",
        "properties": {"reply": {"type": "string"}},
        "required": ["reply"],
        "additionalProperties": False,
    }
    calls = [
        {
            "type": "object",
            "properties": {"call": {"const": tool.name}, "arguments": _closed(tool.parameters)},
            "required": ["call", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {"anyOf": [reply, *calls]}


def _closed(parameters: dict[str, Any]) -> dict[str, Any]:
    """The tool's own schema without extra keys and with every string bounded: a small model that
    starts to babble inside an argument would otherwise run into the output limit."""
    closed = _bounded(parameters)
    closed["additionalProperties"] = False
    return closed


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    copy: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("description", "default", "title"):
            continue  # the grammar engine has no use for them
        if key == "properties":
            copy[key] = {name: _bounded(each) for name, each in value.items()}
        elif key == "items" and isinstance(value, dict):
            copy[key] = _bounded(value)
        elif key in ("anyOf", "oneOf"):
            copy[key] = [_bounded(each) for each in value]
        else:
            copy[key] = value
    if copy.get("type") == "string" and not {"enum", "const", "maxLength"} & copy.keys():
        copy["maxLength"] = settings.LOCAL_ARGUMENT_CHARS
    return copy


def describe(tools: Sequence[ToolSchema]) -> str:
    """One line for each function: `core_append(block, content): Add a line to …`"""
    lines = []
    for tool in tools:
        required = set(tool.parameters.get("required", ()))
        names = [
            name if name in required else f"{name}?"
            for name in tool.parameters.get("properties", {})
        ]
        first = tool.description.strip().split("\n", 1)[0]
        lines.append(f"{tool.name}({', '.join(names)}): {first}")
    return "\n".join(lines)


def encode_reply(text: str) -> str:
    """A reply as the grammar writes it."""
    return json.dumps({"reply": text}, ensure_ascii=False)


def encode_call(name: str, arguments: dict[str, Any]) -> str:
    """A call as the grammar writes it."""
    return json.dumps({"call": name, "arguments": arguments}, ensure_ascii=False)


def parse(text: str) -> tuple[str, tuple[str, str] | None]:
    """The reply's text and the call as (name, JSON arguments); a cut-off JSON gives what is there.

    A call that was cut off comes back with its broken arguments, for the loop to refuse.
    """
    try:
        value = json.loads(text)
    except ValueError:
        decoder = ReplyDecoder()
        reply = decoder.feed(text)
        if decoder.started:
            return reply, None
        return _cut_call(text)
    if not isinstance(value, dict):
        return text, None
    if "call" in value:
        arguments = json.dumps(value.get("arguments", {}), ensure_ascii=False)
        return "", (str(value["call"]), arguments)
    return str(value.get("reply", "")), None


def _cut_call(text: str) -> tuple[str, tuple[str, str] | None]:
    head, found, tail = text.partition('"arguments"')
    pieces = head.split('"')
    if not found or len(pieces) < 4 or pieces[1] != "call":
        return "", None
    return "", (pieces[3], tail.lstrip(": "))


class ReplyDecoder:
    """Characters of {"reply": "…"} as they arrive; anything else decodes to nothing.

    Escapes may be split between pieces. A surrogate pair written as two escapes comes out as
    one character.
    """

    def __init__(self) -> None:
        self.started = False
        self._head = ""
        self._pending = ""  # an escape that is not complete yet
        self._ended = False

    def feed(self, piece: str) -> str:
        """The new characters of the reply in this piece of JSON."""
        if self._ended:
            return ""
        if not self.started:
            self._head += piece
            opening = self._find_opening()
            if opening < 0:
                return ""
            self.started = True
            piece = self._head[opening:]
        return self._decode(self._pending + piece)

    def _find_opening(self) -> int:
        """Where the reply's text begins in the head, or -1."""
        key = self._head.find('"reply"')
        if key < 0 or self._head[:key].strip() != "{":
            return -1
        colon = self._head.find(":", key)
        quote = self._head.find('"', colon) if colon > 0 else -1
        return quote + 1 if quote > 0 else -1

    def _decode(self, text: str) -> str:
        out = []
        at = 0
        while at < len(text):
            char = text[at]
            if char == '"':
                self._ended = True
                break
            if char != "\\":
                out.append(char)
                at += 1
                continue
            value, length = _escape(text[at:])
            if not length:
                break
            out.append(value)
            at += length
        self._pending = "" if self._ended else text[at:]
        return "".join(out)


def _escape(text: str) -> tuple[str, int]:
    """The character of the escape that `text` begins with, and its length; 0 if incomplete."""
    if len(text) < 2:
        return "", 0
    if text[1] != "u":
        return _ESCAPES.get(text[1], text[1]), 2
    if len(text) < 6:
        return "", 0
    unit = _hex(text[2:6])
    if not 0xD800 <= unit < 0xDC00:
        return (chr(unit) if not 0xDC00 <= unit < 0xE000 else "\ufffd"), 6
    if len(text) < 12 and "\\u".startswith(text[6:8]):
        return "", 0
    low = _hex(text[8:12]) if text[6:8] == "\\u" and len(text) >= 12 else 0
    if 0xDC00 <= low < 0xE000:
        return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), 12
    return "\ufffd", 6


def _hex(digits: str) -> int:
    try:
        return int(digits, 16)
    except ValueError:
        return 0xFFFD
