"""The synthetic life: sixty days of chatter with everything told in it known, the same for a seed.

    python benchmarks/synth_life.py --seed 1 [--days 60] [--turns 20] [--out FILE]

Two people talk to an agent about themselves and fourteen others. What they tell stands in single
sentences among greetings, questions and small talk that name the same people, places and things and
state nothing. `Told` says of each of these sentences whose fact it is, what it repeats and what it
ends; `Asked` are the questions when all is over. Wordings are drawn so that one fact told twice,
and the question for it, share few words.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from corpus import digest
from machine import parser

DAYS = 60
TURNS = 20  # a day
SHA256 = {
    1: "f66f44b27d7ee0815e04b669bac2c474342eac9047bae19507c8ebd4c6023acd",
    2: "4d91953dfe509eca3990dd5116ada65b766550759276111594b22d58341837bf",
    3: "c1f0f9e02825f9a2a4bb3120616953f3ac9373d555ed6b18e95256294c48d458",
}
TurnKind = Literal["fact", "forget", "ask", "junk"]
AskKind = Literal["current", "stable", "history", "as-of", "several", "forgotten"]


@dataclass(frozen=True, slots=True)
class Told:
    """One fact in one sentence. `text` is the sentence as said, `plain` the same with the name of
    the subject; `also` another name for the relation, where it is told under one.

    `same_as` is the fact it tells again (in these or other words), `supersedes` the one it ends.
    A `single` relation has one value at a time; the others any number. `contested` is what the
    second speaker says against what the subject says of itself: it ends nothing. `secret` is what
    is to be forgotten later."""

    id: str
    text: str
    plain: str
    speaker: str
    subject: str
    relation: str
    also: str
    object: str
    said_at: datetime
    valid_from: datetime
    single: bool
    same_as: str = ""
    supersedes: str = ""
    contested: bool = False
    secret: bool = False

    @property
    def slot(self) -> tuple[str, str]:
        return self.subject, self.relation

    @property
    def fact(self) -> tuple[str, str, str]:
        return self.subject, self.relation, self.object


@dataclass(frozen=True, slots=True)
class Spoken:
    """What somebody says to the agent. `told` are the facts in it, `about` those that it asks for
    or wants forgotten; `reply` is the answer to it, where nothing has to be looked up."""

    number: int
    day: int
    at: datetime
    speaker: str
    text: str
    kind: TurnKind
    reply: str
    told: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question after the last day, or of an earlier one (`as_of`). `gold` are the values that
    answer it; `stale` those of the same thing that must not come before them."""

    id: str
    kind: AskKind
    text: str
    subject: str
    relation: str
    gold: tuple[str, ...]
    stale: tuple[str, ...] = ()
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """All of it, in order of time."""

    seed: int
    days: int
    speakers: tuple[str, ...]
    turns: tuple[Spoken, ...]
    told: tuple[Told, ...]
    asked: tuple[Asked, ...]

    def fact(self, id: str) -> Told:
        return next(each for each in self.told if each.id == id)

    def now(self) -> dict[tuple[str, str, str], bool]:
        """Every fact that was told and is not a secret or contested, and whether it is true now."""
        found: dict[tuple[str, str, str], bool] = {}
        last: dict[tuple[str, str], str] = {}
        for each in self.told:
            if each.secret or each.contested:
                continue
            found[each.fact] = True
            if each.single:
                last[each.slot] = each.object
        for subject, relation, value in found:
            current = last.get((subject, relation), value)
            found[subject, relation, value] = current == value
        return found


def lines(life: Life) -> list[str]:
    """The life as JSON lines: turns, what is told, questions."""
    entries = [*map(asdict, life.turns), *map(asdict, life.told), *map(asdict, life.asked)]
    return [json.dumps(entry, ensure_ascii=False, default=str) for entry in entries]


def sha256(life: Life) -> str:
    """What is pinned for the full length."""
    return digest(lines(life))


def main(argv: Sequence[str] | None = None) -> int:
    from synth_life_weave import live

    arguments = parser(__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--days", type=int, default=DAYS)
    arguments.add_argument("--turns", type=int, default=TURNS, help="a day")
    arguments.add_argument("--out", type=Path, metavar="FILE", help="write it as JSON lines")
    asked = arguments.parse_args(argv)
    life = live(asked.seed, asked.days, asked.turns)
    text = "".join(f"{line}\n" for line in lines(life))
    if asked.out is not None:
        asked.out.write_text(text, encoding="utf-8")
    again = sum(bool(each.same_as) for each in life.told)
    ended = sum(bool(each.supersedes) for each in life.told)
    print(f"{len(life.turns):,} turns, {len(life.told):,} facts told ({again} again, {ended} end")
    print(f"another), {len(life.asked):,} questions, {len(text.encode()):,} bytes")
    print(f"sha256 {sha256(life)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
