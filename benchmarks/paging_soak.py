"""soak: one long life through a small window, every request watched.

Messages of everyday length; every 20th exchange searches recall, every 50th rewrites a block of
core memory, every 100th reads a page back; facts are planted at even distances. Summaries are
written by the scripted model, and what is sent for them is counted. Prefetching is off, but for
one short run that shows what it does to the prefix.
"""

import random
import statistics
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from machine import header, table, write
from paging_kit import AGENT, START, Sent, Talker, Watch, definition, results, scripted
from paging_walk import bound, walk
from synthetic import TURNS, synthetic

from pagemind.runtime.agent import Agent
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.testing import FrozenClock, call, temporary_runtime
from pagemind.runtime.tokens import TokenCounter

MESSAGES = 20_000
FACTS = 40
SEED = 1
A_DAY = 25  # exchanges
BESIDE = 2_000  # messages of the runs whose prefix alone is looked at
PREFETCH = 600  # tokens: what the runtime takes by itself in a small window
AIM = 0.15  # of replay: where −85 % is reached
CACHED = 0.1  # what providers ask for a token of a cached prefix, of the price of another
POINTS = (250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
SEARCH_EVERY, EDIT_EVERY, READ_EVERY = 20, 50, 100


def run(asked: Namespace) -> int:
    """`paging.py soak`."""
    figures = soak(asked.messages or MESSAGES, asked.window)
    beside = min(figures["messages"], BESIDE)
    for name, refresh, prefetch in (
        ("on_flush", "on_flush", 0),
        ("on_edit", "on_edit", 0),
        ("on_flush_prefetch", "on_flush", PREFETCH),
    ):
        # A search before every turn takes a hundred times as long as the turn itself.
        other = Soak(beside // 4 if prefetch else beside, asked.window, refresh, prefetch)
        other.live()
        mean, median = other.prefix()
        figures[f"prefix_{name}"] = {"messages": other.messages, "mean": mean, "median": median}
    show(figures)
    write(asked.json, figures)
    return 0


def soak(messages: int, window: int) -> dict[str, Any]:
    """All figures of contract.md under on_flush."""
    one = Soak(messages, window, "on_flush")
    one.live()
    return one.figures()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something told once. `exchange` counts from 0."""

    exchange: int
    code: str

    @property
    def text(self) -> str:
        return f"Please note for later: the code of locker {self.exchange} is {self.code}."


@dataclass
class Cost:
    """Running sums after so many messages: tokens sent, and what other ways would have sent."""

    messages: int
    sent: int
    replay: int
    sliding: int
    cached: float
    replay_cached: float
    tokens: float  # of this turn
    seconds: float  # of all threads …
    own: float  # … and of the one that waits for the answer


@dataclass
class Soak:
    """One life."""

    messages: int
    window: int
    refresh: str
    prefetch: int = 0
    watch: Watch = field(init=False)
    talker: Talker = field(init=False)
    facts: list[Fact] = field(init=False)
    told: dict[int, datetime] = field(default_factory=dict)
    # Requests after each, CPU of all threads, CPU of the thread that waits for the answer.
    turns: list[tuple[int, float, float]] = field(default_factory=list)
    history: list[int] = field(default_factory=list)  # tokens of all that was said, after each
    tables: list[tuple[int, int]] = field(default_factory=list)  # pages, tokens of the table
    reads: dict[str, int] = field(default_factory=dict)
    found: int = 0
    pages: int = 0
    usable: int = 0
    clock: FrozenClock = field(default_factory=lambda: FrozenClock(START))

    def __post_init__(self) -> None:
        exchanges = self.messages // 2
        count = min(FACTS, max(1, exchanges // 10))
        draw = random.Random(f"facts {SEED}")
        self.facts = [
            Fact(at * exchanges // count, str(UUID(int=draw.getrandbits(128), version=4)))
            for at in range(count)
        ]

    def live(self) -> None:
        """All exchanges, and then the way to every fact."""
        with self.born() as agent:
            for _ in self.exchanges(agent):
                pass
            self.pages = agent.state.pages.count()
            if self.refresh == "on_flush" and not self.prefetch:
                self.reach(agent, self.talker)

    @contextmanager
    def born(self) -> Iterator[Agent]:
        """The agent before its first exchange, in a runtime that goes with it."""
        self.talker = Talker(self.answer)
        self.watch = Watch(scripted(self.talker))
        with temporary_runtime(self.clock) as runtime:
            made = definition(
                self.window,
                prompt={"refresh_blocks": self.refresh},
                prefetch={"tokens": self.prefetch},
            )
            agent = runtime.agent(AGENT, made, model=self.watch)
            self.usable = agent.queue_manager.measure().usable
            yield agent

    def exchanges(self, agent: Agent) -> Iterator[int]:
        """One exchange after the other, as it is asked for the next."""
        counter = TokenCounter()
        facts = {fact.exchange: fact.text for fact in self.facts}
        said, shown = 0, ""
        for number, text in enumerate(texts(self.messages // 2)):
            self._pass_time(number)
            self.told[number] = self.clock.now()
            spoken = facts.get(number, text)
            watched, own = self.watch.seconds, time.thread_time()
            cpu = time.process_time()
            turn = agent.send(spoken)
            assert turn.stop_reason == "answered", turn.reasons
            watched = self.watch.seconds - watched
            cpu = time.process_time() - cpu - watched
            own = time.thread_time() - own - watched
            said += counter.count(spoken) + counter.count(turn.text) + 8
            self.turns.append((len(self.watch.sent), cpu, own))
            self.history.append(said)
            if agent.context.table != shown:
                shown = agent.context.table
                self.tables.append((agent.state.pages.count(), counter.count(shown)))
            yield number

    def reach(self, agent: Agent, talker: Talker) -> None:
        """Each fact by its time alone, with page_in from the table."""
        for fact in self.facts:
            at = self.told[fact.exchange]
            ids = talker.look(agent, f"What did I say at {at:%Y-%m-%d %H:%M}?", walk(at, fact.code))
            self.reads[fact.code] = len(ids.read)
            self.found += ids.found

    def _pass_time(self, number: int) -> None:
        day, place = divmod(number, A_DAY)
        at = START + timedelta(days=day, minutes=5 * place)
        self.clock.advance(seconds=(at - self.clock.now()).total_seconds())

    def answer(self, request: ModelRequest) -> Answer:
        """What the model says: mostly words, sometimes a call first."""
        number = len(self.turns)
        if not results(request):
            self.clock.advance(minutes=1)  # a reply in the same minute could not be told apart
            if number % READ_EVERY == READ_EVERY - 1 and (page := self._some_page(number)):
                return call("page_in", id=page)
            if number % EDIT_EVERY == EDIT_EVERY - 1:
                return self._edit(number)
            if number % SEARCH_EVERY == SEARCH_EVERY - 1:
                return call("recall_search", query=f"locker {number // 2}")
        return replies(number)

    def _some_page(self, number: int) -> str:
        last = self.tables[-1][0] if self.tables else 0
        return f"p{random.Random(number).randint(1, last)}" if last else ""

    def _edit(self, number: int) -> ToolCall:
        return call(
            "core_rewrite",
            block="human",
            content=f"Likes plain answers. Last noted in exchange {number}, about the lockers.",
        )

    # --- figures ----------------------------------------------------------------------------

    def lived(self) -> list[Sent]:
        """The requests of the life itself, without the lookups at its end."""
        return self.watch.sent[: self.turns[-1][0]]

    def prefix(self) -> tuple[float, float]:
        """Unchanged prefix: mean weighted by tokens, and median, in percent."""
        sent = self.lived()[1:]
        mean = sum(each.prefix for each in sent) / sum(each.tokens for each in sent)
        return round(100 * mean, 2), round(100 * statistics.median(s.share for s in sent), 2)

    def costs(self) -> list[Cost]:
        """Sums along the way. Replay and a sliding window send one request for each exchange: they
        search and read nothing; paging pays for all its calls and a share of its summaries."""
        made: list[Cost] = []
        sent = self.lived()
        sums = {"sent": 0, "replay": 0, "sliding": 0, "cached": 0.0, "replay_cached": 0.0}
        before = 0
        background = self.watch.background / max(1, len(self.turns))
        for number, ((until, seconds, own_seconds), said) in enumerate(
            zip(self.turns, self.history, strict=True)
        ):
            own = sent[before:until]
            history = self.history[number - 1] if number else 0
            whole = own[0].fixed + said
            sums["sent"] += sum(each.tokens for each in own) + background
            sums["cached"] += background + sum(
                each.tokens - (1 - CACHED) * each.prefix for each in own
            )
            sums["replay"] += whole
            sums["replay_cached"] += whole - (1 - CACHED) * (own[0].fixed + history)
            sums["sliding"] += min(self.usable, whole)
            tokens = sum(each.tokens for each in own)
            made.append(
                Cost(2 * (number + 1), **sums, tokens=tokens, seconds=seconds, own=own_seconds)
            )
            before = until
        return made

    def figures(self) -> dict[str, Any]:
        costs = self.costs()
        last = costs[-1]
        mean, median = self.prefix()
        early, late = self._spans(costs)
        curve = [
            {
                "messages": each.messages,
                "tokens_vs_replay": round(each.sent / each.replay, 4),
                "tokens_vs_sliding": round(each.sent / each.sliding, 4),
                "price_vs_replay": round(each.cached / each.replay_cached, 4),
            }
            for each in costs
            if each.messages in POINTS or each is last
        ]
        saved = next((c.messages for c in costs if c.sent <= AIM * c.replay), None)
        sent = self.lived()
        return {
            **header(seed=SEED, data=(fact.text for fact in self.facts)),
            "messages": self.messages,
            "window": self.window,
            "usable": self.usable,
            "max_prompt_tokens": max(each.tokens for each in self.watch.sent),
            "max_prompt_and_reply": max(each.tokens + each.max_tokens for each in self.watch.sent),
            "fixed_tokens": sent[-1].fixed,
            "table_tokens": sent[-1].table,
            "table_by_pages": self._by_pages(),
            "pages": self.pages,
            "calls": len(sent),
            "prefix_mean": mean,
            "prefix_median": median,
            "tokens_vs_replay": round(last.sent / last.replay, 4),
            "tokens_vs_sliding": round(last.sent / last.sliding, 4),
            "price_vs_replay": round(last.cached / last.replay_cached, 4),
            "saves_85_percent_from": saved,
            "background_share": round(self.watch.background / last.sent, 4),
            "curve": curve,
            "facts_planted": len(self.facts),
            "facts_reachable": self.found,
            "max_reads": max(self.reads.values()),
            "read_bound": bound(self.pages),
            "prompt_tokens_late_vs_early": _ratio(
                [c.tokens for c in late], [c.tokens for c in early]
            ),
            "cpu_late_vs_early": _ratio([c.seconds for c in late], [c.seconds for c in early]),
            "cpu_waited_for_late_vs_early": _ratio([c.own for c in late], [c.own for c in early]),
            "cpu_without_lookups_late_vs_early": _ratio(_plain_turns(late), _plain_turns(early)),
            "cpu_ms_a_turn": round(1000 * sum(c.seconds for c in late) / len(late), 2),
        }

    def _spans(self, costs: list[Cost]) -> tuple[list[Cost], list[Cost]]:
        """Turns 1,001–2,000 and the last 1,000; of a short life its second and last fifth."""
        if len(costs) >= 3_000:
            return costs[1_000:2_000], costs[-1_000:]
        fifth = max(1, len(costs) // 5)
        return costs[fifth : 2 * fifth], costs[-fifth:]

    def _by_pages(self) -> list[dict[str, int]]:
        """The table's tokens where the number of pages has doubled."""
        found, next_ = [], 1
        for pages, tokens in [*self.tables[:-1], self.tables[-1]]:
            if pages >= next_ or (pages, tokens) == self.tables[-1]:
                found.append({"pages": pages, "tokens": tokens})
                next_ = 2 * pages
        return found


def _plain_turns(costs: Sequence[Cost]) -> list[float]:
    return [c.own for c in costs if plain(c.messages // 2 - 1)]


def plain(number: int) -> bool:
    """Whether an exchange neither searches nor reads nor edits."""
    return all((number + 1) % every for every in (SEARCH_EVERY, EDIT_EVERY, READ_EVERY))


def _ratio(late: Sequence[float], early: Sequence[float]) -> float:
    return round(statistics.fmean(late) / statistics.fmean(early), 3)


def texts(count: int) -> Iterator[str]:
    """So many messages of everyday length: some sentences of the synthetic chat, numbered."""
    said = [turn.text for turn in synthetic(SEED, TURNS).conversations[0].turns]
    said = [text for text in said if len(text) < 200]
    draw = random.Random(f"texts {SEED}")
    for number in range(count):
        yield " ".join(draw.choices(said, k=draw.randint(1, 4))) + f" ({number})"


def replies(number: int) -> str:
    """An answer of 15 to 60 tokens."""
    draw = random.Random(number)
    some = (
        "Understood, and thank you for telling me.",
        "I would sleep on it and decide in the morning.",
        "That sounds like a long day; I hope the evening is a quiet one.",
        "If it helps, we can go through it point by point tomorrow.",
        "I have no better idea than the one you had yourself.",
        "The short answer is yes, the long one depends on the weather.",
    )
    return f"{number}: " + " ".join(draw.choices(some, k=draw.randint(1, 4)))


def show(figures: dict[str, Any]) -> None:
    """The figures as tables."""
    table(list(figures["curve"][0]), [list(each.values()) for each in figures["curve"]])
    print()
    table(["pages", "table tokens"], [list(each.values()) for each in figures["table_by_pages"]])
    print()
    for name, value in figures.items():
        if name not in ("machine", "curve", "table_by_pages"):
            print(f"{name}: {value}")
