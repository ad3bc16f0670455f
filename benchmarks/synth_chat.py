"""The chat shape: two people and an assistant talk of themselves and of those they know.

Every kind of question of the set is planted here, among filler that uses the same names, things and
dates and states nothing.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

import synth_chat_words as words
from corpus import Conversation
from synth_build import FULL, Plan, possessive, spelled
from synth_chat_words import ATTRIBUTES, Attribute
from synth_identifiers import IDENTIFIERS
from synth_odd import long_text, plant_notes, plant_scripts
from synth_weave import Draw, Said, Weave

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = (
    "January February March April May June July August September October November December"
).split()
RELATIONS = ("boss", "flatmate", "dentist", "tutor", "godmother", "sister-in-law")
CHANGED = ("It changed: ", "New since this week: ", "Not any more: ", "Update: ", "Correction, ")
ASSISTANT = "assistant"


def chat(seed: int, turns: int, per_session: int) -> Conversation:
    """One conversation with its questions."""
    draw = Draw(f"chat {seed} {turns}")
    plan = Plan(Weave(draw, turns, per_session, "c"), draw, "c", min(1.0, turns / FULL))
    shape = Chat(plan)
    for plant in shape.kinds:
        plant()
    made = plan.weave.turns(shape.filler)
    return Conversation(f"chat-{seed}", made, plan.questions())


class Chat:
    """The cast, and a method for each kind of question."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.weave, self.draw = plan, plan.weave, plan.draw
        first, second = self.draw.some(words.SPEAKERS, 2)
        self.speakers = (first, second)
        self.people = self.draw.some(words.PEOPLE, 16)
        # What only the two speakers tell of themselves comes first: they have little room.
        self.kinds: tuple[Callable[[], None], ...] = (
            self.identifiers, self.swapped, self.vocatives, self.replies, self.updates,
            self.updates_twice, self.contradictions, self.near_duplicates, self.hops,
            self.forgotten, self.never_stated, self.reverse, self.single, self.paraphrases,
            self.assistant, self.lists, self.dates, self.weeks_before, self.long, self.odd,
        )  # fmt: skip

    # --- facts ----------------------------------------------------------------------------------

    def state(self, subject: str, attribute: Attribute, value: str, by: str | None = None) -> Said:
        """A statement, by the subject if it speaks here, else by either speaker."""
        own = subject in self.speakers and by is None
        speaker = by or (subject if own else self.draw.one(self.speakers))
        return Said(self.phrase("my" if own else possessive(subject), attribute, value), speaker)

    def phrase(self, whose: str, attribute: Attribute, value: str) -> str:
        upper = whose[0].upper() + whose[1:]
        return self.draw.one(attribute.said).format(W=upper, w=whose, v=value)

    def fresh(
        self,
        subjects: Sequence[str],
        values: int = 1,
        among: Sequence[Attribute] = ATTRIBUTES,
    ) -> tuple[str, Attribute, list[str]] | None:
        """A subject and an attribute that nothing was told of, and values that nobody has."""
        for _ in range(200):
            subject, attribute = self.draw.one(subjects), self.draw.one(among)
            if self.plan.told(subject, attribute.topic):
                continue
            found = self.plan.values(attribute.topic, attribute.values, values)
            if found is not None and self.plan.take(subject, attribute.topic):
                return subject, attribute, found
        return None

    @property
    def everyone(self) -> list[str]:
        return [*self.speakers, *self.people]

    def other(self, speaker: str) -> str:
        return self.speakers[1 if speaker == self.speakers[0] else 0]

    # --- kinds ----------------------------------------------------------------------------------

    def single(self) -> None:
        for _ in self.plan.count(60):
            if found := self.fresh(self.everyone):
                subject, attribute, (value,) = found
                at = self.weave.plant(
                    self.weave.some_session(), self.state(subject, attribute, value)
                )
                self.plan.ask("single", attribute.ask.format(q=possessive(subject)), at, value)

    def reverse(self) -> None:
        for _ in self.plan.count(15):
            if found := self.fresh(self.everyone):
                subject, attribute, (value,) = found
                at = self.weave.plant(
                    self.weave.some_session(), self.state(subject, attribute, value)
                )
                self.plan.ask("reverse", attribute.whose.format(v=value), at, subject)

    def near_duplicates(self) -> None:
        """The same said of a neighbour, a cousin and somebody else."""
        for _ in self.plan.count(15):
            if found := self.fresh(self.people, 4):
                subject, attribute, values = found
                at = self.weave.plant(
                    self.weave.some_session(), self.state(subject, attribute, values[0])
                )
                others = [f"{possessive(subject)} neighbour's", f"{possessive(subject)} cousin's"]
                others.append(f"not {possessive(subject)} but the doorman's")
                for whose, value in zip(others, values[1:], strict=True):
                    text = self.phrase(whose, attribute, value)
                    said = Said(text, self.draw.one(self.speakers))
                    self.weave.plant(self.weave.some_session(), said)
                ask = attribute.ask.format(q=possessive(subject))
                self.plan.ask("near-duplicate", ask, at, values[0])

    def swapped(self) -> None:
        """Asked of the one, said by the other: what was said is still the evidence."""
        for _ in self.plan.count(8):
            untold = [
                each
                for each in ATTRIBUTES
                if not any(self.plan.told(name, each.topic) for name in self.speakers)
            ]
            if untold and (found := self.fresh(self.speakers, among=untold)):
                subject, attribute, (value,) = found
                other = self.other(subject)
                self.plan.take(other, attribute.topic)
                at = self.weave.plant(
                    self.weave.some_session(), self.state(subject, attribute, value)
                )
                self.plan.ask("swapped", attribute.ask.format(q=possessive(other)), at, value)

    def vocatives(self) -> None:
        """The other speaker says the name and the thing, again and again."""
        for _ in self.plan.count(10):
            if found := self.fresh(self.speakers):
                subject, attribute, (value,) = found
                session = self.weave.some_session()
                at = self.weave.plant(session, self.state(subject, attribute, value))
                for text in self.draw.some(words.VOCATIVES, 4):
                    said = text.format(o=subject, t=attribute.topic)
                    self.weave.plant(self.weave.some_session(), Said(said, self.other(subject)))
                self.plan.ask("vocative", attribute.ask.format(q=possessive(subject)), at, value)

    def replies(self) -> None:
        """An answer that only its question explains."""
        for _ in self.plan.count(12):
            if found := self.fresh(self.speakers):
                subject, attribute, (value,) = found
                asked = Said(attribute.ask.format(q="your"), self.other(subject))
                text = self.draw.one(words.REPLIES).format(v=value)
                reply = Said(text[0].upper() + text[1:], subject)
                at = self.weave.plant(self.weave.some_session(), asked, reply)
                self.plan.ask("reply", attribute.ask.format(q=possessive(subject)), at[1:], value)

    def updates(self) -> None:
        self._updates(20, 2)

    def updates_twice(self) -> None:
        self._updates(10, 3)

    def _updates(self, full: int, times: int) -> None:
        for _ in self.plan.count(full):
            if not (found := self.fresh(self.people, times)):
                continue
            subject, attribute, values = found
            handles: list[int] = []
            for i, value in enumerate(values):
                said = self.state(subject, attribute, value)
                if i:
                    said = Said(self.draw.one(CHANGED) + said.text, said.speaker, said.role)
                session = self.weave.some_session(i / times, (i + 0.7) / times)
                handles += self.weave.plant(session, said)
            sessions = [self.weave.session_of(handle) for handle in handles]
            if sorted(set(sessions)) != sessions:  # crowded: two stand in one session
                continue
            ask = attribute.ask.format(q=possessive(subject))[:-1]
            self.plan.ask("update", f"{ask} now?", handles[-1:], values[-1], stale=handles[:-1])
            before = f"{ask} before the last change?"
            self.plan.ask("history", before, handles[-2:-1], values[-2])
            middle = self.weave.starts[sessions[1]] - timedelta(hours=6)
            self.plan.ask("as-of", f"{ask}?", handles[:1], values[0], as_of=middle)

    def contradictions(self) -> None:
        """The second speaker says otherwise: both lines are needed to tell."""
        for _ in self.plan.count(12):
            if found := self.fresh(self.people, 2):
                subject, attribute, values = found
                first = self.state(subject, attribute, values[0])
                at = self.weave.plant(self.weave.some_session(), first)
                other = self.other(first.speaker)
                said = self.state(subject, attribute, values[1], by=other)
                at += self.weave.plant(
                    self.weave.some_session(), Said(f"I am sure: {said.text}", said.speaker)
                )
                ask = attribute.ask.format(q=possessive(subject))
                self.plan.ask("contradiction", ask, at, " | ".join(values))

    def hops(self) -> None:
        """The boss of Ines, the flatmate of her boss."""
        for i in self.plan.count(21):
            hops = 3 if i % 5 >= 3 else 2
            chain = self.draw.some(self.people, hops)
            relations = self.draw.some(RELATIONS, hops - 1)
            pairs = list(zip(chain, relations, strict=False))
            if not all(self.plan.take(name, relation) for name, relation in pairs):
                continue
            found = self.fresh(chain[-1:])
            if found is None:
                continue
            handles: list[int] = []
            for (name, relation), next_ in zip(pairs, chain[1:], strict=True):
                text = f"{possessive(name)} {relation} is {next_}."
                handles += self.weave.plant(
                    self.weave.some_session(), Said(text, self.draw.one(self.speakers))
                )
            last, attribute, (value,) = found
            handles += self.weave.plant(
                self.weave.some_session(), self.state(last, attribute, value)
            )
            whose = " ".join([possessive(chain[0]), *(possessive(each) for each in relations)])
            self.plan.ask(f"{hops}-hop", attribute.ask.format(q=whose), handles, value)

    def forgotten(self) -> None:
        """Without a deletion it is still found; lifecycle benchmarks delete, this one counts."""
        for _ in self.plan.count(9):
            if found := self.fresh(self.people):
                subject, attribute, (value,) = found
                said = self.state(subject, attribute, value)
                at = self.weave.plant(self.weave.some_session(0, 0.6), said)
                text = f"Please forget what I said of {possessive(subject)} {attribute.topic}."
                self.weave.plant(self.weave.some_session(0.7), Said(text, said.speaker))
                ask = attribute.ask.format(q=possessive(subject))
                self.plan.ask("forget", ask, (), stale=at)

    def never_stated(self) -> None:
        for _ in self.plan.count(15):
            if found := self.fresh(self.people, 0):
                subject, attribute, _ = found
                self.plan.ask("never-stated", attribute.ask.format(q=possessive(subject)), ())

    def paraphrases(self) -> None:
        pairs = self.draw.shuffled(words.PARAPHRASES)
        for i in self.plan.count(len(pairs)):
            text, question = pairs[i]
            subject = self.draw.one(self.everyone)
            own = subject in self.speakers
            said = Said(
                text.format(I="I" if own else subject),
                subject if own else self.draw.one(self.speakers),
            )
            at = self.weave.plant(self.weave.some_session(), said)
            self.plan.ask("paraphrase", question.format(q=subject), at)

    def assistant(self) -> None:
        for i in self.plan.count(13):
            text, question, values = words.ADVICE[i % len(words.ADVICE)]
            person = self.draw.one(self.people)
            value = self.draw.one(values.split(", "))
            if not self.plan.take(person, text):
                continue
            said = Said(text.format(p=person, v=value), ASSISTANT, "assistant")
            at = self.weave.plant(self.weave.some_session(), said)
            self.plan.ask("assistant", question.format(p=person), at, value)

    def lists(self) -> None:
        for i in self.plan.count(8):
            question, values, told = words.LISTS[i % len(words.LISTS)]
            subject = self.speakers[i // len(words.LISTS) % 2]
            if not self.plan.take(subject, question):
                continue
            chosen = self.draw.some(values.split(", "), 5)
            handles: list[int] = []
            for j, (value, text) in enumerate(zip(chosen, self.draw.shuffled(told), strict=False)):
                session = self.weave.some_session(j / 5, (j + 1) / 5)
                handles += self.weave.plant(session, Said(text.format(v=value), subject))
            self.plan.ask("list", question.format(q=subject), handles, ", ".join(chosen))

    def event(self, subject: str, what: str, session: int) -> list[int]:
        own = subject in self.speakers
        said = Said(
            f"{'I' if own else subject} {what} today.",
            subject if own else self.draw.one(self.speakers),
        )
        return self.weave.plant(session, said)

    def dates(self) -> None:
        """By the day alone, or by the day and what kind of thing; others do the same elsewhen."""
        events = self.draw.shuffled(words.EVENTS)
        for i in self.plan.count(12):
            what, verb = events[i]
            subject, stranger = self.draw.some(self.everyone, 2)
            at = self.event(subject, what, self.weave.some_session())
            self.event(stranger, what, self.weave.some_session())
            do = "do" if i % 2 else verb
            day = spelled(self.weave.starts[self.weave.session_of(at[0])])
            self.plan.ask("temporal", f"What did {subject} {do} on {day}?", at, what)

    def weeks_before(self) -> None:
        events = self.draw.shuffled(words.EVENTS)
        for i in self.plan.count(6):
            pair = self.weave.apart(21)
            if pair is None:
                return
            subject = self.draw.one(self.people)
            first, second = events[2 * i][0], events[2 * i + 1][0]
            at = [*self.event(subject, first, pair[0]), *self.event(subject, second, pair[1])]
            ask = f"What happened to {subject} three weeks before {subject} {second}?"
            self.plan.ask("weeks-before", ask, at, first)

    def long(self) -> None:
        """A fact in the middle of a turn of 2,000 tokens."""
        for i in self.plan.count(4):
            if found := self.fresh(self.people):
                subject, attribute, (value,) = found
                fact = self.state(subject, attribute, value)
                text = long_text(self.plan, fact.text, lambda: self.filler(0).text)
                at = self.weave.plant(self.weave.some_session(i / 4), Said(text, fact.speaker))
                self.plan.ask("long-turn", attribute.ask.format(q=possessive(subject)), at, value)

    def odd(self) -> None:
        plant_scripts(self.plan, self.speakers)
        plant_notes(self.plan, self.speakers)

    def identifiers(self) -> None:
        """Half of the fifty; the log has the others."""
        for each in IDENTIFIERS[::2]:
            at = self.weave.plant(
                self.weave.some_session(), Said(each.told, self.draw.one(self.speakers))
            )
            self.weave.plant(
                self.weave.some_session(), Said(each.beside, self.draw.one(self.speakers))
            )
            self.plan.ask("identifier", each.query, at, each.word)

    # --- filler ---------------------------------------------------------------------------------

    def filler(self, session: int) -> Said:
        """Talk that states nothing."""
        draw = self.draw
        speaker = draw.one((*self.speakers, *self.speakers, ASSISTANT))
        attribute = draw.one(ATTRIBUTES)
        others = [name for name in self.everyone if name != speaker]
        if speaker == ASSISTANT:
            text = draw.one(words.ASSISTANT)
        elif draw.chance(0.12):
            text, others = draw.one(words.VOCATIVES), [self.other(speaker)] * 2
        else:
            text = draw.one(attribute.chat if draw.chance(0.5) else words.CHATTER)
            text += draw.one(words.TAILS)
        p, o = draw.some(others, 2)
        filled = text.format(
            p=p, o=o, t=attribute.topic, d=draw.one(DAYS), m=draw.one(MONTHS), n=draw.between(2, 90)
        )
        return Said(filled, speaker, "assistant" if speaker == ASSISTANT else "user")
