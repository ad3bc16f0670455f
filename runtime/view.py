"""How a resident message is shown: whole, as an excerpt, as a one-line handle, or as a reading.

What comes from outside is shown as data, in a fence (untrusted.py). show() is deterministic: the
same message, view, fences and reader give the same text, so that any past request can be made again
from what is stored.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Literal

from pagemind.runtime.message import Blob, Message, Provenance, Text, ToolCall
from pagemind.runtime.settings import EXCERPT_MIN_TOKENS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import OPEN, Fences

# full: as stored; excerpt: its start and end with a page_in handle; handle: one line;
# reading: the text that a page_in reference stands for; gone: not shown (an old notice); aside:
# out of view for what it is, with a line in the place of the first of several.
_LEAST_TOKENS = 12  # of arguments: what is shorter than a handle is no handle's business
Form = Literal["full", "excerpt", "handle", "reading", "gone", "aside"]


@dataclass(frozen=True, slots=True)
class View:
    """How a message is shown; `tokens` is the size limit of the form (0: the handle alone). For
    aside it is the last seq of what the line stands for, 0 where an earlier one's line does."""

    form: Form = "full"
    tokens: int = 0

    @property
    def hidden(self) -> bool:
        """Whether nothing of it is sent."""
        return self.form == "gone" or (self.form == "aside" and not self.tokens)


def show(
    message: Message,
    view: View,
    *,
    pause: bool,
    whole: int,
    zone: tzinfo,
    count: Callable[[str], int],
    read: Callable[[Message], str],
    fences: Fences = OPEN,
) -> Message:
    """The message as the model sees it. `whole` is its full size in tokens; `read` gives the text
    of a reading, in which each row has its own fence. Assistant text goes back as it was produced,
    without a time and a fence."""
    if view.form == "aside":
        return _aside(message, view.tokens)
    own = message.role == "assistant" or message.kind == "reading"
    shown = OPEN if own or not untrusted(message.provenance.trust) else fences
    if view.form == "full" and shown.key:
        message = _fenced(message, shown)
    text = message.text
    if view.form == "reading":
        text = read(message)
    elif view.form == "handle":
        name = fences.name(message.name)
        text = load("handle").fill(name=name, tokens=whole, id=message.short_id).strip()
    elif view.form == "excerpt":
        text = _excerpt(message, text, view.tokens, whole, count, shown)
        message = replace(message, parts=tuple(p for p in message.parts if not isinstance(p, Blob)))
        if message.tool_calls:
            calls = _short_calls(message, view.tokens, whole, count)
            message = replace(message, tool_calls=calls)
    if message.role != "assistant" and view.form != "handle":
        stamp = _stamp(message, pause, zone, fences)
        # A fence begins a line.
        text = f"{stamp.rstrip()}\n{text}" if stamp and shown.key else f"{stamp}{text}"
    return message if text == message.text else message.with_text(text)


def _aside(first: Message, last: int) -> Message:
    """A line for all that is set aside from one message to another: nothing of what they say."""
    text = load("aside").fill(first=first.seq, last=last).strip() if last else ""
    return Message(
        "user",
        (Text(text),) if text else (),
        kind="notice",
        seq=first.seq,
        id=first.id,
        turn=first.turn,
        conversation=first.conversation,
        speaker="pagemind",
        provenance=Provenance("runtime", "aside"),
    )


def _stamp(message: Message, pause: bool, zone: tzinfo, fences: Fences) -> str:
    """The time after a pause, and who speaks where that is not plain."""
    pieces = []
    if pause and message.said_at is not None:
        pieces.append(f"[{message.said_at.astimezone(zone):%a %Y-%m-%d %H:%M}]")
    if message.role == "user" and message.kind == "talk" and message.speaker not in ("", "user"):
        pieces.append(f"{fences.name(message.speaker)}:")
    if message.kind == "observation":
        source = fences.name(message.provenance.detail or message.speaker)
        pieces.append(f"[observed, {source}]")
    return " ".join(pieces) + " " if pieces else ""


def _fenced(message: Message, fences: Fences) -> Message:
    """The message with its text as data; what stands for an image has its own name cleaned."""
    text = "\n".join(part.text for part in message.parts if isinstance(part, Text))
    others = tuple(
        replace(part, caption=fences.name(part.caption)) if isinstance(part, Blob) else part
        for part in message.parts
        if not isinstance(part, Text)
    )
    shown = fences.around(message.short_id, text)
    return replace(message, parts=(Text(shown), *others) if shown else others)


def _excerpt(
    message: Message,
    text: str,
    limit: int,
    whole: int,
    count: Callable[[str], int],
    fences: Fences,
) -> str:
    """Two thirds from the start, one third from the end, and the handle between them."""
    frame, id = load("excerpt"), message.short_id
    empty = frame.fill(head="", tail="", tokens=whole, id=id).strip()
    handle = count(empty)
    small = limit < EXCERPT_MIN_TOKENS
    budget = handle if small else limit - handle
    # A text may be a book: what is too long as it is need not be fenced to be counted.
    if count(text) <= budget and count(shown := fences.around(id, text)) <= budget:
        return shown
    if small:
        return empty
    head = fences.start(id, text, max(1, budget * 2 // 3), count)
    tail = fences.end(id, text, max(1, budget // 3), count)
    return frame.fill(head=head, tail=tail, tokens=whole, id=id).strip()


def _short_calls(
    message: Message, limit: int, whole: int, count: Callable[[str], int]
) -> tuple[ToolCall, ...]:
    """Calls whose arguments are cut, with a handle to the whole; they stay JSON objects."""
    share = limit // max(1, len(message.tool_calls))
    if limit >= EXCERPT_MIN_TOKENS:
        share = max(EXCERPT_MIN_TOKENS, share)
    return tuple(
        replace(call, arguments=_short_arguments(call, share, message.short_id, whole, count))
        if count(call.arguments) > max(share, _LEAST_TOKENS)
        else call
        for call in message.tool_calls
    )


def _short_arguments(
    call: ToolCall, share: int, id: str, whole: int, count: Callable[[str], int]
) -> str:
    frame = load("excerpt")

    def cut(text: str, tokens: int) -> str:
        head = shorten(text, max(1, tokens), count)
        return frame.fill(head=head, tail="", tokens=whole, id=id).strip()

    handle = count(cut("", 1))
    if share <= handle:
        return json.dumps({"excerpt": id})
    arguments = call.parsed()
    texts = {key: value for key, value in arguments.items() if isinstance(value, str)}
    if texts:
        # Most often one value is the long one: the others, a path or a label, stay whole.
        longest = max(texts, key=lambda key: len(texts[key]))
        others = count(json.dumps({**arguments, longest: ""}, ensure_ascii=False))
        room = share - others - handle
        # Quotes and line ends are escaped, which costs what only counting tells.
        for tokens in (room, room * 3 // 4, room // 2):
            arguments[longest] = cut(texts[longest], tokens)
            short = json.dumps(arguments, ensure_ascii=False)
            if tokens > 0 and count(short) <= share:
                return short
    return json.dumps({"excerpt": cut(call.arguments, (share - handle) // 2)}, ensure_ascii=False)
