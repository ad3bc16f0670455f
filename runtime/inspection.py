"""Inspection: what `pagemind inspect` shows of an agent, as numbers. Tokens are our counter's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.main_context import MainContext
from pagemind.runtime.pins import Pin
from pagemind.runtime.pressure import Pressure, Window
from pagemind.runtime.state.state import State


@dataclass(frozen=True, slots=True)
class Inspection:
    """The window section by section, and what lies on disk."""

    model: str
    window: Window
    pressure: Pressure
    calibration: float
    messages: int
    groups: int
    recall: int
    unwritten: int
    archival: int
    pages: int
    conversation: int
    pins: tuple[Pin, ...]  # all of them …
    pinned: tuple[str, ...]  # … and whose copies the window shows
    prefetch: str  # the memories that stood before the event in the newest step
    prefetch_tokens: int

    def as_json(self) -> dict[str, Any]:
        """The answer of `inspect --json` (contract), without the schema number."""
        pressure = self.pressure
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
            "calibration": round(self.calibration, 4),
            "sections": [{"name": k, "tokens": v} for k, v in pressure.sections.items()],
            "queue": {"messages": self.messages, "groups": self.groups},
            "recall": {"total": self.recall, "unwritten": self.unwritten},
            "archival": {"total": self.archival},
            "pages": self.pages,
            "conversation": self.conversation,
            "pins": [
                {"id": pin.target, "tokens": pin.tokens, "shown": pin.target in self.pinned}
                for pin in self.pins
            ],
            "prefetch": {"tokens": self.prefetch_tokens, "text": self.prefetch},
        }


def inspect(
    state: State,
    context: MainContext,
    pressure: Pressure,
    *,
    model: str,
    window: Window,
    calibration: float,
    pins: Sequence[Pin],
) -> Inspection:
    """Gather it. `window` is the model's own, `pressure` is in our tokens."""
    prefetch = state.history.prefetch_of_step(state.history.last_step)
    return Inspection(
        model=model,
        window=window,
        pressure=pressure,
        calibration=calibration,
        messages=len(context.queue),
        groups=len(context.queue.groups()),
        recall=state.journal.count(),
        unwritten=state.outbox.count("recall"),
        archival=state.passages.count(),
        pages=state.pages.count(),
        conversation=state.journal.conversation,
        pins=tuple(pins),
        pinned=context.pinned.targets,
        prefetch=prefetch,
        prefetch_tokens=context.counter.count(prefetch),
    )
