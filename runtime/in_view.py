"""What stands in the window, part by part, and how far each part is trusted: for the gate, and for
whoever looks at an agent. What is set aside, a handle or a reference says nothing and is no part.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.fifo_queue import Entry
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.untrusted import unmarked


@dataclass(frozen=True, slots=True)
class Part:
    """`id` is what it is called by (m3, core memory, p2 pinned); `entry` is its message, if it is
    one."""

    id: str
    origin: str
    source: str
    trust: int
    text: str
    tokens: int
    entry: Entry | None = None

    @property
    def named(self) -> str:
        """By its id and whom it came from."""
        return f"{self.id} ({self.source})" if self.source else self.id

    def as_json(self) -> dict[str, Any]:
        """An item of `inspect --trust --json`: no text of it."""
        return {
            "id": self.id,
            "origin": self.origin,
            "source": self.source,
            "trust": self.trust,
            "tokens": self.tokens,
        }


def parts_in_view(context: MainContext) -> Iterator[Part]:
    """In the order in which the model reads them."""
    count = context.counter.count

    def part(id: str, origin: str, trust: int, text: str, source: str = "") -> Iterator[Part]:
        if text:
            yield Part(id, origin, source, trust, unmarked(text), count(text))

    yield from part("instructions", "operator", 100, context.system)
    yield from part("core memory", "model", context.core_trust(), context.core.render())
    yield from part("summary", "model", context.head_trust, context.summary)
    yield from part("page table", "runtime", context.head_trust, context.table)
    pinned = context.pinned
    yield from part(
        ", ".join(pinned.targets) or "pins", "runtime", pinned.trust, pinned.text, "pin"
    )
    if (prefetch := context.prefetch) is not None:
        ids = ", ".join(prefetch.ids)
        yield from part(ids or "memories", "runtime", prefetch.trust, prefetch.text, "memory")
    held = [context.held] if context.held is not None else []
    for entry in (*held, *context.queue):
        if entry.tells:
            message = entry.message
            yield Part(
                message.short_id,
                message.provenance.origin,
                message.name or message.speaker or message.provenance.detail,
                message.provenance.trust,
                unmarked(entry.shown.text),
                entry.tokens,
                entry,
            )
