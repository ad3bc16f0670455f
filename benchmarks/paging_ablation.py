"""ablation: each mechanism of paging left out, and alone: what it buys in answers, costs in tokens.

One talk, the same for every row: exchanges of everyday length; every fifth tells a fact, every
fourth lets the model call a function of the world with a long result, and after each fact one of
all earlier ones is asked for. The scripted model answers right if the fact stands in view; what it
does where it does not, is the column:

    looks    nothing: it answers from its view
    walks    reads with page_in what the gists of the table promise, three reads at most
    finds    asks page_find, and reads the two best pages

At a notice it writes the facts it sees into core memory, and into archival memory when that is
full. `truncated` is the same window without any of it. With --model the talk is the same, and a
model answers the questions at its end; in the row `plain` it is given what stands in the window of
`truncated` as one text, without a runtime between.
"""

import random
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from machine import header, table, write
from paging_kit import (
    AGENT,
    START,
    Lookup,
    Talker,
    Watch,
    definition,
    pages_in,
    result,
    results,
    scripted,
)
from paging_needle import words
from paging_soak import replies, texts
from paging_walk import lines_in, read, shown_table

from pagemind.runtime.message import Message, Text
from pagemind.runtime.model import Model, ModelRequest
from pagemind.runtime.model_choice import ModelChoice, make_model
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.parts import Parts
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import home_path
from pagemind.runtime.testing import FrozenClock, HashingEmbedder, call
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.tool import tool
from pagemind.runtime.trace import TraceEvent

MESSAGES = 400
SEED = 1
FACT_EVERY, RESULT_EVERY = 5, 4
CORE_FACTS = 12  # at most: the block holds other things too; the rest goes to archival memory
READS = {"walks": 3, "finds": 2}
READERS = ("looks", "walks", "finds")
QUESTIONS = 10  # that a model is asked
NONE = Parts(warning=False, table=False, prefetch=False, summary=False, handles=False)
OFF: dict[str, Parts] = {
    "all parts": Parts(),
    "no warning": Parts(warning=False),
    "no table": Parts(table=False),
    "no prefetch": Parts(prefetch=False),
    "no summary": Parts(summary=False),
    "no stage 0": Parts(handles=False),
    "only warning": replace(NONE, warning=True),
    "only table": replace(NONE, table=True),
    "only prefetch": replace(NONE, prefetch=True),
    "only summary": replace(NONE, summary=True),
    "only stage 0": replace(NONE, handles=True),
    "only functions": NONE,
    "truncated": NONE,
    "plain": NONE,
}
BARE = ("truncated", "plain")
_THINGS = "gate badge locker ticket parcel invoice cabin desk bicycle boiler meter permit".split()
_PEOPLE = "Ada Bruno Chidi Dora Emil Farah Goran Hana Ivo Jana Kofi Lena Milo Nour Otis".split()
SHORT = "Answer with the code alone."
PLAIN = "Below is a conversation. Answer the question at its end from it."
ANSWER_TOKENS = 32
COUNT = TokenCounter().count


@dataclass(frozen=True, slots=True)
class Fact:
    """Told at exchange `at`; nobody else has such a thing."""

    at: int
    person: str
    thing: str
    code: str

    @property
    def text(self) -> str:
        return f"Please remember: the {self.thing} code of {self.person} is {self.code}."

    @property
    def question(self) -> str:
        return f"What is the {self.thing} code of {self.person}?"


def run(asked: Namespace) -> int:
    """`paging.py ablation`."""
    figures = ablation(
        asked.messages or MESSAGES,
        asked.window,
        asked.model,
        asked.questions,
        only=asked.parts,
    )
    columns = list(dict.fromkeys(key for row in figures["rows"] for key in row))
    table(columns, [[row.get(key, "") for key in columns] for row in figures["rows"]])
    write(asked.json, figures)
    return 0


def ablation(
    messages: int,
    window: int,
    model: str | None = None,
    questions: int | None = None,
    readers: Sequence[str] = READERS,
    only: Sequence[str] | None = None,
) -> dict[str, Any]:
    """A row for each part left out; or `only` these rows."""
    rows: list[dict[str, Any]] = []
    for name, parts in OFF.items():
        if (only and name not in only) or (name == "plain" and model is None):
            continue
        row: dict[str, Any] = {"parts": name}
        lives = []
        for reader in ("looks",) if model or name in BARE else readers:
            one = Life(
                messages // 2, window, parts, reader, bare=name in BARE, plain=name == "plain"
            )
            one.live(model, questions or QUESTIONS)
            row[f"{reader}_right"] = one.share(one.right)
            lives.append(one)
        first = lives[0]
        row["in_view"] = first.share(first.in_view)
        row["tokens_a_turn"] = first.tokens_a_turn
        for one in lives[1:]:
            row[f"tokens_a_turn_{one.reader}"] = one.tokens_a_turn
        row["flushes"], row["pages"] = first.flushes, first.pages
        if model:
            row["model_right"] = first.share_of_model()
            row["model_asked"] = first.model_asked
            print(name, row["model_right"], file=sys.stderr, flush=True)  # it takes its time
            row["model_tokens"] = round(first.model_tokens / max(1, first.model_asked))
        rows.append(row)
    return {
        **header(seed=SEED, data=(fact.text for fact in facts(messages // 2))),
        "messages": messages,
        "window": window,
        "model": model or "scripted",
        "rows": rows,
    }


def facts(exchanges: int) -> list[Fact]:
    """One at every fifth exchange."""
    draw = random.Random(f"ablation {SEED}")
    pairs = [(person, thing) for person in _PEOPLE for thing in _THINGS]
    draw.shuffle(pairs)
    count = min(len(pairs), exchanges // FACT_EVERY)
    codes = draw.sample(range(1000, 10_000), count)
    return [
        Fact(number * FACT_EVERY, *pairs[number], f"{draw.choice('BCDFGHK')}{code}")
        for number, code in enumerate(codes)
    ]


@tool(effect="world")
def look_up(topic: str) -> str:
    """Look a topic up in the catalogue.

    Args:
        topic: One word.
    """
    draw = random.Random(topic)
    lines = [f"{draw.choice(_THINGS)} {draw.randrange(10**6)}, row {n}" for n in range(24)]
    return f"{topic}:\n" + "\n".join(lines)


@dataclass
class Life:
    """The talk once, with some parts at work and one way to look for what is not in view."""

    exchanges: int
    window: int
    parts: Parts
    reader: str
    bare: bool = False
    plain: bool = False
    asked: int = 0
    in_view: int = 0
    right: int = 0
    turns: int = 0
    tokens: int = 0
    flushes: int = 0
    pages: int = 0
    model_asked: int = 0
    model_right: int = 0
    model_tokens: int = 0
    _saved: set[str] = field(default_factory=set)
    _told: list[Fact] = field(default_factory=list)

    def live(self, model: str | None, questions: int) -> None:
        """All exchanges; then the questions of a model, if there is one."""
        draw = random.Random(f"asked {SEED}")
        talker = Talker(self.answer)
        watch = Watch(scripted(talker))
        clock = FrozenClock(START)
        more: dict[str, Any] = {"tools": ["clock"]} if self.bare else {}
        if model is not None and model.startswith("local/"):
            more["protocol"] = "guided"
        told = {fact.at: fact for fact in facts(self.exchanges)}
        spoken = list(texts(self.exchanges))
        with Runtime(
            ":memory:",
            clock=clock,
            embedder=HashingEmbedder(64),
            background=False,
            parts=self.parts,
        ) as runtime:
            agent = runtime.agent(
                AGENT, definition(self.window, **more), model=watch, tools=[look_up]
            )
            for number, text in enumerate(spoken):
                clock.advance(minutes=20)
                self.turns += 1
                said = told[number].text if number in told else text
                agent.send(said, observer=self._observe)
                if number in told:
                    self._told.append(told[number])
                    self._ask(draw.choice(self._told), agent, talker)
            self.pages = agent.state.pages.count()
            self.tokens = sum(each.tokens for each in watch.sent)
            if model is None:
                return
            drawn = random.Random(f"model {SEED}")
            asked = drawn.sample(self._told, min(questions, len(self._told)))
            if self.plain:
                self._ask_plainly(asked, agent, model)
                return
            agent.close()
            agent = runtime.agent(AGENT, model=model, tools=[look_up])
            for fact in asked:
                turn = agent.send(f"{fact.question} {SHORT}")
                self._answered(fact, turn.text, turn.usage.prompt_tokens)

    def _ask_plainly(self, asked: Sequence[Fact], agent: Any, name: str) -> None:
        """What stands in the window as one text, the question after it, and the bare model."""
        said = [
            f"{e.message.speaker or e.message.role}: {e.shown.text}" for e in agent.context.queue
        ]
        model: Model = make_model(ModelChoice(name, "benchmark"), home_path(), None)
        try:
            for fact in asked:
                body = "\n".join([*said, "", f"Question: {fact.question} {SHORT}"])
                request = ModelRequest(
                    (PLAIN,), (Message("user", (Text(body),)),), (), ANSWER_TOKENS
                )
                reply = model.complete(request)
                self._answered(fact, reply.text, reply.usage.prompt_tokens or COUNT(PLAIN + body))
        finally:
            model.close()

    def _answered(self, fact: Fact, text: str, tokens: int) -> None:
        self.model_asked += 1
        self.model_right += fact.code in text
        self.model_tokens += tokens

    def _ask(self, fact: Fact, agent: Any, talker: Talker) -> None:
        """Some exchanges of the talk ask for a fact of any age."""
        self.asked += 1
        self.turns += 1
        seen, right = talker.look(agent, fact.question, self._look(fact))
        self.in_view += seen
        self.right += right

    def _look(self, fact: Fact) -> Lookup[tuple[bool, bool]]:
        """Whether the code stands in view, and whether it does after looking for it."""
        request = yield None
        if fact.code in _text(request):
            return True, True
        if self.reader == "walks":
            found = yield from self._walk(fact, request)
        elif self.reader == "finds":
            found = yield from self._find(fact)
        else:
            found = False
        return False, found

    def _walk(self, fact: Fact, request: ModelRequest) -> Lookup[bool]:
        open_ = lines_in(shown_table(request))
        terms = words(fact.question)
        taken: set[str] = set()
        for _ in range(READS["walks"]):
            left = [line for line in open_ if line.id not in taken]
            if not left:
                return False
            best = max(left, key=lambda line: (len(terms & words(line.text)), line.last))
            taken.add(best.id)
            text, _ = yield from read(best.id)
            if fact.code in text:
                return True
            open_ += lines_in(text) if best.id.startswith("d") else []
        return False

    def _find(self, fact: Fact) -> Lookup[bool]:
        request = yield call("page_find", query=fact.question)
        named = pages_in(result(request))
        if fact.code in result(request):
            return True
        for page in named[: READS["finds"]]:
            text, _ = yield from read(page)
            if fact.code in text:
                return True
        return False

    def _observe(self, event: TraceEvent) -> None:
        self.flushes += event.kind == "flush_ended"

    # --- what the model says in the talk ----------------------------------------------------------

    def answer(self, request: ModelRequest) -> Answer:
        done = results(request)
        if not done and not self.bare and self._noticed(request):
            unsaved = [fact for fact in self._seen(request) if fact.code not in self._saved]
            if unsaved:
                return self._save(unsaved)
        if not done and self.turns % RESULT_EVERY == 0:
            return call("look_up", topic=f"topic{self.turns}")
        return replies(self.turns)

    def _noticed(self, request: ModelRequest) -> bool:
        """The warning of pressure stands in the queue until the flush."""
        return any(message.kind == "notice" for message in request.messages[1:])

    def _seen(self, request: ModelRequest) -> Iterator[Fact]:
        said = "\n".join(message.text for message in request.messages[1:])
        return (fact for fact in self._told if fact.text in said)

    def _save(self, unsaved: Sequence[Fact]) -> Answer:
        fits = len(self._saved) + len(unsaved) <= CORE_FACTS
        self._saved.update(fact.code for fact in unsaved)
        lines = [f"The {fact.thing} code of {fact.person} is {fact.code}." for fact in unsaved]
        if fits:
            return call("core_append", block="human", content="\n".join(lines))
        return [call("archival_insert", content=line) for line in lines]

    # --- figures ------------------------------------------------------------------------------

    def share(self, of: int) -> float:
        return round(100 * of / max(1, self.asked), 1)

    def share_of_model(self) -> float:
        return round(100 * self.model_right / max(1, self.model_asked), 1)

    @property
    def tokens_a_turn(self) -> int:
        return round(self.tokens / max(1, self.turns))


def _text(request: ModelRequest) -> str:
    return "\n".join([*request.system, *(message.text for message in request.messages)])
