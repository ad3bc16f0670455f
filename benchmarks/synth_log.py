"""The work-log shape: an operator and an assistant run services; orders, reports, no small talk.

The kinds of questions are those of the chat shape, where they make sense.
"""

from collections.abc import Callable, Sequence

import synth_log_words as words
from corpus import Conversation
from synth_build import FULL, Plan, spelled
from synth_chat import ASSISTANT, CHANGED, DAYS
from synth_chat_words import Attribute
from synth_identifiers import IDENTIFIERS
from synth_log_words import SERVICES, SETTINGS
from synth_odd import long_text, plant_code
from synth_weave import Draw, Said, Weave


def log(seed: int, turns: int, per_session: int) -> Conversation:
    """One conversation with its questions."""
    draw = Draw(f"log {seed} {turns}")
    plan = Plan(Weave(draw, turns, per_session, "w"), draw, "w", min(1.0, 2 * turns / FULL))
    shape = Log(plan)
    for plant in shape.kinds:
        plant()
    made = plan.weave.turns(shape.filler)
    return Conversation(f"log-{seed}", made, plan.questions())


class Log:
    """The cast, and a method for each kind of question."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.weave, self.draw = plan, plan.weave, plan.draw
        self.operator, *self.others = self.draw.shuffled(words.OPERATORS)
        self.kinds: tuple[Callable[[], None], ...] = (
            self.identifiers, self.updates, self.near_duplicates, self.hops, self.never_stated,
            self.reverse, self.single, self.paraphrases, self.assistant, self.lists, self.dates,
            self.long, self.code,
        )  # fmt: skip

    def by(self, text: str) -> Said:
        """Said by either."""
        if self.draw.chance(0.5):
            return Said(text, ASSISTANT, "assistant")
        return Said(text, self.operator)

    def somewhere(self, *texts: str) -> list[int]:
        return self.weave.plant(self.weave.some_session(), *map(self.by, texts))

    def state(self, service: str, setting: Attribute, value: str) -> str:
        return self.draw.one(setting.said).format(s=service, v=value)

    def fresh(
        self, values: int = 1, services: Sequence[str] = SERVICES
    ) -> tuple[str, Attribute, list[str]] | None:
        for _ in range(200):
            service, setting = self.draw.one(services), self.draw.one(SETTINGS)
            if self.plan.told(service, setting.topic):
                continue
            found = self.plan.values(setting.topic, setting.values, values)
            if found is not None and self.plan.take(service, setting.topic):
                return service, setting, found
        return None

    # --- kinds ----------------------------------------------------------------------------------

    def single(self) -> None:
        for _ in self.plan.count(40):
            if found := self.fresh():
                service, setting, (value,) = found
                at = self.somewhere(self.state(service, setting, value))
                self.plan.ask("single", setting.ask.format(q=service), at, value)

    def reverse(self) -> None:
        for _ in self.plan.count(10):
            if found := self.fresh():
                service, setting, (value,) = found
                at = self.somewhere(self.state(service, setting, value))
                self.plan.ask("reverse", setting.whose.format(v=value), at, service)

    def near_duplicates(self) -> None:
        """The same of the staging copy, and of the one that was switched off."""
        for _ in self.plan.count(8):
            if found := self.fresh(3):
                service, setting, values = found
                at = self.somewhere(self.state(service, setting, values[0]))
                self.somewhere(self.state(f"{service}-staging", setting, values[1]))
                self.somewhere(self.state(f"the retired {service}-v0", setting, values[2]))
                self.plan.ask("near-duplicate", setting.ask.format(q=service), at, values[0])

    def updates(self) -> None:
        for _ in self.plan.count(10):
            if found := self.fresh(2):
                service, setting, values = found
                first = self.weave.some_session(0, 0.4)
                at = self.weave.plant(first, self.by(self.state(service, setting, values[0])))
                text = self.draw.one(CHANGED) + self.state(service, setting, values[1])
                at += self.weave.plant(self.weave.some_session(0.5), self.by(text))
                ask = setting.ask.format(q=service)
                self.plan.ask("update", f"{ask} now", at[1:], values[1], stale=at[:1])
                self.plan.ask("history", f"{ask} before the last change", at[:1], values[0])

    def hops(self) -> None:
        for _ in self.plan.count(6):
            first, second = self.draw.some(SERVICES, 2)
            if not self.plan.take(first, "depends"):
                continue
            if not (found := self.fresh(services=(second,))):
                continue
            _, setting, (value,) = found
            at = self.somewhere(f"{first} depends on {second}")
            at += self.somewhere(self.state(second, setting, value))
            ask = setting.ask.format(q=f"the service that {first} depends on")
            self.plan.ask("2-hop", ask, at, value)

    def never_stated(self) -> None:
        for _ in self.plan.count(6):
            if found := self.fresh(0):
                service, setting, _ = found
                self.plan.ask("never-stated", setting.ask.format(q=service), ())

    def paraphrases(self) -> None:
        for i in self.plan.count(len(words.PARAPHRASES)):
            text, question = words.PARAPHRASES[i]
            service = self.draw.one(SERVICES)
            at = self.somewhere(text.format(s=service))
            self.plan.ask("paraphrase", question.format(q=service), at)

    def assistant(self) -> None:
        for i in self.plan.count(8):
            text, question, values = words.ADVICE[i % len(words.ADVICE)]
            service, value = self.draw.one(SERVICES), self.draw.one(values.split(", "))
            if self.plan.take(service, text):
                said = Said(text.format(s=service, v=value), ASSISTANT, "assistant")
                at = self.weave.plant(self.weave.some_session(), said)
                self.plan.ask("assistant", question.format(q=service), at, value)

    def lists(self) -> None:
        """Who joined the freeze, over five sessions; who was asked and did not, between them."""
        for i in self.plan.count(2):
            name = ("winter freeze", "tax audit")[i]
            chosen = self.draw.some(SERVICES, 5)
            at: list[int] = []
            for j, service in enumerate(chosen):
                text = (f"{service} joins the {name}", f"added {service} to the {name}")[j % 2]
                at += self.weave.plant(self.weave.some_session(j / 5, (j + 1) / 5), self.by(text))
            self.plan.ask("list", f"List the services in the {name}", at, ", ".join(chosen))

    def dates(self) -> None:
        for i in self.plan.count(8):
            what, _ = words.EVENTS[i]
            service, other = self.draw.some(SERVICES, 2)
            at = self.somewhere(what.format(s=service))
            self.somewhere(what.format(s=other))
            day = spelled(self.weave.starts[self.weave.session_of(at[0])])
            self.plan.ask("temporal", f"What was done to {service} on {day}", at, what)

    def long(self) -> None:
        for _ in self.plan.count(3):
            if found := self.fresh():
                service, setting, (value,) = found
                fact = self.state(service, setting, value)
                text = long_text(self.plan, fact, lambda: self.filler(0).text + ";")
                at = self.weave.plant(self.weave.some_session(), self.by(text))
                self.plan.ask("long-turn", setting.ask.format(q=service), at, value)

    def code(self) -> None:
        plant_code(self.plan, ASSISTANT)

    def identifiers(self) -> None:
        for each in IDENTIFIERS[1::2]:
            at = self.somewhere(each.told)
            self.somewhere(each.beside)
            self.plan.ask("identifier", each.query, at, each.word)

    def filler(self, session: int) -> Said:
        """Reports that state nothing that is asked for."""
        draw = self.draw
        setting = draw.one(SETTINGS)
        service, second = draw.some(SERVICES, 2)
        text = draw.one(setting.chat if draw.chance(0.35) else words.CHATTER)
        filled = text.format(
            s=service, s2=second, t=setting.topic, p=draw.one(self.others), d=draw.one(DAYS),
            n=draw.between(2, 900), k=f"{draw.one(('OPS', 'NET', 'DB'))}-{draw.between(100, 999)}",
        )  # fmt: skip
        return self.by(filled)
