"""Inspection: what `pagemind inspect` shows of an agent, as values. Tokens are our counter's.

The window section by section, what the next flush would take of it, where its summary comes from,
what its page table leads to, and what lies on disk.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.core_memory import Block
from pagemind.runtime.page import Group, Page
from pagemind.runtime.pins import Pin
from pagemind.runtime.pressure import Pressure, Window
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.settings import HOT_LINES
from pagemind.runtime.state.pages import Summary
from pagemind.runtime.state.state import State
from pagemind.runtime.tokens import Calibration

_TABLE_LINE = re.compile(r"^([dp]\d+)(?: |$)", re.MULTILINE)
_MEMORY_LINE = re.compile(r"^([map]\d+)(?: |$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The window section by section, and what lies on disk."""

    model: str
    window: Window
    pressure: Pressure
    calibration: Calibration
    functions: int
    blocks: tuple[Block, ...]
    summary: Summary | None
    table: tuple[str, ...]  # the ids that the page table shows, from its first line on
    hot: tuple[Page, ...]  # what was read or found most of late, the hottest first
    messages: int
    groups: int
    first: int  # the seq of the oldest message in the queue; 0 for none
    last: int
    evicted: tuple[Group, ...]  # what a flush would take now, oldest first …
    freed: int  # … and the tokens of it in the window
    recall: int
    unwritten: int
    archival: int
    pages: int
    conversation: int
    pins: tuple[Pin, ...]  # all of them …
    pinned: tuple[str, ...]  # … and whose copies the window shows
    prefetch: str  # the memories that stood before the event in the newest step
    prefetch_tokens: int

    @property
    def prefetched(self) -> tuple[str, ...]:
        """The ids of the memories that stood before the event in the newest step."""
        return tuple(_MEMORY_LINE.findall(self.prefetch))

    def as_json(self) -> dict[str, Any]:
        """The answer of `inspect --json` (contract), without the schema number."""
        pressure, summary = self.pressure, self.summary
        return {
            "model": self.model,
            "window": self.window.tokens,
            "window_source": self.window.source,
            "usable": pressure.usable,
            "reserve": self.window.reserve,
            "fixed": pressure.fixed,
            "room": pressure.room,
            "used": pressure.used,
            "level": str(pressure.level),
            "warn_at": pressure.warn_at,
            "flush_at": pressure.flush_at,
            "keep_at": pressure.keep_at,
            "calibration": round(self.calibration.factor, 4),
            "counter": {
                "ratio": round(self.calibration.ratio, 4),
                "last": round(self.calibration.last, 4),
                "samples": self.calibration.samples,
            },
            "sections": [{"name": k, "tokens": v} for k, v in pressure.sections.items()],
            "functions": self.functions,
            "blocks": [
                {"label": b.label, "characters": len(b.value), "limit": b.limit}
                for b in self.blocks
            ],
            "summary": {
                "covers_last": summary.covers_last if summary else 0,
                "rung": summary.rung if summary else "",
                "author": summary.author if summary else "",
                "at": rfc3339(summary.at) if summary else None,
                "text": summary.text if summary else "",
            },
            "table": list(self.table),
            "hot": [{"id": page.short_id, "heat": round(page.heat, 2)} for page in self.hot],
            "queue": {
                "messages": self.messages,
                "groups": self.groups,
                "first_seq": self.first,
                "last_seq": self.last,
            },
            "evicted_next": {
                "groups": [
                    {
                        "first_seq": group.first_seq,
                        "last_seq": group.last_seq,
                        "messages": len(group.messages),
                    }
                    for group in self.evicted
                ],
                "tokens": self.freed,
            },
            "recall": {"total": self.recall, "unwritten": self.unwritten},
            "archival": {"total": self.archival},
            "pages": self.pages,
            "conversation": self.conversation,
            "pins": [
                {"id": pin.target, "tokens": pin.tokens, "shown": pin.target in self.pinned}
                for pin in self.pins
            ],
            "prefetch": {
                "tokens": self.prefetch_tokens,
                "text": self.prefetch,
                "ids": list(self.prefetched),
            },
        }


def inspect(
    state: State,
    manager: QueueManager,
    *,
    model: str,
    window: Window,
    calibration: Calibration,
) -> Inspection:
    """Gather it. `window` is the model's own, everything else is in our tokens."""
    context = manager.context
    prefetch = state.history.prefetch_of_step(state.history.last_step)
    epoch = state.history.epoch()
    evicted = manager.next_evicted() if epoch is not None else []
    end = evicted[-1].last_seq if evicted else 0
    return Inspection(
        model=model,
        window=window,
        pressure=manager.measure(),
        calibration=calibration,
        functions=len(context.tools),
        blocks=tuple(context.core),
        summary=state.pages.summary(epoch.summary if epoch else None),
        table=tuple(_TABLE_LINE.findall(context.table)),
        hot=tuple(state.pages.hot(HOT_LINES)),
        messages=len(context.queue),
        groups=len(context.queue.groups()),
        first=min((entry.seq for entry in context.queue), default=0),
        last=max((entry.seq for entry in context.queue), default=0),
        evicted=tuple(evicted),
        freed=sum(entry.tokens for entry in context.queue if entry.seq <= end),
        recall=state.journal.count(),
        unwritten=state.outbox.count("recall"),
        archival=state.passages.count(),
        pages=state.pages.count(),
        conversation=state.journal.conversation,
        pins=tuple(manager.pinning.all()),
        pinned=context.pinned.targets,
        prefetch=prefetch,
        prefetch_tokens=context.counter.count(prefetch),
    )


@dataclass(frozen=True, slots=True)
class PageMarks:
    """Numbers of the pages that are, or have a message that is, pinned; and of those that the
    newest step's memories came from."""

    pinned: frozenset[int]
    prefetched: frozenset[int]


def page_marks(state: State) -> PageMarks:
    """Which pages a pin or the last prefetch touches."""
    prefetch = state.history.prefetch_of_step(state.history.last_step)
    return PageMarks(
        _pages_of(state, state.pins.all()), _pages_of(state, _MEMORY_LINE.findall(prefetch))
    )


def _pages_of(state: State, ids: Sequence[str]) -> frozenset[int]:
    pages = {int(id[1:]) for id in ids if id[0] == "p"}
    messages = [int(id[1:]) for id in ids if id[0] == "m"]
    return frozenset(pages | set(state.pages.of(messages).values()))
