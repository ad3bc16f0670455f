"""talk(): the demo's conversation, 300 exchanges over some weeks, the same on every machine."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from pagemind.runtime.demo.phrases import PHRASES, PLANTED, Phrase

SEED = 7
EXCHANGES = 300
SPEAKER = "Ines"
_START = datetime(2026, 3, 2, 8, 40, tzinfo=UTC)
_GONE = ("January", "February")
_COMING = ("May", "June", "July", "August", "September", "October")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What Ines said, when, and what she was answered. Numbers count from 1."""

    number: int
    at: datetime
    said: str
    reply: str


@cache
def talk() -> tuple[Exchange, ...]:
    """All of it. No text occurs twice."""
    draw = random.Random(SEED)
    lines = _lines(draw)
    exchanges: list[Exchange] = []
    at, left = _START, 0
    for number in range(1, EXCHANGES + 1):
        if left == 0:  # another day
            at = at.replace(hour=7, minute=0) + timedelta(days=1, minutes=draw.randrange(240))
            left = draw.randrange(4, 9)
        at += timedelta(seconds=draw.randrange(40, 260))
        left -= 1
        said, reply = PLANTED.get(number) or lines.pop()
        exchanges.append(Exchange(number, at, said, reply))
    texts = [text for each in exchanges for text in (each.said, each.reply)]
    assert len(set(texts)) == 2 * EXCHANGES
    return tuple(exchanges)


def _lines(draw: random.Random) -> list[tuple[str, str]]:
    """Every phrase in turn, a new round when all were used, until there are enough."""
    decks = [_deck(phrase, draw) for phrase in PHRASES]
    lines: list[tuple[str, str]] = []
    while len(lines) < EXCHANGES - len(PLANTED):
        full = [deck for deck in decks if deck]
        assert full, "there are too few phrases"
        draw.shuffle(full)
        lines.extend(deck.pop() for deck in full)
    lines = lines[: EXCHANGES - len(PLANTED)]
    return lines[::-1]


def _deck(phrase: Phrase, draw: random.Random) -> list[tuple[str, str]]:
    """As many fillings of a phrase as its shortest list of words has."""
    words = {name: draw.sample(given, len(given)) for name, given in phrase.blanks.items()}
    filled = []
    for row in range(min(len(given) for given in words.values())):
        values = _drawn(draw) | {name: given[row] for name, given in words.items()}
        filled.append((_sentence(phrase.said, values), _sentence(phrase.reply, values)))
    return filled


def _drawn(draw: random.Random) -> dict[str, str]:
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    return {
        "euros": f"{draw.randrange(24, 4800):,}",
        "cm": str(draw.randrange(38, 195)),
        "kg": f"{draw.randrange(14, 380) / 10}",
        "n": str(draw.randrange(3, 60)),
        "clock": f"{draw.randrange(5, 23)}:{draw.randrange(0, 60):02}",
        "day": f"{draw.randrange(1, 29)} {draw.choice(_COMING)}",
        "past": f"{draw.randrange(1, 29)} {draw.choice(_GONE)}",
        "code": f"{draw.choice(letters)}{draw.choice(letters)}-{draw.randrange(1000, 9999)}",
        "phone": f"0{draw.randrange(20, 90)} {draw.randrange(100_000, 999_999)}",
    }


def _sentence(text: str, values: dict[str, str]) -> str:
    filled = text.format(**values)
    return filled[0].upper() + filled[1:]
