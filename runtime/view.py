"""How a resident message is shown: whole, as an excerpt, as a one-line handle, or as a reading.

show() is deterministic: the same message, view and reader give the same text, so that any past
request can be made again from what is stored.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Literal

from pagemind.runtime.message import Message, ToolCall
from pagemind.runtime.settings import EXCERPT_MIN_TOKENS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.template import load

# full: as stored; excerpt: its start and end with a page_in handle; handle: one line;
# reading: the text that a page_in reference stands for; gone: not shown (an old notice).
Form = Literal["full", "excerpt", "handle", "reading", "gone"]


@dataclass(frozen=True, slots=True)
class View:
    """How a message is shown; `tokens` is the size limit of the form."""

    form: Form = "full"
    tokens: int = 0


def show(
    message: Message,
    view: View,
    *,
    pause: bool,
    whole: int,
    zone: tzinfo,
    count: Callable[[str], int],
    read: Callable[[Message], str],
) -> Message:
    """The message as the model sees it. `whole` is its full size in tokens; `read` gives the text
    of a reading. Assistant text goes back as it was produced, without a time."""
    text = message.text
    if view.form == "reading":
        text = read(message)
    elif view.form == "handle":
        text = load("handle").fill(name=message.name, tokens=whole, id=message.short_id).strip()
    elif view.form == "excerpt":
        text = _excerpt(message, text, view.tokens, whole, count)
        if message.tool_calls:
            message = replace(message, tool_calls=_short_calls(message, view.tokens, count))
    if message.role != "assistant" and view.form != "handle":
        text = _stamp(message, pause, zone) + text
    return message if text == message.text else message.with_text(text)


def _stamp(message: Message, pause: bool, zone: tzinfo) -> str:
    """The time after a pause, and who speaks where that is not plain."""
    pieces = []
    if pause and message.said_at is not None:
        pieces.append(f"[{message.said_at.astimezone(zone):%a %Y-%m-%d %H:%M}]")
    if message.role == "user" and message.kind == "talk" and message.speaker not in ("", "user"):
        pieces.append(f"{message.speaker}:")
    if message.kind == "observation":
        pieces.append(f"[observed, {message.provenance.detail or message.speaker}]")
    return " ".join(pieces) + " " if pieces else ""


def _excerpt(
    message: Message, text: str, limit: int, whole: int, count: Callable[[str], int]
) -> str:
    """Two thirds from the start, one third from the end, and the handle between them."""
    frame = load("excerpt")
    empty = frame.fill(head="", tail="", tokens=whole, id=message.short_id).strip()
    budget = max(EXCERPT_MIN_TOKENS, limit) - count(empty)
    if count(text) <= budget or budget <= 0:
        return text if budget > 0 else empty
    head = shorten(text, max(1, budget * 2 // 3), count)
    tail = shorten(text[::-1], max(1, budget // 3), count)[::-1]
    return frame.fill(head=head, tail=tail, tokens=whole, id=message.short_id).strip()


def _short_calls(message: Message, limit: int, count: Callable[[str], int]) -> tuple[ToolCall, ...]:
    """Calls whose long string arguments are cut; they stay JSON objects of the same keys."""

    share = max(EXCERPT_MIN_TOKENS, limit // max(1, len(message.tool_calls)))
    calls = []
    for call in message.tool_calls:
        if count(call.arguments) > share:
            arguments = {
                key: shorten(value, max(8, share // 2), count) if isinstance(value, str) else value
                for key, value in call.parsed().items()
            }
            text = json.dumps(arguments, ensure_ascii=False)
            if count(text) > share:
                text = json.dumps({"excerpt": shorten(text, share, count)}, ensure_ascii=False)
            call = replace(call, arguments=text)
        calls.append(call)
    return tuple(calls)
