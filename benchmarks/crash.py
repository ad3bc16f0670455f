"""Kills an agent's process at random instants and counts what was lost or doubled: nothing may be.

    python benchmarks/crash.py [--runs 50] [--seed 7] [--json FILE]

Each run starts a process that talks, pages out and writes back, and kills it (SIGKILL) at a random
time or at a named point; then the home is opened, every acknowledged message, passage and block is
counted, a turn is made and LanceDB compared row by row. Ten runs share a home.
"""

import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from machine import ROOT, header, parser, table, write

sys.path.insert(0, str(ROOT / "tests"))
from crash_kit import CHILD, POINTS, Home, random_delay

HOME_RUNS = 10


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--runs", type=int, default=50)
    arguments.add_argument("--seed", type=int, default=7)
    asked = arguments.parse_args(argv)
    chance = random.Random(asked.seed)
    kills = acknowledged = 0
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pagemind-crash-") as folder:
        home = Home(Path(folder) / "0", asked.seed)
        for run in range(asked.runs):
            if run % HOME_RUNS == 0:
                home = Home(Path(folder) / str(run), asked.seed + run)
            before = home.kills
            if chance.random() < 0.5:
                acknowledged += home.run(kill=random_delay(chance))
            else:
                point, when, most = chance.choice(POINTS)
                acknowledged += home.run(point, when, chance.randint(1, most))
            kills += home.kills - before
            try:
                home.check()
            except AssertionError as fault:
                faults.append(f"run {run}: {fault}")
                home = Home(Path(folder) / f"after {run}", asked.seed + run)
    found = {
        **header(seed=asked.seed, data=[CHILD.read_text(encoding="utf-8")]),
        "runs": asked.runs,
        "kills": kills,
        "acknowledged": acknowledged,
        "faults": faults,
    }
    table(
        ["runs", "kills", "acknowledged", "lost or doubled"],
        [[asked.runs, kills, acknowledged, len(faults)]],
    )
    for fault in faults:
        print(fault)
    write(asked.json, found)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
