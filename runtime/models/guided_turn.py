"""What a guided model needs to know of a request: who said what, what is known, what was done.

Read from the canonical messages alone, so that the same request always gives the same step. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import unescape

from pagemind.runtime.message import Message, ToolCall
from pagemind.runtime.model import ModelRequest

_BLOCK = re.compile(
    r'<block label="(?P<label>[^"]*)"(?P<rest>[^>]*)>\n?(?P<value>.*?)\n?</block>', re.DOTALL
)
_ROOM = re.compile(r'chars="(\d+)/(\d+)"')
_MEMORIES = re.compile(r"^<memories\b[^>]*>\n(?P<lines>.*?)\n?</memories>\n?", re.DOTALL)
_STAMP = re.compile(r"^\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d\] ?")
# One line of a search result or of prefetched memories: id, perhaps date, page, time and tags.
_FOUND = re.compile(
    r"^(?P<id>[am]\d+)(?: \(p\d+\))?(?: (?P<date>\d{4}-\d\d-\d\d))?(?: \d\d:\d\d)?"
    r"(?: \[[^\]]*\])*(?: (?P<who>[^:\s][^:]{0,63}):)? (?P<text>.+)$"
)
_NOTING = ("core_append", "core_edit")
_SEARCHING = ("recall_search", "archival_search")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of core memory as the prompt shows it. `room` is the characters left, if told."""

    label: str
    value: str
    read_only: bool = False
    profile: bool = False  # its JSON is not edited as text
    room: int | None = None

    @property
    def lines(self) -> list[str]:
        return [line.strip() for line in self.value.splitlines() if line.strip()]


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that was found: who said it (empty for a passage) and what."""

    who: str
    text: str


@dataclass(frozen=True, slots=True)
class GuidedTurn:
    """The turn that a request is a step of."""

    said: str  # the person's words, without what the runtime put before them
    by_person: bool
    earlier: tuple[Message, ...]  # talk before the event
    blocks: tuple[Block, ...]
    calls: tuple[ToolCall, ...]  # made since the event
    results: tuple[Message, ...]
    found: tuple[Found, ...]  # prefetched, and by the searches of this turn
    functions: frozenset[str]

    @property
    def noting_done(self) -> bool:
        """Any step of this turn comes after the question for facts."""
        return bool(self.calls)

    @property
    def noted(self) -> list[str]:
        """The facts that were written in this turn."""
        good = {result.tool_call_id for result in self.results if result.ok}
        return [
            str(call.parsed().get("content") or call.parsed().get("new_text") or "")
            for call in self.calls
            if call.name in _NOTING and call.id in good
        ]

    @property
    def searched(self) -> list[str]:
        """The search functions that were called in this turn."""
        return [call.name for call in self.calls if call.name in _SEARCHING]

    @property
    def query(self) -> str:
        """What was searched for last."""
        asked = [c.parsed().get("query", "") for c in self.calls if c.name in _SEARCHING]
        return str(asked[-1]) if asked else ""

    @property
    def person(self) -> Block | None:
        """The block that holds what is known about the person."""
        return person_block(self.blocks)


def read_turn(request: ModelRequest) -> GuidedTurn | None:
    """The turn, or None where no event is in sight (a request that is not a step of a turn)."""
    messages = request.messages
    at = next((i for i in reversed(range(len(messages))) if _is_event(messages[i])), None)
    if at is None:
        return None
    event, after = messages[at], messages[at + 1 :]
    said, prefetched = _own_words(event)
    results = tuple(message for message in after if message.role == "tool")
    searched = [r for r in results if r.name in _SEARCHING and r.ok]
    lines = [*prefetched, *(line for r in searched for line in r.text.splitlines())]
    return GuidedTurn(
        said=said,
        by_person=event.kind == "talk" and event.provenance.origin == "user",
        earlier=tuple(m for m in messages[:at] if m.role != "tool" and m.kind != "notice"),
        blocks=read_blocks(request.system[1:]),
        calls=tuple(call for message in after for call in message.tool_calls),
        results=results,
        found=_found(lines, said),
        functions=frozenset(tool.name for tool in request.tools),
    )


def read_blocks(system: Sequence[str]) -> tuple[Block, ...]:
    """The blocks of rendered core memory."""
    return tuple(
        Block(
            label=match["label"],
            value=unescape(match["value"]) if "&lt;" in match["value"] else match["value"],
            read_only='read_only="true"' in match["rest"],
            profile='format="json"' in match["rest"],
            room=int(room[2]) - int(room[1]) if (room := _ROOM.search(match["rest"])) else None,
        )
        for text in system
        for match in _BLOCK.finditer(text)
    )


def person_block(blocks: Sequence[Block]) -> Block | None:
    """The block about the person: `human`, else the first that may be edited as text."""
    for block in blocks:
        if block.label == "human" and not block.profile:
            return block
    others = (b for b in blocks if b.label != "persona" and not b.read_only)
    return next((b for b in others if not b.profile), None)


def head_text(messages: Sequence[Message]) -> str:
    """Summary, page table and pins, where there are any."""
    head = messages[0] if messages else None
    return head.text if head and head.kind == "notice" and head.text.startswith("<earlier") else ""


def own_words(message: Message) -> str:
    """A message's text without time, speaker and prefetched memories."""
    return _own_words(message)[0]


def _is_event(message: Message) -> bool:
    return message.role == "user" and message.kind != "notice"


def _own_words(message: Message) -> tuple[str, list[str]]:
    text = message.text
    prefetched: list[str] = []
    if match := _MEMORIES.match(text):
        prefetched = match["lines"].splitlines()
        text = text[match.end() :]
    text = _STAMP.sub("", text)
    return text.removeprefix(f"{message.speaker}:").strip(), prefetched


def _found(lines: Sequence[str], said: str) -> tuple[Found, ...]:
    found = []
    for line in lines:
        match = _FOUND.match(line.strip())
        # The question itself is in recall too, and answers nothing.
        if match and match["text"] not in ("[in context]", said):
            found.append(Found(match["who"] or "", match["text"]))
    return tuple(dict.fromkeys(found))
