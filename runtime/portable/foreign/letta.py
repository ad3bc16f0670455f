"""Letta's agent file (.af): JSON with an agent's blocks and messages, in its two layouts.

The newer one lists `agents` (each with `messages` and `block_ids`) beside `blocks`; the older one
is one agent with `core_memory` and `messages`. Older agents speak through the function
send_message: what it said is taken as what the agent said. Functions, models, keys and the system
prompt stay out.
"""

import json
from collections.abc import Iterator
from typing import Any

from pagemind.runtime.errors import BadExport
from pagemind.runtime.message import SPEAK
from pagemind.runtime.portable.foreign.items import Call, Item, Kept, Known, Left, Said, Talk
from pagemind.runtime.portable.foreign.openai import OWN_PROMPT, call_of, text_of
from pagemind.runtime.portable.foreign.source import Source
from pagemind.runtime.portable.foreign.times import Times
from pagemind.runtime.settings import BLOCK_LIMIT

_TALK = ("user_message", "message")


def read(source: Source, times: Times) -> Iterator[Item]:
    """The agent of the file. Raises BadExport for several: which one would it be?"""
    for value in source.items(""):
        if not isinstance(value, dict):
            raise BadExport(f"{source.path} is no Letta agent file")
        agents = value.get("agents")
        if isinstance(agents, list):
            found = [each for each in agents if isinstance(each, dict)]
            if len(found) != 1:
                raise BadExport(
                    f"{source.path} holds {len(found)} agents; one is imported at a time",
                    hint="export the agent that you want by itself",
                )
            blocks = _named(value.get("blocks"), found[0].get("block_ids"))
            yield from _agent(found[0], blocks, times)
            yield from _outside(value)
        elif isinstance(value.get("messages"), list):
            yield from _agent(value, value.get("core_memory"), times)
            yield from _outside(value)
        else:
            raise BadExport(
                f"{source.path} is a Letta agent file of a layout that is not known here",
                hint="is it from a newer version? nothing was imported",
            )


def _named(blocks: Any, ids: Any) -> list[Any]:
    """The agent's blocks, in the order of the file."""
    listed = blocks if isinstance(blocks, list) else []
    if not isinstance(ids, list) or not ids:
        return listed
    return [each for each in listed if isinstance(each, dict) and each.get("id") in ids]


def _outside(value: dict[str, Any]) -> Iterator[Left]:
    for key, what in (("tools", "function"), ("files", "file"), ("mcp_servers", "MCP server")):
        listed = value.get(key)
        if isinstance(listed, list) and listed:
            yield Left(what, "code and files of another tool are not taken", len(listed))


def _agent(agent: dict[str, Any], blocks: Any, times: Times) -> Iterator[Item]:
    for block in blocks if isinstance(blocks, list) else []:
        if isinstance(block, dict) and isinstance(block.get("value"), str):
            limit = block.get("limit")
            yield Known(
                str(block.get("label") or ""),
                block["value"],
                limit if isinstance(limit, int) and limit > 0 else BLOCK_LIMIT,
                str(block.get("description") or ""),
            )
    if agent.get("system"):
        yield Left("system prompt", OWN_PROMPT)
    key = str(agent.get("id") or agent.get("name") or "agent")
    yield from _passages(agent, key, times)
    yield Talk(key, times.of(agent), by_pauses=True)
    receipts: set[str] = set()
    for at, message in enumerate(agent.get("messages") or []):
        if isinstance(message, dict):
            yield from _message(message, f"{key} {message.get('id') or at}", times, receipts)
        else:
            yield Left("message", "it is no JSON object")


def _passages(agent: dict[str, Any], key: str, times: Times) -> Iterator[Item]:
    for name in ("archival_memory", "passages", "archival_passages"):
        listed = agent.get(name)
        for each in listed if isinstance(listed, list) else []:
            text = each.get("text") if isinstance(each, dict) else None
            if isinstance(text, str) and text.strip():
                own = str(each.get("id") or text)
                tags = tuple(map(str, each.get("tags") or ()))
                yield Kept(text, f"{key} {own}", times.of(each), tags)


def _message(message: dict[str, Any], key: str, times: Times, receipts: set[str]) -> Iterator[Item]:
    role, at = message.get("role"), times.of(message)
    content = message.get("content")
    text, left = text_of(content if content is not None else message.get("text"))
    yield from left
    if role == "system":
        yield Left("system prompt", OWN_PROMPT)
    elif role == "user":
        said = _unwrapped(text)
        if said is None:
            yield Left("notice of Letta's own", "it says nothing about the talk")
        else:
            yield Said("user", said, key, at, str(message.get("name") or ""))
    elif role == "assistant":
        made = message.get("tool_calls")
        calls = [call_of(each) for each in made or () if isinstance(each, dict)]
        spoken = [_spoken(call) for call in calls if call.name == SPEAK]
        receipts.update(call.id for call in calls if call.name == SPEAK)
        others = tuple(call for call in calls if call.name != SPEAK)
        # With send_message the text beside it was a thought that nobody heard.
        told = "\n\n".join(spoken) if spoken else text
        if told or others or not calls:
            yield Said("assistant", told, key, at, calls=others)
    elif role == "tool":
        yield from _results(message, text, key, at, receipts)
    else:
        yield Left("message", f"its role is {str(role)[:40]!r}")


def _results(
    message: dict[str, Any], text: str, key: str, at: Any, receipts: set[str]
) -> Iterator[Item]:
    """One message may answer several calls."""
    returns = message.get("tool_returns")
    found = [each for each in returns or () if isinstance(each, dict) and each.get("tool_call_id")]
    if len(found) < 2:
        answers = str(message.get("tool_call_id") or (found and found[0]["tool_call_id"]) or "")
        found = [{"tool_call_id": answers, "func_response": text}]
    for number, each in enumerate(found):
        answers = str(each["tool_call_id"])
        if answers in receipts:
            continue
        result, ok = _result(str(each.get("func_response") or ""))
        ok = ok and each.get("status") != "error"
        name = str(message.get("name") or "")
        yield Said("tool", result, f"{key} {number}", at, name, answers=answers, ok=ok)


def _spoken(call: Call) -> str:
    return str(_object(call.arguments).get("message") or "")


def _unwrapped(text: str) -> str | None:
    """What the person said: older versions wrap it as JSON with a type; None for a notice."""
    wrapped = _object(text)
    kind = wrapped.get("type")
    if not isinstance(kind, str):
        return text
    if kind in _TALK and isinstance(wrapped.get("message"), str):
        return str(wrapped["message"])
    return None


def _result(text: str) -> tuple[str, bool]:
    wrapped = _object(text)
    if isinstance(wrapped.get("status"), str) and "message" in wrapped:
        return str(wrapped["message"]), wrapped["status"].upper() == "OK"
    return text, True


def _object(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
