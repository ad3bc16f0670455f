"""aging: what a turn costs after a long life, beside one after a short life.

The life of soak, and another one of 2,000 messages, then some hundred exchanges more of each, by
turns in blocks: whatever else the machine does slows both alike, so that the ratio is their own.
"""

import statistics
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from machine import header, write
from paging_soak import MESSAGES, SEED, Soak, plain

YOUNG = 2_000  # messages
BLOCK, BLOCKS = 100, 5  # exchanges, two searches a block at least


def run(asked: Namespace) -> int:
    """`paging.py aging`."""
    figures = aging(asked.messages or MESSAGES, asked.window)
    for name, value in figures.items():
        if name != "machine":
            print(f"{name}: {value}")
    write(asked.json, figures)
    return 0


def aging(messages: int, window: int, young: int = YOUNG, block: int = BLOCK) -> dict[str, Any]:
    """CPU of a late turn by that of an early one: of all threads, and of the one that waits for
    the answer."""
    lives: list[tuple[Soak, Iterator[int], int]] = []
    with ExitStack() as stack:
        for length in (messages, young):
            soak = Soak(length + 2 * block * BLOCKS, window, "on_flush")
            exchanges = soak.exchanges(stack.enter_context(soak.born()))
            for _ in range(length // 2):
                next(exchanges)
            lives.append((soak, exchanges, length // 2))
        for _ in range(BLOCKS):
            for _, exchanges, _ in lives:
                for _ in range(block):
                    next(exchanges)
    old, early = ([*enumerate(s.turns)][lived:] for s, _, lived in lives)

    def ratio(column: int, *, of_plain: bool = False) -> float:
        late, first = (
            statistics.fmean(turn[column] for at, turn in turns if not of_plain or plain(at))
            for turns in (old, early)
        )
        return round(late / first, 3)

    return {
        **header(seed=SEED, data=[]),
        "messages": messages,
        "messages_of_the_young": young,
        "window": window,
        "exchanges_compared": len(early),
        "cpu_late_vs_early": ratio(1),
        "cpu_waited_for_late_vs_early": ratio(2),
        "cpu_without_lookups_late_vs_early": ratio(2, of_plain=True),
        "cpu_ms_a_turn": round(1000 * statistics.fmean(turn[1] for _, turn in old), 2),
    }
