"""Main context: what one model call sees. SystemInstructions + CoreMemory + the context head
(summary, page table, pins) + FifoQueue; render() makes the request, sections() counts it.

The order is a stable prefix: what changes rarely stands first, nothing volatile stands in the
head, and prefetched memories stand inside the event's own message.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pagemind.runtime.core_memory import CoreMemory
from pagemind.runtime.fifo_queue import Entry, FifoQueue
from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.model import ModelRequest, ToolSchema
from pagemind.runtime.pins import Pinned
from pagemind.runtime.settings import MESSAGE_OVERHEAD_TOKENS
from pagemind.runtime.template import load
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.untrusted import OPEN, Fences, closed, unmarked

_FRAMES = ("summary", "page_table", "pinned", "earlier")


@dataclass(frozen=True, slots=True)
class Prefetched:
    """Memories before the event `seq`: the fenced text, where it is from, its lowest trust."""

    seq: int
    text: str
    ids: tuple[str, ...] = ()
    trust: int = 100

    def as_json(self) -> dict[str, object]:
        """For a trace."""
        return {"seq": self.seq, "text": self.text, "ids": list(self.ids), "trust": self.trust}


@dataclass
class MainContext:
    """The parts, as they are now. `held` is an evicted event that its turn still needs."""

    system: str
    core: CoreMemory
    tools: tuple[ToolSchema, ...]
    counter: TokenCounter
    summary: str = ""
    head_trust: int = 100  # the least of what summary and table were made of
    table: str = ""
    pinned: Pinned = field(default_factory=Pinned)
    queue: FifoQueue = field(default_factory=FifoQueue)
    held: Entry | None = None
    prefetch: Prefetched | None = None  # until the turn ends
    core_trust: Callable[[], int] = lambda: 100  # the least of the blocks as they are shown
    # Whether core memory stands outside the system role: it may hold what strangers wrote.
    core_apart: Callable[[], bool] = lambda: False
    cache_key: str = ""
    fences: Fences = OPEN  # what comes from outside stands in them
    tools_cost: int | None = None  # tokens of the functions where they are not sent as schemas
    _tools_counted: tuple[tuple[ToolSchema, ...], int] | None = None
    _head: tuple[tuple[str, str, str], str] | None = None

    def sections(self, *, refreshed: bool = False) -> Mapping[str, int]:
        """Tokens of each section of contract.md, as sent; `refreshed`: as after a flush that takes
        the edits of core memory into the head."""
        count = self.counter.count
        head = self.head()
        frame = count(head) + MESSAGE_OVERHEAD_TOKENS if head else 0
        table, pins = count(self.table), count(self.pinned.text)
        return {
            "system": count(self.system) + MESSAGE_OVERHEAD_TOKENS,
            "tools": self._tools_tokens(),
            "core": count(self.core.render(refreshed=refreshed)),
            # The fence around all three is counted with the first.
            "summary": max(0, frame - table - pins),
            "page_table": table,
            "pinned": pins,
            "queue": self.queue.tokens + (self.held.tokens if self.held else 0),
            "prefetch": count(self.prefetch.text) + 1 if self.prefetch else 0,
        }

    def _tools_tokens(self) -> int:
        """Schemas change rarely and are slow to count."""
        if self.tools_cost is not None:
            return self.tools_cost
        if self._tools_counted is None or self._tools_counted[0] is not self.tools:
            self._tools_counted = (self.tools, self.counter.tools(self.tools))
        return self._tools_counted[1]

    def head(self) -> str:
        """The fenced text of summary, page table and pins; "" before the first flush."""
        # Asked for many times a turn, changed at a flush.
        made_of = (self.summary, self.table, self.pinned.text)
        if self._head is None or self._head[0] != made_of:
            self._head = (made_of, self._fence_head())
        return self._head[1]

    def _fence_head(self) -> str:
        parts = []
        if self.summary:
            parts.append(f"<summary>\n{closed(self.summary, *_FRAMES)}\n</summary>")
        if self.table:
            parts.append(f"<page_table>\n{closed(self.table, *_FRAMES)}\n</page_table>")
        if self.pinned.text:
            parts.append(f"<pinned>\n{closed(self.pinned.text, *_FRAMES)}\n</pinned>")
        if not parts:
            return ""
        return load("context_head").fill(sections="\n".join(parts)).strip()

    def render(self, max_tokens: int) -> ModelRequest:
        """The request of the next step. `max_tokens` is the room kept for the reply."""
        core, head = self.core.render(), self.head()
        apart = core if core and self.core_apart() else ""
        messages = [
            Message("user", (Text(text),), kind="notice", provenance=Provenance("runtime"))
            for text in (apart, head)
            if text
        ]
        heads = len(messages)
        if self.held is not None:
            messages.append(self._with_prefetch(self.held))
        messages.extend(self._with_prefetch(e) for e in self.queue if not e.view.hidden)
        event = max((n for n, m in enumerate(messages) if _is_event(m)), default=0)
        return ModelRequest(
            system=(self.system, core) if core and not apart else (self.system,),
            messages=tuple(messages),
            tools=self.tools,
            max_tokens=max_tokens,
            # The head holds until the next flush. What stands before the event holds for longer
            # than the event, whose memories go with its turn.
            stable=tuple(sorted({heads, event} - {0})),
            cache_key=self.cache_key,
        )

    def _with_prefetch(self, entry: Entry) -> Message:
        if self.prefetch is None or self.prefetch.seq != entry.seq:
            return entry.shown
        return entry.shown.with_text(f"{self.prefetch.text}\n{entry.shown.text}")

    def readable(self) -> str:
        """All that can be read in main context now, instructions and prefetch apart, without the
        marks of what comes from outside."""
        entries = [*([self.held] if self.held else []), *self.queue]
        shown = [self.core.render(), self.head(), *(e.shown.text for e in entries)]
        return "\n".join(map(unmarked, shown))

    def min_trust(self) -> int:
        """The lowest trust of any text in the window. Summary and page table are made only from
        what is trusted, unless it is trusted no more since."""
        entries = [*self.queue, *([self.held] if self.held else [])]
        resident = min((e.message.provenance.trust for e in entries if e.tells), default=100)
        prefetched = self.prefetch.trust if self.prefetch else 100
        head = self.head_trust if self.summary or self.table else 100
        return min(resident, prefetched, self.pinned.trust, self.core_trust(), head)

    def said_in(self, turn: int) -> tuple[str, ...]:
        """The short ids of what stands here of a turn, the event among them."""
        entries = [*([self.held] if self.held else []), *self.queue]
        return tuple(e.message.short_id for e in entries if e.message.turn == turn)

    def resident(self, seq: int) -> bool:
        """Whether the message is shown whole now."""
        if self.held is not None and self.held.seq == seq:
            return True
        return self.queue.shows(seq)

    def in_view(self, seq: int) -> bool:
        """Whether the message can be read now: resident, or a copy of it pinned."""
        return self.resident(seq) or seq in self.pinned


def _is_event(message: Message) -> bool:
    return message.role == "user" and message.kind == "talk"
