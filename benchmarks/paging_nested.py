"""nested: the key-value task of the MemGPT paper (Packer et al., 2023, §3.2.2), through pages.

140 pairs of UUIDs are told, 5 a message, in an order of each life's own. A value may be a key
again, up to four times over; the answer is the value that is none. The lookup looks every key up
with page_find and reads with page_in what it names, sees what a model sees and follows what it
finds; beside it stands the same life without functions that read pages and without prefetching.
With --model a model is asked in their place.
"""

import random
import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

from machine import header, table, write
from paging_kit import AGENT, Lookup, Talker, Watch, definition, pages_in, result, scripted

from pagemind.runtime.agent import Agent
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.testing import FrozenClock, call, temporary_runtime

PAIRS = 140
LEVELS = (0, 1, 2, 3, 4)
LIVES = 30
A_MESSAGE = 5
SEED = 1
HITS = 2  # of one page_find that are read: a text may be a value on one page and a key on another
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_PAIR = re.compile(rf"({_UUID}): ({_UUID})")
QUESTION = (
    "What is the value of {key}? If that is a key as well, look its value up in turn, until you"
    " have a value that is no key. Answer with this value alone."
)
WITH = ("core", "pages", "clock")
WITHOUT = ("core", "clock")


@dataclass(frozen=True, slots=True)
class Life:
    """Pairs in the order in which they are told, and for each level its key and its last value."""

    pairs: tuple[tuple[str, str], ...]
    asked: dict[int, tuple[str, str]]


def run(asked: Namespace) -> int:
    """`paging.py nested`."""
    figures = nested(asked.lives or (1 if asked.model else LIVES), asked.window, asked.model)
    rows = figures["rows"]
    table(list(rows[0]), [list(row.values()) for row in rows])
    write(asked.json, figures)
    return 0


def nested(lives: int, window: int, model: str | None = None) -> dict[str, Any]:
    """Answers right in percent, by level, with and without functions that read pages."""
    made = [life(number) for number in range(lives)]
    rows = []
    for name, tools in (("paging", WITH), ("window", WITHOUT)):
        outcomes = [outcome for each in made for outcome in _lived(each, window, tools, model)]
        for level in LEVELS:
            of_level = [o for o in outcomes if o.level == level]
            rows.append(
                {
                    "way": name,
                    "level": level,
                    "right": round(100 * sum(o.right for o in of_level) / len(of_level), 1),
                    "questions": len(of_level),
                    "calls": round(sum(o.calls for o in of_level) / len(of_level), 1),
                    "input_tokens": round(sum(o.tokens for o in of_level) / len(of_level)),
                }
            )
    told = (f"{key}: {value}" for each in made for key, value in each.pairs)
    return {
        **header(seed=SEED, data=told),
        "model": model or "scripted",
        "window": window,
        "pairs": PAIRS,
        "lives": lives,
        "rows": rows,
    }


def life(number: int) -> Life:
    """The pairs of one life. Each chain has keys of its own."""
    draw = random.Random(f"nested {SEED} {number}")
    pairs: list[tuple[str, str]] = []
    asked: dict[int, tuple[str, str]] = {}
    for level in LEVELS:
        chain = [_uuid(draw) for _ in range(level + 2)]
        pairs += pairwise(chain)
        asked[level] = (chain[0], chain[-1])
    pairs += [(_uuid(draw), _uuid(draw)) for _ in range(PAIRS - len(pairs))]
    draw.shuffle(pairs)
    return Life(tuple(pairs), asked)


def _uuid(draw: random.Random) -> str:
    return str(UUID(int=draw.getrandbits(128), version=4))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question: whether the last value was the answer, and what it took."""

    level: int
    right: bool
    calls: int
    tokens: int


def _lived(one: Life, window: int, tools: Sequence[str], model: str | None) -> Iterator[Outcome]:
    """Tell an agent the pairs, and ask it once for each level."""
    talker = Talker(lambda request: "Noted.")
    clock = FrozenClock()
    more = {} if "pages" in tools else {"prefetch": {"tokens": 0}}
    made = definition(window, tools=list(tools), **more)
    with temporary_runtime(clock) as runtime:
        watch = Watch(scripted(talker))
        agent = runtime.agent(AGENT, made, model=watch)
        for start in range(0, len(one.pairs), A_MESSAGE):
            lines = [f"{key}: {value}" for key, value in one.pairs[start : start + A_MESSAGE]]
            agent.send("Keys and values to remember:\n" + "\n".join(lines))
            clock.advance(minutes=3)
        if model is not None:
            agent.close()
            agent = runtime.agent(AGENT, model=model)
        for level, (key, gold) in one.asked.items():
            if model is not None:
                yield _answered(agent, level, key, gold)
                continue
            before = len(watch.sent)
            reads = follow(key) if "pages" in tools else look(key)
            found = talker.look(agent, QUESTION.format(key=key), reads)
            sent = watch.sent[before:]
            yield Outcome(level, found == gold, len(sent), sum(each.tokens for each in sent))


def _answered(agent: Agent, level: int, key: str, gold: str) -> Outcome:
    """What a model makes of the question: right if it names the last value and no other."""
    turn = agent.send(QUESTION.format(key=key))
    named = [each for each in re.findall(_UUID, turn.text) if each != key]
    right = bool(named) and named[-1] == gold
    return Outcome(level, right, turn.steps, turn.usage.prompt_tokens)


def follow(key: str) -> Lookup[str]:
    """Find and read until a value is no key that pages know of."""
    request = yield None
    known = seen(request)
    value = key
    while value in known:
        value = known[value]
    while True:
        request = yield call("page_find", query=value)
        known.update(seen(request))
        for page in pages_in(result(request))[:HITS]:
            if value in known:
                break
            request = yield call("page_in", id=page)
            known.update(seen(request))
        if value not in known:
            return value
        while value in known:
            value = known[value]


def look(key: str) -> Lookup[str]:
    """What the window holds, and no more."""
    request = yield None
    known = seen(request)
    value = key
    while value in known:
        value = known[value]
    return value


def seen(request: ModelRequest) -> dict[str, str]:
    """The pairs that stand in a request."""
    found = _PAIR.findall("\n".join(message.text for message in request.messages))
    return dict(found)
