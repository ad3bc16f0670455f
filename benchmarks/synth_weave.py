"""Weaving: planted turns and filler become sessions with dates.

Draw uses nothing of `random` but random(), whose sequence Python promises to keep, so that a seed
gives the same text with every version.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from corpus import Turn

T = TypeVar("T")
START = datetime(2025, 1, 6, tzinfo=UTC)
MAX_PLANTED = 0.8  # of a session: the rest is filler


class Draw:
    """Choices by a seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        return int(self._random.random() * limit)

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def one(self, values: Sequence[T]) -> T:
        return values[self.below(len(values))]

    def shuffled(self, values: Iterable[T]) -> list[T]:
        rest = list(values)
        for i in range(len(rest) - 1, 0, -1):
            j = self.below(i + 1)
            rest[i], rest[j] = rest[j], rest[i]
        return rest

    def some(self, values: Sequence[T], count: int) -> list[T]:
        return self.shuffled(values)[:count]

    def chance(self, share: float) -> bool:
        return self._random.random() < share


@dataclass(frozen=True, slots=True)
class Said:
    """A turn to be: who says what."""

    text: str
    speaker: str
    role: str = "user"


class Weave:
    """Sessions of one conversation. plant() gives handles; turns() ends it, id() resolves them."""

    def __init__(self, draw: Draw, turns: int, per_session: int, prefix: str) -> None:
        self._draw = draw
        self._turns = turns
        self._size = per_session
        self._prefix = prefix
        self._units: list[list[tuple[int, list[Said]]]] = []
        self._handles = 0
        self._ids: dict[int, str] = {}
        self._session_of: dict[int, int] = {}
        self.starts: list[datetime] = []
        day = START
        for _ in range(-(-turns // per_session)):
            self._units.append([])
            self.starts.append(day + timedelta(hours=draw.between(8, 19), minutes=draw.below(60)))
            day += timedelta(days=draw.between(1, 3))

    @property
    def sessions(self) -> int:
        return len(self.starts)

    def plant(self, session: int, *said: Said) -> list[int]:
        """Put turns that follow each other into a session, or the next with room; their handles."""
        for at in [*range(session, self.sessions), *range(session)]:
            used = sum(len(unit) for _, unit in self._units[at])
            if used + len(said) <= MAX_PLANTED * self._size:
                break
        else:
            raise ValueError(f"{self._turns} turns have no room for so many facts")
        first = self._handles + 1
        self._handles += len(said)
        self._units[at].append((first, list(said)))
        self._session_of.update(dict.fromkeys(range(first, self._handles + 1), at))
        return list(range(first, self._handles + 1))

    def some_session(self, low: float = 0.0, high: float = 1.0) -> int:
        """One between these shares of the whole."""
        first, last = int(low * self.sessions), max(0, int(high * self.sessions) - 1)
        return self._draw.between(min(first, last), last)

    def apart(self, days: int) -> tuple[int, int] | None:
        """Two sessions so many days apart."""
        for first in self._draw.shuffled(range(self.sessions)):
            for second in range(first + 1, self.sessions):
                passed = (self.starts[second].date() - self.starts[first].date()).days
                if passed == days:
                    return first, second
                if passed > days:
                    break
        return None

    def session_of(self, handle: int) -> int:
        """Where it was put: not always where it was asked for."""
        return self._session_of[handle]

    def id(self, handle: int) -> str:
        return self._ids[handle]

    def turns(self, filler: Callable[[int], Said]) -> tuple[Turn, ...]:
        """Every session's units in random order among filler, to the number that was asked for."""
        made: list[Turn] = []
        for number, (start, planted) in enumerate(zip(self.starts, self._units, strict=True)):
            room = min(self._size, self._turns - number * self._size)
            free = room - sum(len(unit) for _, unit in planted)
            units = [*planted, *((0, [filler(number)]) for _ in range(max(0, free)))]
            place = 0
            for handle, unit in self._draw.shuffled(units):
                for offset, said in enumerate(unit):
                    place += 1
                    id = f"{self._prefix}{number + 1}:{place}"
                    if handle:
                        self._ids[handle + offset] = id
                    at = start + timedelta(seconds=60 * place)
                    made.append(Turn(id, number + 1, said.role, said.speaker, said.text, at))
        return tuple(made)
