"""Memory pressure: numbers in, a level out. Pure.

    window ─ reserve = usable ─ fixed = room;   pressure = paged / room

fixed is system + tools + core; paged is summary + page table + pins + queue (+ prefetch). All
numbers are tokens of our own counter; a model that needs more of them for the same text has its
window scaled down instead (`Window.scaled`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pagemind.runtime.errors import WindowTooSmall
from pagemind.runtime.settings import (
    FLUSH,
    KEEP,
    MIN_ROOM_FRACTION,
    PAGE_TABLE_FRACTION,
    PAGE_TABLE_MIN_TOKENS,
    RESERVE_FRACTION,
    RESERVE_MAX_TOKENS,
    RESERVE_MIN_TOKENS,
    WARN,
)

FIXED = ("system", "tools", "core")
PAGED = ("summary", "page_table", "pinned", "queue", "prefetch")


class Level(StrEnum):
    NORMAL = "normal"
    WARN = "warn"
    FLUSH = "flush"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Fractions of room, 0 < keep < warn < flush ≤ 1."""

    warn: float = WARN
    flush: float = FLUSH
    keep: float = KEEP


@dataclass(frozen=True, slots=True)
class Window:
    """A context window: `tokens` in all, `reserve` of them for the reply, and who said so."""

    tokens: int
    reserve: int
    source: str

    @property
    def usable(self) -> int:
        return self.tokens - self.reserve

    def scaled(self, factor: float) -> "Window":
        """The same window in our own tokens, for a model that counts `factor` times as many."""
        return Window(int(self.tokens / factor), int(self.reserve / factor), self.source)


def window(tokens: int, source: str, reserve: int | None = None) -> Window:
    """A window with the default reserve for replies where none is given."""
    if reserve is None:
        reserve = min(RESERVE_MAX_TOKENS, max(RESERVE_MIN_TOKENS, int(tokens * RESERVE_FRACTION)))
    return Window(tokens, reserve, source)


@dataclass(frozen=True, slots=True)
class Pressure:
    """One measurement. `warn_at` and `flush_at` are tokens of `paged`."""

    level: Level
    sections: Mapping[str, int]
    usable: int
    fixed: int
    room: int
    paged: int
    warn_at: int
    flush_at: int
    keep_at: int

    @property
    def used(self) -> int:
        """Everything that would be sent."""
        return self.fixed + self.paged

    @property
    def ratio(self) -> float:
        return self.paged / self.room if self.room > 0 else float("inf")


def measure(sections: Mapping[str, int], usable: int, thresholds: Thresholds) -> Pressure:
    """What the next request costs, and what follows from it."""
    fixed = sum(sections.get(name, 0) for name in FIXED)
    paged = sum(sections.get(name, 0) for name in PAGED)
    room = usable - fixed
    warn_at, flush_at = int(room * thresholds.warn), int(room * thresholds.flush)
    level = Level.NORMAL
    if paged > flush_at:
        level = Level.FLUSH
    elif paged > warn_at:
        level = Level.WARN
    keep_at = int(room * thresholds.keep)
    return Pressure(level, dict(sections), usable, fixed, room, paged, warn_at, flush_at, keep_at)


def _check_table(pressure: Pressure, window_tokens: int) -> None:
    """Without its shortest lines what has left the window could not be reached."""
    least = math.ceil(PAGE_TABLE_MIN_TOKENS / PAGE_TABLE_FRACTION)
    if pressure.room >= least:
        return
    lacking = least - pressure.room
    raise WindowTooSmall(
        f"the page table cannot fit: its shortest lines take {PAGE_TABLE_MIN_TOKENS} tokens and"
        f" {PAGE_TABLE_FRACTION:.0%} of the {pressure.room:,} tokens left for talk are"
        f" {int(pressure.room * PAGE_TABLE_FRACTION)}",
        hint=f"{lacking:,} tokens are lacking: set context_window to at least"
        f" {window_tokens + lacking:,} with the same output_reserve, or shorten the prompt, blocks"
        " or tools",
    )


def check_room(pressure: Pressure, window_tokens: int) -> None:
    """Refuse an agent whose fixed part leaves less than a quarter of usable to page with, or no
    room for a page table.

    Raises WindowTooSmall with each section's tokens and how large the window would have to be.
    """
    if pressure.room >= pressure.usable * MIN_ROOM_FRACTION:
        _check_table(pressure, window_tokens)
        return
    listed = ", ".join(f"{name} {pressure.sections.get(name, 0):,}" for name in FIXED)
    needed = int(pressure.fixed / (1 - MIN_ROOM_FRACTION)) + (window_tokens - pressure.usable) + 1
    raise WindowTooSmall(
        f"a window of {window_tokens:,} tokens leaves {max(0, pressure.room):,} of"
        f" {pressure.usable:,} usable tokens for talk ({listed})",
        hint=f"set context_window to at least {needed:,}, or shorten the prompt, blocks or tools",
    )
