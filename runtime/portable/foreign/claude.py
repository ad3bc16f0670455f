"""Claude's data export: conversations.json, a list of conversations with `chat_messages`.

A message has a sender ("human" or "assistant"), `text`, and `content`: blocks of text, thinking,
tool_use and tool_result. Texts that were extracted from attachments are part of what was said.
Where messages name their parents, the branch of the newest one is taken.
"""

import json
from collections.abc import Iterator
from typing import Any

from pagemind.runtime.portable.foreign.items import Call, Item, Left, Said, Talk
from pagemind.runtime.portable.foreign.openai import NO_MEDIA, text_of
from pagemind.runtime.portable.foreign.source import Source
from pagemind.runtime.portable.foreign.times import Times


def read(source: Source, times: Times) -> Iterator[Item]:
    """Every conversation, in the order of the file."""
    if source.starts() == "[":
        values = source.items("item")
    else:
        inside = source.first_key(("conversations", "chat_messages"))
        values = source.items("conversations.item" if inside == "conversations" else "")
    for value in values:
        if isinstance(value, dict) and isinstance(value.get("chat_messages"), list):
            yield from _talk(value, times)
        else:
            yield Left("conversation", "it has no chat_messages")


def _talk(talk: dict[str, Any], times: Times) -> Iterator[Item]:
    all_of_it = [each for each in talk["chat_messages"] if isinstance(each, dict)]
    messages = _branch(all_of_it)
    if not messages:
        return
    key = str(talk.get("uuid") or messages[0].get("uuid") or "")
    yield Talk(key, times.of(talk))
    for at, message in enumerate(messages):
        yield from _message(message, f"{key} {message.get('uuid') or at}", times)
    if others := len(all_of_it) - len(messages):
        yield Left("message of another branch", "only the current branch is taken", others)


def _branch(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """From the first message to the last one, by parents; all of them, where they name none."""
    by_id = {str(each["uuid"]): each for each in messages if each.get("uuid")}
    parents = [str(each.get("parent_message_uuid") or "") for each in messages]
    if len(by_id) < len(messages) or not any(parent in by_id for parent in parents):
        return messages
    path: list[dict[str, Any]] = []
    seen: set[str] = set()
    at = str(messages[-1]["uuid"])
    while at in by_id and at not in seen:
        seen.add(at)
        path.append(by_id[at])
        at = str(by_id[at].get("parent_message_uuid") or "")
    return path[::-1]


def _message(message: dict[str, Any], key: str, times: Times) -> Iterator[Item]:
    sender, at = message.get("sender"), times.of(message)
    yield from _files(message)
    if sender in ("human", "user"):
        text, left = _blocks_text(message)
        yield from left
        yield Said("user", "\n\n".join([text, *_extracted(message)]).strip(), key, at)
        return
    if sender != "assistant":
        yield Left("message", f"its sender is {str(sender)[:40]!r}")
        return
    content = message.get("content")
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    if not any(block.get("type") in ("tool_use", "tool_result") for block in blocks):
        text, left = _blocks_text(message)
        yield from left
        yield Said("assistant", text, key, at)
        return
    yield from _steps(blocks, key, at)


def _steps(blocks: list[dict[str, Any]], key: str, at: Any) -> Iterator[Item]:
    """An answer with calls in between: text, call, result, text … as messages of their own."""
    texts: list[str] = []
    calls: list[Call] = []
    number = 0
    for block in blocks:
        kind = block.get("type")
        if calls and kind not in ("tool_use", "tool_result"):
            yield Said("assistant", "\n".join(texts), f"{key} {number}", at, calls=tuple(calls))
            texts, calls, number = [], [], number + 1
        if kind == "text":
            texts.append(str(block.get("text") or ""))
        elif kind == "tool_use":
            given = json.dumps(block.get("input") or {}, ensure_ascii=False)
            name = str(block.get("name") or "function")
            calls.append(Call(str(block.get("id") or f"call {number} {len(calls)}"), name, given))
        elif kind == "tool_result":
            answers = str(block.get("tool_use_id") or (calls[-1].id if calls else ""))
            if calls:
                yield Said("assistant", "\n".join(texts), f"{key} {number}", at, calls=tuple(calls))
                texts, calls, number = [], [], number + 1
            text, left = text_of(block.get("content"))
            yield from left
            ok = not block.get("is_error")
            name = str(block.get("name") or "")
            yield Said("tool", text, f"{key} {number}", at, name, answers=answers, ok=ok)
            number += 1
        else:
            yield _left_block(str(kind))
    if texts or calls:
        yield Said("assistant", "\n".join(texts), f"{key} {number}", at, calls=tuple(calls))


def _blocks_text(message: dict[str, Any]) -> tuple[str, list[Left]]:
    """The text of a message: of its blocks where they have one, else its own."""
    content, texts, left = message.get("content"), [], []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "text":
            texts.append(str(block.get("text") or ""))
        elif isinstance(block, dict):
            left.append(_left_block(str(block.get("type"))))
    text = "\n".join(each for each in texts if each)
    return text or str(message.get("text") or ""), left


def _left_block(kind: str) -> Left:
    if kind in ("thinking", "redacted_thinking"):
        return Left("thought", "a model's reasoning is not carried on")
    return Left(kind[:40], NO_MEDIA)


def _files(message: dict[str, Any]) -> Iterator[Left]:
    """Files that came along, but for the text that was read from them."""
    for name in ("attachments", "files", "files_v2"):
        listed = message.get(name)
        bare = [
            each
            for each in (listed if isinstance(listed, list) else [])
            if not (isinstance(each, dict) and each.get("extracted_content"))
        ]
        if bare and name != "files_v2":  # it lists what `files` lists
            yield Left("attachment", "its content is not in the export", len(bare))


def _extracted(message: dict[str, Any]) -> list[str]:
    listed = message.get("attachments")
    return [
        f"[{each.get('file_name') or 'attachment'}]\n{each['extracted_content']}"
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict) and isinstance(each.get("extracted_content"), str)
        if each["extracted_content"]
    ]
