"""What both shapes of the synthetic set share: each fact is drawn once, questions wait for ids.

A question is planted with the handles of its evidence; Plan.questions() gives them ids, and puts
every third of a kind aside: the held-out split, which nothing is tuned on.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from corpus import Question
from synth_weave import Draw, Weave

HELD_OUT = 3  # one of so many
FULL = 5000  # turns at which every kind has its full number of questions
# Kinds without evidence: what must not be found, and what was never said.
UNSCORED = ("forget", "never-stated")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question before its turns have ids."""

    kind: str
    text: str
    evidence: tuple[int, ...]
    gold: str = ""
    stale: tuple[int, ...] = ()
    as_of: datetime | None = None


@dataclass
class Plan:
    """A conversation in the making: its weave, its draw and the questions so far."""

    weave: Weave
    draw: Draw
    prefix: str
    share: float  # of the full numbers
    asked: list[Asked] = field(default_factory=list)
    _left: dict[str, list[str]] = field(default_factory=dict)
    _told: set[tuple[str, str]] = field(default_factory=set)

    def count(self, full: int) -> range:
        """How many of a kind there are at this length: at least one."""
        return range(max(1, round(full * self.share)))

    def values(self, topic: str, values: Sequence[str], count: int) -> list[str] | None:
        """Values that nobody has yet; None when too few are left."""
        left = self._left.setdefault(topic, self.draw.shuffled(values))
        return [left.pop() for _ in range(count)] if len(left) >= count else None

    def take(self, subject: str, topic: str) -> bool:
        """Whether nothing was told of this yet; from now on it was."""
        if (subject, topic) in self._told:
            return False
        self._told.add((subject, topic))
        return True

    def told(self, subject: str, topic: str) -> bool:
        return (subject, topic) in self._told

    def ask(
        self,
        kind: str,
        text: str,
        evidence: Sequence[int],
        gold: str = "",
        *,
        stale: Sequence[int] = (),
        as_of: datetime | None = None,
    ) -> None:
        self.asked.append(Asked(kind, text, tuple(evidence), gold, tuple(stale), as_of))

    def questions(self) -> tuple[Question, ...]:
        """When the weave has its turns."""
        seen: Counter[str] = Counter()
        made = []
        for number, each in enumerate(self.asked, 1):
            seen[each.kind] += 1
            made.append(
                Question(
                    f"{self.prefix}q{number}",
                    each.text,
                    each.kind,
                    tuple(self.weave.id(handle) for handle in each.evidence),
                    each.gold,
                    tuple(self.weave.id(handle) for handle in each.stale),
                    each.as_of,
                    held_out=seen[each.kind] % HELD_OUT == 0,
                )
            )
        return tuple(made)


def spelled(at: datetime) -> str:
    """14 March 2025, in English whatever the locale."""
    months = "January February March April May June July August September October November December"
    return f"{at.day} {months.split()[at.month - 1]} {at.year}"


def possessive(name: str) -> str:
    return f"{name}'s"
