"""What each provider refuses, written down once: `violations(messages, family)` lists the faults.

Independent of runtime/legalise.py on purpose: a test that reused its constants would prove nothing.
"""

import json
import re
from itertools import pairwise
from typing import Any

FAMILIES = ("openai", "anthropic", "gemini", "mistral", "ollama")

_KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "tool_calls", "name"},
    "tool": {"role", "content", "tool_call_id", "name"},
}
_REASONING = {"thinking_blocks", "reasoning_content"}
_ECHO = {
    "openai": {"reasoning_content"},
    "anthropic": _REASONING,
    "ollama": {"reasoning_content"},
}
_ID = {"mistral": r"[a-zA-Z0-9]{9}", "gemini": r".+"}
_ALTERNATING = {"openai", "anthropic", "gemini", "mistral"}
_ENDS_WITH_USER_OR_TOOL = {"anthropic", "gemini", "mistral"}


def violations(messages: list[dict[str, Any]], family: str, *, tools: bool = True) -> list[str]:
    """Every reason for which this provider would answer 400. Empty means legal."""
    faults: list[str] = []
    for number, message in enumerate(messages):
        faults += [f"message {number}: {f}" for f in _one(message, family)]
    roles = [m.get("role") for m in messages]
    if "system" in roles[1:]:
        faults.append("a system message that is not the first")
    body = [m for m in messages if m.get("role") != "system"]
    if not body or body[0].get("role") != "user":
        faults.append("the first message after the system is not the user's")
    if family in _ENDS_WITH_USER_OR_TOOL and body and body[-1].get("role") == "assistant":
        faults.append("the last message is the assistant's")
    for before, after in pairwise(body):
        pair = (before.get("role"), after.get("role"))
        if family in _ALTERNATING and pair in (("user", "user"), ("assistant", "assistant")):
            faults.append(f"two {pair[0]} messages in a row")
        if family == "mistral" and pair == ("tool", "user"):
            faults.append("a user message right after a tool result")
    faults += _pairing(body)
    ids = [c.get("id") for m in body for c in m.get("tool_calls") or ()]
    if family == "anthropic" and len(set(ids)) < len(ids):
        faults.append("a call id is used twice")
    if family == "anthropic" and ids and not tools:
        faults.append("calls in the history, but no functions in the request")
    return faults


def check(messages: list[dict[str, Any]], family: str, *, tools: bool = True) -> None:
    """Raise AssertionError naming every fault."""
    faults = violations(messages, family, tools=tools)
    assert not faults, "; ".join(faults)


def _one(message: dict[str, Any], family: str) -> list[str]:
    faults = []
    role = message.get("role", "")
    if role not in _KEYS:
        return [f"unknown role {role!r}"]
    allowed = _KEYS[role] | (_ECHO.get(family, set()) if role == "assistant" else set())
    if unknown := set(message) - allowed:
        faults.append(f"unknown keys {sorted(unknown)}")
    calls = message.get("tool_calls")
    if calls is not None and not calls:
        faults.append("an empty list of calls")
    content = message.get("content")
    if isinstance(content, list):
        texts = [p.get("text") for p in content]
        if any(p.get("type") != "text" for p in content):
            faults.append("a part that is not text")
    else:
        texts = [content]
    if not texts:
        faults.append("no parts")
    for text in texts:
        if text is None and calls:
            continue
        if not isinstance(text, str) or not text.strip():
            faults.append("empty text")
    for call in calls or ():
        faults += _call(call, family)
    if role == "tool" and not message.get("tool_call_id"):
        faults.append("a result without the id of its call")
    try:
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, TypeError) as error:
        faults.append(f"cannot be encoded: {error}")
    return faults


def _call(call: dict[str, Any], family: str) -> list[str]:
    faults = []
    if set(call) - {"id", "type", "function", "index"} or call.get("type") != "function":
        faults.append(f"a malformed call {call!r}")
    function = call.get("function", {})
    if not re.fullmatch(_ID.get(family, r".{1,256}"), call.get("id") or "", re.DOTALL):
        faults.append(f"call id {call.get('id')!r}")
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function.get("name") or ""):
        faults.append(f"function name {function.get('name')!r}")

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        value = json.loads(function.get("arguments", ""), parse_constant=refuse)
        if not isinstance(value, dict):
            faults.append("arguments that are not an object")
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, TypeError) as error:
        faults.append(f"arguments that are not JSON: {error}")
    return faults


def _pairing(body: list[dict[str, Any]]) -> list[str]:
    """Results stand directly after their call, one for each, and nowhere else."""
    faults = []
    expected: list[str] = []
    for message in body:
        if message.get("role") == "tool":
            given = message.get("tool_call_id", "")
            if given in expected:
                expected.remove(given)
            else:
                faults.append(f"a result for {given!r} without its call before it")
            continue
        if expected:
            faults.append(f"calls without results: {expected}")
        expected = [c.get("id", "") for c in message.get("tool_calls") or ()]
        if len(set(expected)) < len(expected):
            faults.append("two calls of one message share an id")
    if expected:
        faults.append(f"calls without results: {expected}")
    return faults
