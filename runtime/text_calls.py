"""Calls that a model writes as text: `calls_in` reads them, `CallHold` keeps them off the screen.

Many small models, and servers that lack a model's template, put a call into the content. It counts
as one only where the whole content is calls, as sound JSON, of functions that exist: JSON that
somebody asked for is an answer, and a call that stands within prose is talk about it.
"""

import json
import re
from collections.abc import Collection
from typing import Any

from pagemind.runtime.message import ToolCall

_ARGUMENTS = ("arguments", "parameters", "args")
_KEYS = {"name", "type", "id", "function", *_ARGUMENTS}
_TAG, _END_TAG, _MARK = "<tool_call>", "</tool_call>", "[TOOL_CALLS]"
_LABELS = ("json", "tool_call")
_FENCE = re.compile(r"```(?:json|tool_call)?\s*\n(.*?)\n?\s*```", re.DOTALL)
_FENCE_HEAD = re.compile(r"```(?:json|tool_call)?\s*")
_HEAD = re.compile(r"\[?\s*(?:\{\s*(?:\"(?P<key>\w*)(?P<closed>\"?)|\Z)|\Z)")


def calls_in(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """The calls that the text consists of, without ids; none if it is anything else as well."""
    pieces = _pieces(text.strip())
    calls: list[ToolCall] = []
    for piece in pieces:
        try:
            value = json.loads(piece)
        except (ValueError, RecursionError):
            return ()
        for each in value if isinstance(value, list) else [value]:
            call = _call(each)
            if call is None or call.name not in names:
                return ()
            calls.append(call)
    return tuple(calls)


def _pieces(text: str) -> list[str]:
    """The JSON texts that must be read; what is not calls fails to be read."""
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1].strip()
    if text.startswith(_TAG):
        # Some templates never write the last closing tag.
        parts = [part.strip().removesuffix(_END_TAG) for part in text.split(_TAG)[1:]]
        return [part.strip() for part in parts]
    return [text.removeprefix(_MARK).strip()]


def _call(value: Any) -> ToolCall | None:
    if not isinstance(value, dict) or not value.keys() <= _KEYS:
        return None
    inner = value.get("function", value)
    if isinstance(inner, str):  # {"function": "name", "arguments": …}
        inner = {**value, "name": inner}
    if not isinstance(inner, dict) or not isinstance(name := inner.get("name"), str):
        return None
    given = [inner[key] for key in _ARGUMENTS if key in inner]
    if len(given) != 1:
        return None
    arguments = given[0]
    if isinstance(arguments, str):  # encoded twice, as on the wire
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    if not isinstance(arguments, dict):
        return None
    return ToolCall("", name, json.dumps(arguments, ensure_ascii=False))


class CallHold:
    """Feed it the pieces of a stream; it hands back what may be shown.

    Holds back only while the text so far could still be calls. What it holds at the end is the
    caller's to judge: `held` is the whole text then.
    """

    def __init__(self) -> None:
        self.held = ""
        self._passing = False

    def feed(self, piece: str) -> str:
        """What is held back and this piece, if they are no calls; else nothing."""
        if self._passing:
            return piece
        self.held += piece
        if _may_be_calls(self.held):
            return ""
        self._passing = True
        shown, self.held = self.held, ""
        return shown


def _may_be_calls(text: str) -> bool:
    """Whether a text that begins so can still turn out to be calls."""
    text = text.lstrip()
    for opening in (_TAG, _MARK, *(f"```{label}" for label in _LABELS)):
        if opening.startswith(text):
            return True
    if head := _FENCE_HEAD.match(text):
        text = text[head.end() :]
    if text.startswith((_TAG, _MARK)) or (text and _TAG.startswith(text)):
        return True
    begun = _HEAD.match(text)
    if begun is None:
        return False
    key = begun["key"]
    if key is None:
        return True
    return key in _KEYS if begun["closed"] else any(known.startswith(key) for known in _KEYS)
