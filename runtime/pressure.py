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


def check_room(pressure: Pressure, window_tokens: int) -> None:
    """Refuse an agent whose fixed part leaves less than a quarter of usable to page with, or no
    room for a page table: without its shortest lines what left the window could not be reached.

    Raises WindowTooSmall with each section's tokens, how many are lacking and what would do.
    """
    least = math.ceil(PAGE_TABLE_MIN_TOKENS / PAGE_TABLE_FRACTION)
    if pressure.room < pressure.usable * MIN_ROOM_FRACTION:
        listed = ", ".join(f"{name} {pressure.sections.get(name, 0):,}" for name in FIXED)
        message = (
            f"a window of {window_tokens:,} tokens leaves {max(0, pressure.room):,} of"
            f" {pressure.usable:,} usable tokens for talk ({listed})"
        )
    elif pressure.room < least:
        message = (
            f"the page table cannot fit: its shortest lines take {PAGE_TABLE_MIN_TOKENS} tokens and"
            f" {PAGE_TABLE_FRACTION:.0%} of the {pressure.room:,} tokens left for talk are"
            f" {int(pressure.room * PAGE_TABLE_FRACTION)}"
        )
    else:
        return
    usable = max(math.ceil(pressure.fixed / (1 - MIN_ROOM_FRACTION)), pressure.fixed + least)
    needed, kept = _window_for(usable, window_tokens, pressure.usable)
    raise WindowTooSmall(
        message,
        hint=f"{needed - window_tokens:,} tokens are lacking: set context_window to at least"
        f" {needed:,}{kept}, or shorten the prompt, blocks or tools",
    )


def _window_for(usable: int, tokens: int, left: int) -> tuple[int, str]:
    """The smallest window with so much usable, where one of `tokens` has `left` of them, and what
    must stay as it is: a reserve by default grows with its window, one that was chosen does not."""
    if tokens - left != window(tokens, "").reserve:
        return usable + tokens - left, " with the same output_reserve"
    needed = usable + RESERVE_MIN_TOKENS
    while (short := usable - window(needed, "").usable) > 0:
        needed += short
    return needed, ""
