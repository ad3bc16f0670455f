"""Has strangers say things by every way in, and a model repeat whatever it reads wherever it may;
counts what of it stands in anything that is trusted: nothing may.

    python benchmarks/lattice.py [--runs 200] [--seed 1] [--json FILE]

Worlds of ten to eighteen events each (tests/lattice_kit.py): talk, fetched pages, observations,
documents, messages of agents, imported records, flushes, sleeps. After each event every stored text
is looked through, and check_state() asked.
"""

import logging
import sys
from collections.abc import Sequence

from machine import ROOT, header, parser, table, write

sys.path.insert(0, str(ROOT / "tests"))
import lattice_kit

from pagemind.runtime.testing import temporary_runtime


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--runs", type=int, default=200, help="worlds")
    arguments.add_argument("--seed", type=int, default=1, help="of the first world")
    asked = arguments.parse_args(argv)
    logging.disable(logging.CRITICAL)
    events = planted = 0
    leaks: list[str] = []
    for seed in range(asked.seed, asked.seed + asked.runs):
        with temporary_runtime() as runtime:
            world = lattice_kit.World(runtime, seed)
            for event in lattice_kit.events_of(seed):
                world.happen(event)
                events += 1
                if found := world.leaks():
                    leaks.append(f"seed {seed}, after {event}: {'; '.join(found[:5])}")
                    print(leaks[-1], file=sys.stderr, flush=True)
                    break
            planted += world.planted
    table(["worlds", "events", "planted", "leaks"], [[asked.runs, events, planted, len(leaks)]])
    code = (ROOT / "tests" / "lattice_kit.py").read_text(encoding="utf-8")
    write(
        asked.json,
        {
            **header(seed=asked.seed, data=[code]),
            "worlds": asked.runs,
            "events": events,
            "planted": planted,
            "leaks": leaks,
        },
    )
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
