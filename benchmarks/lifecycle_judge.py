"""A judge in place of the worker's model: it knows the sentences of the life, and nothing else.

It reads the prompt that it is given and no more: to extract, the sentences of the life that stand
in it, quoted back ones among them, since telling those apart is the runtime's task; to consolidate,
the texts of the candidates. In a tenth of its answers it errs, at random by a seed. What a memory
makes of it is plumbing, not quality.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lifecycle_truth import Fact, Truth
from synth_life import Told
from synth_weave import Draw

from pagemind.runtime.relations import relation_of

ERRS = 0.1  # of its answers
ALSO = 0.1  # of the facts it files under another name of the relation, where none is in use
_IN_USE = re.compile(r"Relations that are in use: (.*?)\.?$", re.M)
Op = Literal["ADD", "UPDATE", "SUPERSEDE", "DELETE", "NOOP"]
OPS: tuple[Op, ...] = ("ADD", "UPDATE", "SUPERSEDE", "DELETE", "NOOP")
Slip = Literal["", "prose", "junk", "lost", "misquoted"]
SLIPS: tuple[Slip, ...] = ("prose", "junk", "lost", "misquoted")


@dataclass(frozen=True, slots=True)
class Extracted:
    """A candidate: the sentence where it was found, and the fact in the third person."""

    quote: str
    text: str
    speaker: str
    subject: str
    relation: str
    object: str
    valid_from: str  # a day


class Judge:
    """`extract` and `decide` are all that it can do; lifecycle_prompts.py words them."""

    def __init__(self, truth: Truth, seed: int, *, errs: float = ERRS, also: float = ALSO) -> None:
        self._truth = truth
        self._seed = seed
        self._errs, self._also = errs, also
        self._asked = Counter[str]()
        self.answers = Counter[str]()
        self.slips = Counter[str]()

    # --- extraction -------------------------------------------------------------------------------

    def extract(self, prompt: str) -> tuple[list[Extracted], Slip]:
        """The facts in a prompt, in the order of their sentences; how this answer errs, if at all:
        "prose" is for the caller to do."""
        draw = self._draw("extract", prompt)
        slip: Slip = draw.one(SLIPS) if draw.chance(self._errs) else ""
        found = [self._extracted(quote, told, prompt) for quote, told in self._sentences(prompt)]
        if slip == "junk":
            found += self._junk(prompt, draw)
        elif slip == "lost" and found:
            found.remove(draw.one(found))
        self.slips[slip] += bool(slip)
        return found, slip

    def _sentences(self, prompt: str) -> list[tuple[str, Told]]:
        """Every sentence of the life in the prompt, as it stands there."""
        found: dict[str, tuple[int, str, Told]] = {}
        for told in self._truth.life.told:
            for sentence in (told.text, told.plain):
                place = prompt.find(sentence)
                if place >= 0 and sentence not in found:
                    found[sentence] = (place, sentence, told)
        return [(sentence, told) for _, sentence, told in sorted(found.values(), key=_by_place)]

    def _extracted(self, quote: str, told: Told, prompt: str) -> Extracted:
        return Extracted(
            quote,
            told.plain,
            told.speaker,
            told.subject,
            self._relation(told, prompt),
            told.object,
            told.valid_from.date().isoformat(),
        )

    def _relation(self, told: Told, prompt: str) -> str:
        """The name that is in use, if the prompt says so; else one of those there are."""
        listed = _IN_USE.search(prompt)
        for name in (told.relation, told.also):
            known = relation_of(name)
            if listed and known and known.name in listed[1].split(", "):
                return name
        other = Draw(f"also {self._seed} {told.text}").chance(self._also)
        return told.also if other and told.also else told.relation

    def _junk(self, prompt: str, draw: Draw) -> list[Extracted]:
        """Small talk taken for a fact."""
        turns = [t for t in self._truth.life.turns if t.kind == "junk" and t.text in prompt]
        if not turns:
            return []
        turn = draw.one(turns)
        text = turn.text.rstrip("?!.") + "."
        made = Extracted(turn.text, text, turn.speaker, turn.speaker, "said", text, "")
        return [made]

    # --- consolidation ----------------------------------------------------------------------------

    def decide(self, new: str, known: Sequence[str]) -> tuple[Op, int | None]:
        """What is to be done with a new text, and with which of the known ones: by its place; one
        past the last is a number that it makes up."""
        draw = self._draw("decide", "\n".join((new, *known)))
        if draw.chance(self._errs):
            self.slips["decision"] += 1
            return draw.one(OPS), draw.below(len(known) + 1) if known else None
        fact = self._fact(new)
        if fact is None:
            return "NOOP", None
        older = [self._fact(text) for text in known]
        if fact in older:
            return "NOOP", older.index(fact)
        for place, each in enumerate(older):
            if each and each[:2] == fact[:2] and self._single(fact):
                return "SUPERSEDE", place
        return "ADD", None

    def field(self, text: str) -> tuple[Fact, bool] | None:
        """The fact of a text and whether others may stand beside it: what a field of a profile is
        set to. None where nothing is known of it, and now and then by error."""
        if self._draw("field", text).chance(self._errs):
            self.slips["field"] += 1
            return None
        fact = self._fact(text)
        return (fact, not self._single(fact)) if fact else None

    def _fact(self, text: str) -> Fact | None:
        found = self._truth.told_in(text)
        return found[0] if found else None

    def _single(self, fact: Fact) -> bool:
        return any(each.single for each in self._truth.life.told if each.fact == fact)

    def _draw(self, what: str, prompt: str) -> Draw:
        """Chance by what is asked and how often it was: another try may end otherwise."""
        self.answers[what] += 1
        key = hashlib.sha256(f"{what}\n{prompt}".encode()).hexdigest()
        self._asked[key] += 1
        return Draw(f"{self._seed} {key} {self._asked[key]}")


def _by_place(found: tuple[int, str, Told]) -> int:
    return found[0]
