"""OpenAI-style chats: a list of messages, an object with `messages`, a list or lines of either.

The format is that of the chat completions API (role, content as text or parts, tool_calls and
tool_call_id, the older function_call), with a time where a message has one.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from pagemind.runtime.portable.foreign.items import Call, Item, Left, Said, Talk
from pagemind.runtime.portable.foreign.source import Source
from pagemind.runtime.portable.foreign.times import Times

_TEXTS = frozenset({"text", "input_text", "output_text"})
_MEDIA = {"image_url": "image", "input_image": "image", "input_audio": "recording", "file": "file"}
_LISTS = ("messages", "conversations", "chats", "items", "data")
OWN_PROMPT = "an agent here has instructions of its own"
NO_MEDIA = "only text is taken"


def read(source: Source, times: Times) -> Iterator[Item]:
    """A JSON file."""
    if source.starts() == "[":
        yield from _records(source.items("item"), times)
    else:
        key = source.first_key(_LISTS)
        yield from _records(source.items(f"{key}.item" if key else ""), times)


def read_lines(source: Source, times: Times) -> Iterator[Item]:
    """A file of JSON lines: a message or a conversation each."""
    yield from _records((value for _, value in source.lines()), times)


def _records(values: Iterable[Any], times: Times) -> Iterator[Item]:
    """Messages one after the other are one talk, a record with `messages` is one of its own."""
    seen: dict[str, int] = {}
    keys: _Keys | None = None
    for value in values:
        if not isinstance(value, dict):
            yield Left("record", "it is no JSON object")
        elif isinstance(value.get("messages"), list):
            keys = None
            yield from _talk(value, times, seen)
        elif "role" in value:
            named = _id(value, "conversation_id", "session_id", "thread_id")
            if keys is None or named != keys.named:
                keys = _Keys(named, seen, [value])
                yield Talk(keys.talk, times.of(value), by_pauses=not named)
            yield from _message(value, keys, times)
        else:
            yield Left("record", "it has neither a role nor messages")


def _talk(record: dict[str, Any], times: Times, seen: dict[str, int]) -> Iterator[Item]:
    messages = [each for each in record["messages"] if isinstance(each, dict)]
    keys = _Keys(_id(record, "id", "conversation_id"), seen, messages)
    yield Talk(keys.talk, times.of(record))
    for message in messages:
        yield from _message(message, keys, times)
    if bad := len(record["messages"]) - len(messages):
        yield Left("message", "it is no JSON object", bad)


class _Keys:
    """Keys within a talk: its messages' own ids, or their content and how often it came before."""

    def __init__(self, named: str, seen: dict[str, int], first: list[dict[str, Any]]) -> None:
        self.named = named
        opening = named or _digest([_said(each) for each in first[:2]])
        seen[opening] = seen.get(opening, 0) + 1
        self.talk = opening if named or seen[opening] == 1 else f"{opening} {seen[opening]}"
        self._times: dict[str, int] = {}

    def of(self, message: dict[str, Any]) -> str:
        if own := _id(message, "id", "uuid"):
            return f"{self.talk} {own}"
        digest = _digest(_said(message))
        self._times[digest] = self._times.get(digest, 0) + 1
        return f"{self.talk} {digest} {self._times[digest]}"


def _id(record: dict[str, Any], *names: str) -> str:
    for name in names:
        if isinstance(record.get(name), str | int) and str(record[name]).strip():
            return str(record[name])
    return ""


def _said(message: dict[str, Any]) -> list[Any]:
    names = ("role", "content", "tool_calls", "function_call", "tool_call_id", "name")
    return [message.get(name) for name in names]


def _digest(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


def _message(message: dict[str, Any], keys: _Keys, times: Times) -> Iterator[Item]:
    role = message.get("role")
    key, at = keys.of(message), times.of(message)
    text, left = text_of(message.get("content"))
    yield from left
    speaker = str(message.get("name") or message.get("speaker") or "")
    if role in ("system", "developer"):
        yield Left("system prompt", OWN_PROMPT)
    elif role in ("tool", "function"):
        answers = str(message.get("tool_call_id") or "")
        yield Said("tool", text, key, at, speaker, answers=answers)
    elif role == "assistant":
        calls = tuple(_calls(message))
        yield Said("assistant", text or str(message.get("refusal") or ""), key, at, speaker, calls)
    elif role in ("user", "human"):
        yield Said("user", text, key, at, speaker)
    else:
        yield Left("message", f"its role is {str(role)[:40]!r}")


def _calls(message: dict[str, Any]) -> Iterator[Call]:
    made = message.get("tool_calls")
    for each in made if isinstance(made, list) else []:
        if isinstance(each, dict):
            yield call_of(each)
    if isinstance(message.get("function_call"), dict):
        yield call_of({"function": message["function_call"]})


def call_of(call: dict[str, Any]) -> Call:
    """A call as the API has it."""
    function = call.get("function")
    body = function if isinstance(function, dict) else call
    arguments = body.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments or {}, ensure_ascii=False)
    return Call(str(call.get("id") or ""), str(body.get("name") or "function"), arguments)


def text_of(content: Any) -> tuple[str, list[Left]]:
    """The text of content in any of its forms, and what it has beside."""
    if content is None:
        return "", []
    if isinstance(content, str):
        return content, []
    texts: list[str] = []
    left: list[Left] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("type") in _TEXTS | {None}:
            texts.append(str(part.get("text") or ""))
        elif isinstance(part, dict) and part.get("type") == "refusal":
            texts.append(str(part.get("refusal") or ""))
        else:
            kind = str(part.get("type")) if isinstance(part, dict) else "part"
            left.append(Left(_MEDIA.get(kind, kind[:40]), NO_MEDIA))
    return "\n".join(text for text in texts if text), left
