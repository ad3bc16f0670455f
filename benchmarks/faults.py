"""Lets everything go wrong around an agent, at random, and counts what was lost: nothing may be.

    python benchmarks/faults.py [--turns 10000] [--seed 1] [--json FILE]

Worlds of sixty events each (tests/fuzz_kit.py): turns, observations, restarts, kills; in most of
them the model, the disk, LanceDB, the embedder or the clock fails. After each event everything
acknowledged is looked for. `turns` counts those in which a fault struck.
"""

import logging
import sys
from collections import Counter
from collections.abc import Sequence

from machine import ROOT, header, parser, table, write

sys.path.insert(0, str(ROOT / "tests"))
import fuzz_faults
import fuzz_kit
import fuzz_ledger
import fuzz_model
from fuzz_kit import World
from fuzz_ledger import Broken

EVENTS = 60


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--turns", type=int, default=10_000, help="faulty turns, at least")
    arguments.add_argument("--seed", type=int, default=1, help="of the first world")
    asked = arguments.parse_args(argv)
    logging.disable(logging.CRITICAL)
    struck: Counter[str] = Counter()
    survived: Counter[str] = Counter()
    faulty = turns = events = worlds = lost = stuck = 0
    faults: list[str] = []
    while faulty < asked.turns:
        world = World(asked.seed + worlds)
        try:
            world.live(EVENTS)
        except Broken as fault:
            stuck += fault.stuck
            lost += not fault.stuck
            faults.append(str(fault))
            print(fault, file=sys.stderr, flush=True)
        worlds += 1
        struck.update(world.struck)
        survived.update(world.survived)
        faulty, turns, events = faulty + world.faulty, turns + world.turns, events + world.events
    code = [
        (ROOT / "tests" / f"{module.__name__}.py").read_text(encoding="utf-8")
        for module in (fuzz_kit, fuzz_ledger, fuzz_model, fuzz_faults)
    ]
    table(
        ["fault", "tried", "survived"],
        [[kind, struck[kind], survived[kind]] for kind in sorted(struck)],
    )
    print()
    table(
        ["faulty turns", "turns", "events", "worlds", "faults", "lost", "stuck"],
        [[faulty, turns, events, worlds, struck.total(), lost, stuck]],
    )
    write(
        asked.json,
        {
            **header(seed=asked.seed, data=code),
            "turns": faulty,
            "turns_in_all": turns,
            "events": events,
            "worlds": worlds,
            "kinds": {
                kind: {"tried": struck[kind], "survived": survived[kind]} for kind in sorted(struck)
            },
            "lost": lost,
            "stuck": stuck,
            "faults": faults,
        },
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
