"""What is true of the records of a store: the facts of the life that they state, if any.

A record is known by its sentence where that is one of the life's; by its subject and object where
it has those; else by the values and names in its text, since a model words things as it likes.
Values are unique in a relation and among relations, so a value is nearly a fact.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from synth_life import Asked, Life

Fact = tuple[str, str, str]  # subject, relation, object
What = Literal["fact", "wrong subject", "junk"]


@dataclass(frozen=True, slots=True)
class Record:
    """One record as the store holds it; `current` is whether an ordinary search can show it."""

    id: str
    text: str
    subject: str = ""
    object: str = ""
    current: bool = True

    @property
    def place(self) -> str:
        """Where it stands: among the records, or in a profile."""
        return "profile" if self.id.startswith("block:") else "records"


@dataclass(frozen=True, slots=True)
class Matched:
    """A record and what it states: `fact` is None for junk; of a wrong subject it is the fact that
    was turned into somebody else's."""

    record: Record
    what: What
    fact: Fact | None = None


class Truth:
    """Made once for a life."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self._by_text: dict[str, Fact] = {}
        self._by_value: dict[str, list[Fact]] = {}
        self.contested: set[Fact] = set()
        self.secrets: set[Fact] = set()
        for each in life.told:
            self._by_text.setdefault(_plain(each.text), each.fact)
            self._by_text.setdefault(_plain(each.plain), each.fact)
            facts = self._by_value.setdefault(each.object.casefold(), [])
            if each.fact not in facts:
                facts.append(each.fact)
            if each.contested:
                self.contested.add(each.fact)
            if each.secret:
                self.secrets.add(each.fact)
        values = sorted(map(re.escape, self._by_value), key=len, reverse=True)
        self._values = re.compile(rf"(?<!\w)(?:{'|'.join(values)})(?!\w)")
        self.people = sorted({each.subject for each in life.told} | set(life.speakers))
        self._people = re.compile(rf"(?<!\w)(?:{'|'.join(self.people)})(?!\w)")
        self.now = life.now()

    def match(self, record: Record) -> Matched:
        """The fact that it states."""
        known = self._by_text.get(_plain(record.text))
        if known and record.subject in ("", known[0]):
            return Matched(record, "fact", known)
        facts = self.named(record.object) or self.named(record.text)
        if not facts:
            return Matched(record, "junk")
        names = {record.subject} if record.subject else set(self._people.findall(record.text))
        own = [fact for fact in facts if fact[0] in names]
        if not own:
            return Matched(record, "wrong subject", facts[0])
        # "left Leeds for Lisbon" states the newer of the two.
        return Matched(record, "fact", max(own, key=lambda fact: self.now.get(fact, False)))

    def named(self, text: str) -> list[Fact]:
        """Every fact with a value that stands in the text."""
        found: list[Fact] = []
        for value in self._values.findall(text.casefold()):
            found += [fact for fact in self._by_value[value] if fact not in found]
        return found

    def of(self, texts: Iterable[str], asked: Asked) -> list[str]:
        """Of ranked texts, the values of what is asked for, in order, each once: by the sentences
        in them, else by a value beside the name of whom it is asked."""
        found: list[str] = []
        for text in texts:
            facts = self.told_in(text)
            if not facts and asked.subject in self._people.findall(text):
                facts = self.named(text)
            for subject, relation, value in facts:
                if (subject, relation) == (asked.subject, asked.relation) and value not in found:
                    found.append(value)
        return found

    def told_in(self, text: str) -> Sequence[Fact]:
        """The facts whose sentences stand in a text, as said or in the third person."""
        plain = _plain(text)
        return [fact for sentence, fact in self._by_text.items() if sentence in plain]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
