"""Exporting and importing an agent: time and memory for histories of several lengths.

    python benchmarks/portability.py --messages 2000 20000 --json portability.json

Each step runs in a process of its own, so that its peak memory is its own; `rss_mb` is what it
took beyond a process that has loaded the same libraries and done the same with an empty agent.
Memory is flat: `rss_ratio` compares the longest history with the shortest.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from machine import header, parser, table, write

from pagemind.runtime.definition import parse_definition
from pagemind.runtime.intake import observation
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import HashingEmbedder
from pagemind.runtime.tiers.schema import rows_of_message
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.write_back import with_vectors

BLOCK = 4096  # messages written at once
STEPS = ("export", "import", "increment")
DEFINITION = """
name: carried
system: You are a test agent.
embedding: hashing
context_window: 8192
blocks:
  human: {value: "", limit: 2000}
tools: [recall_search, archival_insert]
"""


def main() -> int:
    """Run the steps for each length, print the table, write the JSON."""
    options = parser(__doc__)
    options.add_argument("--messages", type=int, nargs="+", default=[2_000, 100_000])
    options.add_argument("--step", choices=("make", *STEPS), help=argparse.SUPPRESS)
    options.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.step:
        print(json.dumps(step(asked.step, asked.folder, asked.messages[0])))
        return 0
    rows = []
    with tempfile.TemporaryDirectory(prefix="pagemind-portability-") as top:
        empty = measured(Path(top) / "0", 0)
        for messages in sorted(asked.messages):
            row = measured(Path(top) / str(messages), messages)
            for each in STEPS:
                row[each]["rss_mb"] = max(1, row[each]["rss_mb"] - empty[each]["rss_mb"])
            rows.append(row)
    ratios = {each: round(rows[-1][each]["rss_mb"] / rows[0][each]["rss_mb"], 2) for each in STEPS}
    table(
        ["messages", "step", "seconds", "CPU", "MB of memory", "file MB"],
        [
            [
                f"{row['messages']:,}",
                each,
                *(row[each][key] for key in ("seconds", "cpu_seconds", "rss_mb", "file_mb")),
            ]
            for row in rows
            for each in STEPS
        ],
    )
    print(f"memory, the longest to the shortest: {ratios}")
    told = header(seed=0, data=[str(asked.messages)])
    write(asked.json, {**told, "rows": rows, "rss_ratio": ratios})
    return 0


def measured(folder: Path, messages: int) -> dict[str, Any]:
    """One history through every step."""
    folder.mkdir()
    row: dict[str, Any] = {"messages": messages}
    for each in ("make", *STEPS):
        words = [sys.executable, __file__, "--step", each, "--folder", str(folder)]
        ran = subprocess.run(
            [*words, "--messages", str(messages)], check=True, capture_output=True, text=True
        )
        row[each] = json.loads(ran.stdout)
    del row["make"]
    return row


def step(name: str, folder: Path, messages: int) -> dict[str, Any]:
    """One step in this process: its seconds, its peak memory, the size of its file."""
    file = folder / "ada.pmz"
    with Runtime(folder / ("home" if name in ("make", "export") else "other")) as runtime:
        began, cpu = time.perf_counter(), time.process_time()
        if name == "make":
            make(runtime, messages)
        elif name == "export":
            runtime.export_agent("ada", file)
        elif name == "import":
            runtime.import_agent(file)
        else:
            more = folder / "more.pmz"
            with Runtime(folder / "home") as source:
                source.export_agent("ada", more, since=file)
            file = more
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    size = file.stat().st_size / 1e6 if file.exists() else 0.0
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "rss_mb": peak,
        "file_mb": round(size, 2),
    }


def make(runtime: Runtime, messages: int) -> None:
    """An agent that has heard so much, all of it embedded. Journal and tables are the product's
    own, written in large batches: a turn for each would take hours and measure something else."""
    registered = runtime.create("ada", parse_definition(DEFINITION))
    state = State(runtime.home.folder(registered.id), runtime.clock)
    embedder = HashingEmbedder(64)
    store = TierStore(state.tiers, embedder.identity)
    for first in range(0, messages, BLOCK):
        heard = []
        with state.database.transaction():
            for at in range(first, min(messages, first + BLOCK)):
                stored, _ = state.journal.append(observation(text(at), "log", ""), tokens=60)
                heard.append(stored)
            state.outbox.clear()
        rows = [row for message in heard for row in rows_of_message(message)]
        store.put("recall", with_vectors(embedder, rows))
    store.compact()
    state.close()


def text(number: int) -> str:
    """A line that no other is like."""
    words = " ".join(f"w{(number * 31 + at * at) % 9973}" for at in range(24))
    return f"Entry {number}: {words}."


if __name__ == "__main__":
    raise SystemExit(main())
