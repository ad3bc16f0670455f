"""What durability costs in a turn: wall time with every commit on disk ÷ without waiting for it.

    python benchmarks/fsync_cost.py [--turns 200] [--json FILE]

The same turns (scripted model, no embedder) run twice, in turn and in small rounds: as shipped
(SQLite synchronous FULL) and with synchronous OFF, which hands data to the operating system and
does not wait. CPU time hardly differs; what differs is waiting for the disk. `commits` is a turn's
share of write transactions.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from machine import header, parser, table, write

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.testing import ScriptedModel

SEED = 7
ROUNDS = 10
DEFINITION = parse_definition("name: bench\nembedding: none\ncontext_window: 8192\n")
TEXT = "The Nomad came in with the evening tide and lies at berth 14; the wind is west, force 4."


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--turns", type=int, default=200)
    asked = arguments.parse_args(argv)
    each = max(1, asked.turns // ROUNDS)
    rows = {mode: {"wall": 0.0, "cpu": 0.0} for mode in ("FULL", "OFF")}
    commits: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as folder:
        runtimes = {mode: Runtime(Path(folder) / mode, background=False) for mode in rows}
        agents = {
            mode: runtime.agent("bench", DEFINITION, model=ScriptedModel(after="Noted."))
            for mode, runtime in runtimes.items()
        }
        agents["OFF"].state.database._connection.execute("PRAGMA synchronous = OFF")
        agents["FULL"].state.database._connection.set_trace_callback(
            lambda statement: commits.append(statement) if statement == "COMMIT" else None
        )
        for agent in agents.values():
            agent.send("Hello.")  # loads what the first turn loads
        commits.clear()
        for _ in range(ROUNDS):
            for mode, agent in agents.items():
                wall, cpu = time.perf_counter(), time.process_time()
                for number in range(each):
                    agent.send(f"{number}: {TEXT}")
                rows[mode]["wall"] += time.perf_counter() - wall
                rows[mode]["cpu"] += time.process_time() - cpu
        for runtime in runtimes.values():
            runtime.close()
    turns = each * ROUNDS
    full, off = rows["FULL"], rows["OFF"]
    figures = {
        "turns": turns,
        "commits_per_turn": round(len(commits) / turns, 2),
        "wall_full_vs_off": round(full["wall"] / off["wall"], 3),
        "cpu_full_vs_off": round(full["cpu"] / off["cpu"], 3),
        "waiting_share": round(max(0.0, 1 - full["cpu"] / full["wall"]), 3),
    }
    table(list(figures), [list(figures.values())])
    write(asked.json, {**header(seed=SEED, data=[TEXT]), **figures})
    return 0


if __name__ == "__main__":
    sys.exit(main())
