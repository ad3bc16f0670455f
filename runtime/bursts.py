"""Bursts: many records that say nearly the same, of one source or one turn. Pure.

What waits for a person is folded by them, so that a flood is one decision; that several sources,
which have nothing to do with one another, say the same is told beside it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pagemind.runtime.settings import BURST, BURST_LIKE
from pagemind.runtime.wording import likeness

_LOOK = 256  # groups that a text is compared with, the newest


@dataclass(frozen=True, slots=True)
class Said:
    """A text under an id, and where it came from: names of sources and ids of turns."""

    id: str
    text: str
    tellers: frozenset[str]
    turns: frozenset[str] = frozenset()

    def marks(self) -> Iterator[tuple[str, str]]:
        """Its sources and turns, told apart."""
        yield from (("source", name) for name in self.tellers)
        yield from (("turn", id) for id in self.turns)


def alike(said: Iterable[Said]) -> list[list[Said]]:
    """Groups of what says nearly the same, in order; of those that come alone too."""
    groups: list[list[Said]] = []
    for each in said:
        near = (g for g in groups[-_LOOK:] if likeness(g[0].text, each.text) >= BURST_LIKE)
        if (group := next(near, None)) is None:
            groups.append([each])
        else:
            group.append(each)
    return groups


def bursts(groups: Iterable[Sequence[Said]]) -> list[list[str]]:
    """The ids of each flood: so many of a group that share a source or a turn with another."""
    found = []
    for group in groups:
        # Counted, not compared each with each: a flood is long.
        often = Counter(name for each in group for name in each.marks())
        together = [e.id for e in group if any(often[name] > 1 for name in e.marks())]
        if len(together) >= BURST:
            found.append(together)
    return found


def tellers(group: Iterable[Said]) -> tuple[str, ...]:
    """The names of all sources of a group, each once: how many say the same."""
    return tuple(sorted({name for each in group for name in each.tellers}))
