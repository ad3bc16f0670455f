"""ChatGPT's data export: conversations.json, a list of conversations that are trees of messages.

`mapping` has each node with its parent and children, `current_node` is the end of the branch that
the person last saw; a regenerated answer or an edited question begins another one. Only the current
branch is taken. A message of the assistant to another recipient than "all" is a call of that
function; the next message of the tool answers it.
"""

import json
from collections.abc import Iterator
from typing import Any

from pagemind.runtime.portable.foreign.items import Call, Item, Left, Said, Talk
from pagemind.runtime.portable.foreign.openai import NO_MEDIA, OWN_PROMPT
from pagemind.runtime.portable.foreign.source import Source
from pagemind.runtime.portable.foreign.times import Times

_HIDDEN = frozenset({"thoughts", "reasoning_recap"})
_OF_PERSON = frozenset({"user_editable_context", "model_editable_context"})
_TEXTS = ("text", "result", "content", "summary")


def read(source: Source, times: Times) -> Iterator[Item]:
    """Every conversation, in the order of the file."""
    prefix = "item" if source.starts() == "[" else ""
    for value in source.items(prefix):
        if isinstance(value, dict) and isinstance(value.get("mapping"), dict):
            yield from _talk(value, times)
        else:
            yield Left("conversation", "it has no mapping of messages")


def _talk(talk: dict[str, Any], times: Times) -> Iterator[Item]:
    mapping = talk["mapping"]
    branch = _branch(mapping, talk.get("current_node"))
    if not branch:
        return
    key = str(talk.get("conversation_id") or talk.get("id") or branch[0])
    yield Talk(key, times.of(talk))
    waiting: list[str] = []  # the call that has no result yet
    for node in branch:
        message = mapping[node].get("message")
        if isinstance(message, dict):
            yield from _message(message, f"{key} {node}", node, times, waiting)
    others = sum(
        isinstance(each, dict) and isinstance(each.get("message"), dict) and _shown(each["message"])
        for node, each in mapping.items()
        if node not in set(branch)
    )
    if others:
        yield Left("message of another branch", "only the current branch is taken", others)


def _branch(mapping: dict[str, Any], end: Any) -> list[str]:
    """The nodes from the root to the current one; to the newest leaf, where that is not there."""
    if not isinstance(end, str) or end not in mapping:
        leaves = [k for k, n in mapping.items() if isinstance(n, dict) and not n.get("children")]
        end = max(leaves, key=lambda leaf: _created(mapping[leaf]), default=None)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(end, str) and end in mapping and end not in seen:
        if not isinstance(mapping[end], dict):
            break
        seen.add(end)
        path.append(end)
        end = mapping[end].get("parent")
    return path[::-1]


def _created(node: dict[str, Any]) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, dict) else None
    return float(at) if isinstance(at, int | float) else 0.0


def _shown(message: dict[str, Any]) -> bool:
    """Whether a message is one of the talk, and not of the machinery."""
    author = message.get("author")
    role = author.get("role") if isinstance(author, dict) else ""
    return role in ("user", "assistant") and bool(_text(message.get("content"))[0].strip())


def _message(
    message: dict[str, Any], key: str, node: str, times: Times, waiting: list[str]
) -> Iterator[Item]:
    author = message.get("author") if isinstance(message.get("author"), dict) else {}
    assert isinstance(author, dict)
    role, name = author.get("role"), str(author.get("name") or "")
    content = message.get("content")
    kind = content.get("content_type") if isinstance(content, dict) else ""
    metadata = message.get("metadata") if isinstance(message.get("metadata"), dict) else {}
    assert isinstance(metadata, dict)
    at = times.of(message)
    if kind in _HIDDEN:
        yield Left("thought", "a model's reasoning is not carried on")
        return
    text, media = _text(content)
    if role == "system" or kind in _OF_PERSON:
        if text.strip() or kind in _OF_PERSON:
            yield Left("system prompt", OWN_PROMPT)
        return
    yield from media
    files = metadata.get("attachments")
    if isinstance(files, list) and files:
        yield Left("attachment", "its content is not in the export", len(files))
    if role == "tool":
        answers = waiting.pop(0) if waiting else ""
        yield Said("tool", text, key, at, name, answers=answers)
    elif role == "assistant":
        recipient = str(message.get("recipient") or "all")
        if recipient == "all":
            waiting.clear()
            yield Said("assistant", text, key, at)
        else:
            waiting[:] = [node]
            yield Said("assistant", "", key, at, calls=(Call(node, recipient, _input(text)),))
    elif role == "user":
        waiting.clear()
        if text.strip() or not media:
            yield Said("user", text, key, at, name)
    else:
        yield Left("message", f"its role is {str(role)[:40]!r}")


def _input(text: str) -> str:
    """What a function was given, as the JSON of an object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return text if isinstance(value, dict) else json.dumps({"input": text}, ensure_ascii=False)


def _text(content: Any) -> tuple[str, list[Left]]:
    if not isinstance(content, dict):
        return (content, []) if isinstance(content, str) else ("", [])
    texts: list[str] = []
    left: list[Left] = []
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind = str(part.get("content_type") or "part")
            if isinstance(part.get("text"), str) and part["text"]:  # what was said aloud
                texts.append(part["text"])
            else:
                what = next((w for w in ("image", "audio", "video") if w in kind), "part")
                left.append(Left(what, NO_MEDIA))
    if not texts:
        texts = [content[key] for key in _TEXTS if isinstance(content.get(key), str)][:1]
    return "\n".join(text for text in texts if text), left
