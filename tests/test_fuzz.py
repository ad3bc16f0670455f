"""Whatever happens to an agent, and however its model, disk, embedder and clock misbehave, nothing
acknowledged is lost or doubled, nothing overflows, and it goes on.

The long form is benchmarks/faults.py --turns N; a failure prints the seed that repeats it.
"""

import logging
from collections.abc import Iterator

import pytest
from fuzz_kit import World

EVENTS = 60  # of a world, about forty of them turns


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Thousands of faults are logged; what counts is told by the one that is not survived."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("seeds", [range(first, first + 8) for first in range(0, 16, 8)], ids=str)
def test_random_faults(seeds: range) -> None:
    """Sixteen worlds in all, some 650 turns; most kinds of fault in each eight."""
    turns = faulty = 0
    kinds: set[str] = set()
    for seed in seeds:
        print("seed", seed)
        world = World(seed)
        world.live(EVENTS)
        assert world.struck == world.survived
        turns, faulty = turns + world.turns, faulty + world.faulty
        kinds |= set(world.survived)
    assert turns > 30 * len(seeds)
    assert faulty > turns / 2
    assert len(kinds) > 45
