"""Where a new fact falls among those of one subject and relation that holds one value at a time.

The windows of such facts never overlap: a new one ends the one before, is over already where a
later one is known, or is the same as one that is there. Pure; a start or end that is not known is
taken for the earliest or latest there is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

EVER: Final = datetime.min.replace(tzinfo=UTC)
NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Held:
    """A known fact: its window, and whether it has the value of the new one."""

    number: int
    start: datetime
    end: datetime
    same: bool = False

    def holds(self, at: datetime) -> bool:
        return self.start <= at < self.end


@dataclass(slots=True)
class Placement:
    """What is to be done. `same` is the fact that says it already; else the new one has the window
    from `start` to `end`. `windows` are those of known facts that change, `ended` whose place the
    new one takes, `successor` what took the place of the new one. `kept` is a copy to be made of
    one, for the time before the new one: that goes on after it."""

    start: datetime
    end: datetime
    same: int | None = None
    windows: dict[int, tuple[datetime, datetime]] = field(default_factory=dict)
    ended: list[int] = field(default_factory=list)
    successor: int | None = None
    kept: tuple[int, datetime, datetime] | None = None


def place(known: Sequence[Held], start: datetime, end: datetime, now: datetime) -> Placement:
    """`start` is before `end`. Windows of `known` do not overlap."""
    lived = sorted((each for each in known if each.start < each.end), key=lambda each: each.start)
    meant = [each for each in lived if each.same and each.start < end and start < each.end]
    if meant:
        return _again(lived, meant[0], start, end)
    made = Placement(start, end)
    later = next((each for each in lived if each.start > start), None)
    if later is not None and later.start <= end:
        made.end, made.successor = later.start, later.number
    before = next((each for each in lived if each.holds(start)), None)
    if before is None:
        return made
    if made.end < before.end and made.end <= now:  # an episode in the middle of it: that goes on
        made.windows[before.number] = made.end, before.end
        made.successor = before.number
        if before.start < start:
            made.kept = before.number, before.start, start
        return made
    made.windows[before.number] = before.start, start
    made.ended.append(before.number)
    return made


def _again(lived: Sequence[Held], meant: Held, start: datetime, end: datetime) -> Placement:
    """The same value said again: it may have begun earlier, or be over now."""
    first, last = meant.start, meant.end
    made = Placement(start, end, same=meant.number)
    if start < meant.start:
        first = start
        earlier = [each for each in lived if each.start < meant.start]
        if earlier and earlier[-1].end > start:
            neighbour = earlier[-1]
            if neighbour.start < start:  # it was over earlier than was known
                made.windows[neighbour.number] = neighbour.start, start
            else:
                first = neighbour.end
    if last == NEVER and end != NEVER:
        last = end
    if (first, last) != (meant.start, meant.end):
        made.windows[meant.number] = first, last
    return made
