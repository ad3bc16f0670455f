"""Weaving the synthetic life: who tells what on which day, and what is said around it.

Every kind of thing that a memory gets wrong is planted here by a method of Weaver, in numbers that
grow with the length of the life; the rest of each day is chatter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

import synth_life_words as words
from synth_life import DAYS, TURNS, Asked, AskKind, Life, Spoken, Told
from synth_life_words import Relation
from synth_weave import START, Draw

Slot = tuple[str, Relation]
WEEK = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MAX_PLANTED = 0.75  # of a day
MINUTES = 7  # between two turns
TOPICS = tuple(
    value
    for each in (*words.SINGLE, *words.SEVERAL)
    if each.name in ("course", "breakfast", "likes", "dislikes", "plays")
    for value in each.values
)
CITIES = next(each.values for each in words.SINGLE if each.name == "lives_in")


@dataclass
class _Planted:
    """A turn to be on a day."""

    kind: Literal["fact", "forget", "ask"]
    speaker: str
    text: str
    told: list[Told] = field(default_factory=list)
    about: tuple[str, ...] = ()


def live(seed: int, days: int = DAYS, turns: int = TURNS) -> Life:
    """The life of a seed."""
    return Weaver(Draw(f"life {seed} {days} {turns}"), days, turns).life(seed)


class Weaver:
    """Draws facts, spreads them over the days, and fills the days."""

    def __init__(self, draw: Draw, days: int, turns: int) -> None:
        self.draw, self.days, self.per_day = draw, days, turns
        self.speakers = tuple(draw.some(words.SPEAKERS, 2))
        self.people = draw.some(words.PEOPLE, len(words.PEOPLE))
        self.share = min(1.0, days * turns / (DAYS * TURNS))
        slots = [(who, each) for who in (*self.speakers, *self.people) for each in words.SINGLE]
        self._slots = draw.shuffled(slots)
        self._values = {
            each.name: draw.shuffled(each.values) for each in (*words.SINGLE, *words.SEVERAL)
        }
        self._planted: list[list[_Planted]] = [[] for _ in range(days)]
        self._told: list[Told] = []
        self._texts: set[str] = set()
        self._asked: list[Asked] = []
        self._changed: list[Slot] = []
        self._kept: list[Slot] = []
        self._several: list[Slot] = []

    def life(self, seed: int) -> Life:
        plants: tuple[Callable[[], None], ...] = (
            self.contradictions, self.there_and_back, self.chains, self.updates, self.stable,
            self.several, self.again, self.secrets, self.lookups,
        )  # fmt: skip
        for plant in plants:
            plant()
        self.questions()
        turns, told = self._fill()
        return Life(seed, self.days, self.speakers, turns, told, tuple(self._asked))

    # --- what happens ---------------------------------------------------------------------------

    def updates(self) -> None:
        """Moved, a new job, another number."""
        for _ in self.count(60):
            self._chain(2)

    def chains(self) -> None:
        """Twice another value."""
        for _ in self.count(10):
            self._chain(3)

    def there_and_back(self) -> None:
        """A, then B, then A again: the old record is not a duplicate of the new truth."""
        for _ in self.count(12):
            self._chain(2, back=True)

    def stable(self) -> None:
        """Never another value. Some share it with somebody else: neither ends the other."""
        for number in self.count(56):
            if found := self._slot(1):
                slot, values = found
                if number % 7 == 0 and (others := self._of(slot[1])):
                    values = [self.draw.one(others).object]
                self._tell(slot, values[0], self._days(1)[0])
                self._kept.append(slot)

    def several(self) -> None:
        """Likes, pets, languages: each value beside the others."""
        everyone = (*self.speakers, *self.people)
        pairs = [(who, each) for who in everyone for each in words.SEVERAL]
        for slot in self.draw.shuffled(pairs)[: self.count(40).stop]:
            for day in self._days(self.draw.between(1, 4)):
                if self._values[slot[1].name]:
                    self._tell(slot, self._values[slot[1].name].pop(), day)
                    if slot not in self._several:
                        self._several.append(slot)

    def contradictions(self) -> None:
        """A speaker tells of himself, and the other one says otherwise: the own word stands."""
        for _ in self.count(8):
            if found := self._slot(2, of=self.speakers):
                slot, (own, others) = found
                first, second = self._days(2)
                self._tell(slot, own, first, by=slot[0])
                self._tell(slot, others, second, by=self._other(slot[0]), contested=True)
                self._kept.append(slot)

    def again(self) -> None:
        """What is true is told again later, now and then in the very same words."""
        known = [each for each in self._told if not each.contested]
        for number, first in enumerate(self.draw.shuffled(known)[: self.count(70).stop]):
            until = [each for each in self._told if each.supersedes == first.id]
            last = min([self._day(each) for each in until], default=self.days)
            if last - self._day(first) < 2:
                continue
            day = self.draw.between(self._day(first) + 1, last - 1)
            self._again(first, day, same_words=number % 7 == 0)

    def secrets(self) -> None:
        """Told, and then to be forgotten: the request says it once more."""
        values = self.draw.shuffled(words.SECRET_VALUES)
        for number in self.count(15):
            speaker, name = self.draw.one(self.speakers), values[number % len(values)]
            forms = words.SECRETS[number % len(words.SECRETS)].split(" | ")
            relation = Relation(
                f"secret_{number % len(words.SECRETS)}", False, (), tuple(forms), (), (), (), ()
            )
            first, later = self._days(2)
            told = self._tell((speaker, relation), name, first, secret=True)
            text = self.draw.one(words.FORGET).format(f=told.text)
            self._plant(later, _Planted("forget", speaker, text, about=(told.id,)))
            for form in forms:
                self._ask(
                    "forgotten",
                    f"Is it true that {_said(form, speaker, name, start=False).rstrip('.')}?",
                    (speaker, relation),
                    (),
                    stale=(name,),
                )

    def lookups(self) -> None:
        """Questions in mid-life: the agent searches, and its answer quotes what it found."""
        known = [each for each in self._told if not each.contested and not each.secret]
        for each in self.draw.shuffled(known)[: self.count(60).stop]:
            day = self._day(each)
            if day + 1 < self.days:
                relation = _relation(each.relation)
                text = _said(self.draw.one(relation.ask), each.subject, "")
                speaker = self.draw.one(self.speakers)
                planted = _Planted("ask", speaker, text, about=(each.id,))
                self._plant(self.draw.between(day + 1, self.days - 1), planted)

    # --- questions afterwards -------------------------------------------------------------------

    def questions(self) -> None:
        for slot in self._changed:
            told = self._of(slot[1], slot[0])
            chain = [each for each in told if not each.same_as]
            now, before = chain[-1].object, chain[-2].object
            stale = tuple({each.object for each in chain} - {now})
            for form in slot[1].ask:
                self._ask("current", _said(form, slot[0], ""), slot, (now,), stale)
            for form in slot[1].before:
                self._ask("history", _said(form, slot[0], ""), slot, (before,))
            # The day before the first change: what was said first is true.
            at = chain[1].valid_from - timedelta(hours=12)
            if at > chain[0].said_at:
                form = slot[1].ask[0]
                self._ask("as-of", _said(form, slot[0], ""), slot, (chain[0].object,), as_of=at)
        for slot in self._kept:
            value = self._of(slot[1], slot[0])[0].object
            self._ask("stable", _said(self.draw.one(slot[1].ask), slot[0], ""), slot, (value,))
        for slot in self._several:
            values = tuple(dict.fromkeys(each.object for each in self._of(slot[1], slot[0])))
            self._ask("several", _said(self.draw.one(slot[1].ask), slot[0], ""), slot, values)

    def _ask(
        self,
        kind: AskKind,
        text: str,
        slot: Slot,
        gold: tuple[str, ...],
        stale: tuple[str, ...] = (),
        as_of: datetime | None = None,
    ) -> None:
        id = f"q{len(self._asked) + 1}"
        self._asked.append(
            Asked(id, kind, text, slot[0], slot[1].name, gold, tuple(sorted(stale)), as_of)
        )

    # --- facts ----------------------------------------------------------------------------------

    def count(self, full: int) -> range:
        """How many of a kind there are at this length: at least one."""
        return range(max(1, round(full * self.share)))

    def _chain(self, length: int, *, back: bool = False) -> None:
        """Values of one slot, each ending the one before; `back` returns to the first."""
        found = self._slot(length)
        if found is None:
            return
        slot, values = found
        values = [*values, values[0]] if back else values
        before: Told | None = None
        for value, day in zip(values, self._days(len(values)), strict=True):
            before = self._tell(slot, value, day, before=before)
        self._changed.append(slot)

    def _tell(
        self,
        slot: Slot,
        value: str,
        day: int,
        *,
        by: str = "",
        before: Told | None = None,
        contested: bool = False,
        secret: bool = False,
    ) -> Told:
        """Plant a sentence that nobody has said yet."""
        subject, relation = slot
        speaker = by or (subject if subject in self.speakers else self.draw.one(self.speakers))
        old = before.object if before else ""
        forms = relation.changed if before else relation.told
        dated = before is not None and self.draw.chance(0.3)
        said_at = START + timedelta(days=day, hours=12)
        valid = said_at - timedelta(days=self.draw.between(1, 2)) if dated else said_at
        if before and valid <= before.said_at:
            dated, valid = False, said_at
        known = subject in self.speakers
        named = subject if known else self.draw.one(words.FRIENDS).format(p=subject)
        for form in (*self.draw.shuffled(forms), *self.draw.shuffled(relation.told)):
            if dated:
                form = form.rstrip(".") + words.DATED.format(d=WEEK[valid.weekday()])
            text = _said(form, "" if speaker == subject else named, value, old)
            if text not in self._texts:
                break
        else:
            raise ValueError(f"every wording for {slot[0]}, {relation.name} is used")
        told = Told(
            id=f"f{len(self._told) + 1}",
            text=text,
            plain=_said(form, subject, value, old),
            speaker=speaker,
            subject=subject,
            relation=relation.name,
            also=self.draw.one(relation.also) if relation.also else "",
            object=value,
            said_at=said_at,
            valid_from=valid,
            single=relation.single,
            supersedes=before.id if before else "",
            contested=contested,
            secret=secret,
        )
        around = words.CONTRADICTED if contested else ("{f}",)
        if not contested and speaker != subject:
            around = words.ATTRIBUTED
        self._say(told, day, around)
        return told

    def _again(self, first: Told, day: int, *, same_words: bool) -> None:
        """The same fact, by the same speaker, in other words where there are any left."""
        relation = _relation(first.relation)
        at = START + timedelta(days=day, hours=12)
        told = replace(first, id=f"f{len(self._told) + 1}", said_at=at, same_as=first.id)
        told = replace(told, supersedes="")
        if not same_words:
            named = "" if first.speaker == first.subject else first.subject
            for form in self.draw.shuffled(relation.told):
                text = _said(form, named, first.object)
                if text not in self._texts:
                    plain = _said(form, first.subject, first.object)
                    told = replace(told, text=text, plain=plain)
                    break
            else:
                return
        self._say(told, day, words.KNOWN)

    def _say(self, told: Told, day: int, around: Sequence[str]) -> None:
        parts = (
            self.draw.one(words.BEFORE),
            self.draw.one(around).format(f=told.text),
            self.draw.one(words.AFTER),
        )
        planted = _Planted("fact", told.speaker, " ".join(filter(None, parts)), [told])
        self._told.append(told)
        self._texts.add(told.text)
        self._plant(day, planted)

    def _slot(self, values: int, of: Sequence[str] = ()) -> tuple[Slot, list[str]] | None:
        """A single-valued relation of somebody that nothing was told of, and fresh values."""
        for slot in self._slots:
            left = self._values[slot[1].name]
            if len(left) >= values and (not of or slot[0] in of):
                self._slots.remove(slot)
                return slot, [left.pop() for _ in range(values)]
        return None

    def _of(self, relation: Relation, subject: str = "") -> list[Told]:
        """What was told of a relation (and a subject), in order of time, nothing contested."""
        found = (
            each
            for each in self._told
            if each.relation == relation.name and not each.contested
            if not subject or each.subject == subject
        )
        return sorted(found, key=lambda each: each.said_at)

    def _other(self, speaker: str) -> str:
        return self.speakers[1 if speaker == self.speakers[0] else 0]

    # --- days -----------------------------------------------------------------------------------

    def _days(self, count: int) -> list[int]:
        """So many days in order, no two the same."""
        return sorted(self.draw.some(range(self.days), count))

    def _day(self, told: Told) -> int:
        return (told.said_at - START).days

    def _plant(self, day: int, planted: _Planted) -> None:
        self._planted[day].append(planted)

    def _fill(self) -> tuple[tuple[Spoken, ...], tuple[Told, ...]]:
        """The days one after another, each to its length: planted turns among chatter."""
        turns: list[Spoken] = []
        told: list[Told] = []
        for day, planted in enumerate(self._planted):
            free = max(self.per_day - len(planted), round(len(planted) * (1 - MAX_PLANTED)))
            units: list[_Planted | None] = [*planted, *([None] * free)]
            for place, unit in enumerate(self.draw.shuffled(units)):
                at = START + timedelta(days=day, hours=8, minutes=MINUTES * place)
                number = len(turns) + 1
                reply = self.draw.one(words.REPLIES)
                if unit is None:
                    speaker, text = self.draw.one(self.speakers), self._chatter()
                    turns.append(Spoken(number, day, at, speaker, text, "junk", reply))
                    continue
                ids = tuple(each.id for each in unit.told)
                # A dated fact keeps its date, another is true from when it is said.
                for each in unit.told:
                    fresh = each.valid_from == each.said_at or each.same_as
                    valid = at if fresh else each.valid_from
                    told.append(replace(each, said_at=at, valid_from=valid))
                turns.append(
                    Spoken(
                        number, day, at, unit.speaker, unit.text, unit.kind, reply, ids, unit.about
                    )
                )
        return tuple(turns), tuple(told)

    def _chatter(self) -> str:
        """A greeting, a question or small talk, now and then two of them."""
        draw = self.draw
        said = []
        for _ in range(1 + draw.chance(0.4)):
            forms = draw.one((words.GREETINGS, words.QUESTIONS, words.CHATTER, words.CHATTER))
            person, other = draw.some(self.people, 2)
            said.append(
                draw.one(forms).format(
                    p=person, o=other, v=draw.one(TOPICS), c=draw.one(CITIES),
                    d=draw.one(WEEK), n=draw.between(2, 59),
                )
            )  # fmt: skip
        return " ".join(said)


def _relation(name: str) -> Relation:
    return next(each for each in (*words.SINGLE, *words.SEVERAL) if each.name == name)


def _said(form: str, subject: str, value: str, before: str = "", *, start: bool = True) -> str:
    """The form with a subject; "" is the speaker, in the first person."""
    mine = not subject
    made = form.format(
        S=subject or "I",
        W=f"{subject}'s" if subject else "my",
        me=subject or "me",
        v=value,
        x=before or "the old one",
        s="" if mine else "s",
        es="" if mine else "es",
        ies="y" if mine else "ies",
        am="am" if mine else "is",
        have="have" if mine else "has",
        do="do" if mine else "does",
    )
    if start:
        return made[0].upper() + made[1:]
    return made if form.startswith("{") else made[0].lower() + made[1:]
