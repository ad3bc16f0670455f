"""What the runtime itself costs in a turn, by length of the history; the model takes no time.

    python benchmarks/turn_overhead.py [--history 10 200 …] [--turns 200] [--via scripted|litellm]
                                       [--json FILE]

cpu_ms_total is the process's CPU time over all threads ÷ turns: append, commit, measure, render,
page out, summarise, write back to LanceDB with vectors of the hashing embedder, and the share of a
compaction that these turns bring nearer (one every settings.OPTIMIZE_COMMITS commits; its time is
measured afterwards). cpu_ms_foreground is the time of the calling thread alone: what a person waits
for beside the model. Histories are made of real turns by the kernel itself. With `--via litellm`
the same turns go through litellm to a server on loopback, in a process of its own.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machine import ROOT, header, parser, table, write

from pagemind.runtime.agent import Agent
from pagemind.runtime.demo.talk import talk
from pagemind.runtime.message import Message
from pagemind.runtime.model import Model
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import DEFAULT_WINDOW_TOKENS, OPTIMIZE_COMMITS, WRITE_BACK_ROWS
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel

HISTORIES = (10, 200, 1_000, 10_000)  # messages
SEED = 7
AGENT = "bench"
WARM_UP = 3  # turns after opening: imports, first pages of the files
REPLY = "Noted, word for word; ask me again whenever you like, even in a year or two."

SERVER = """
import sys
from loopback import Loopback
with Loopback(sys.argv[1], window=int(sys.argv[2])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--history", type=int, nargs="+", default=list(HISTORIES))
    arguments.add_argument("--turns", type=int, default=200)
    arguments.add_argument("--via", choices=("scripted", "litellm"), default="scripted")
    asked = arguments.parse_args(argv)
    names = ("history", "cpu_ms_total", "cpu_ms_foreground", "cpu_ms_compaction", "pages", "via")
    rows: list[dict[str, Any]] = []
    with model(asked.via) as answering:
        for history in asked.history:
            rows.append(measured(history, asked.turns, asked.via, answering))
            print(f"{history:,} messages: {rows[-1]['cpu_ms_total']} ms a turn", flush=True)
    table(names, [[row[name] for name in names] for row in rows])
    first, last = rows[0]["cpu_ms_total"], rows[-1]["cpu_ms_total"]
    ratio = round(last / first, 3)
    print(f"a turn at the last history costs {ratio} × one at the first")
    write(
        asked.json,
        {
            **header(seed=SEED, data=texts(asked.turns)),
            "turns": asked.turns,
            "window": DEFAULT_WINDOW_TOKENS,
            "rows": rows,
            "last_vs_first": ratio,
        },
    )
    return 0


def measured(history: int, turns: int, via: str, answering: Model) -> dict[str, Any]:
    """One row."""
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as folder:
        home = Path(folder)
        prepare(home, history)
        with opened(home, answering) as (runtime, agent):
            for text in texts(WARM_UP, "warm"):
                agent.send(text)
            runtime.drain(agent)
            pages = agent.state.pages.count()
            cpu, foreground = time.process_time(), time.thread_time()
            for text in texts(turns):
                agent.send(text)
            foreground = time.thread_time() - foreground
            assert runtime.drain(agent)
            cpu = time.process_time() - cpu
            pages = agent.state.pages.count() - pages
        commits = 2 * turns / WRITE_BACK_ROWS
        upkeep = compaction(home) * commits / OPTIMIZE_COMMITS
    return {
        "history": history,
        "cpu_ms_total": round((cpu + upkeep) / turns * 1000, 3),
        "cpu_ms_foreground": round(foreground / turns * 1000, 3),
        "cpu_ms_compaction": round(upkeep / turns * 1000, 3),
        "pages": pages,
        "via": via,
    }


def prepare(home: Path, history: int) -> None:
    """An agent with so many messages, written back and compacted."""
    with opened(home, ScriptedModel(reply)) as (runtime, agent):
        for text in texts(history // 2, "before"):
            agent.send(text)
        assert runtime.drain(agent)
    compaction(home)


def compaction(home: Path) -> float:
    """Compact the tiers now; the CPU seconds that took."""
    with Runtime(home, embedder=HashingEmbedder()) as runtime, runtime.reader(AGENT) as reader:
        reader.store.check()  # opens the tables
        began = time.process_time()
        reader.store.maintain(force=True)
        return time.process_time() - began


@contextmanager
def opened(home: Path, answering: Model) -> Iterator[tuple[Runtime, Agent]]:
    """The agent as a program has it, with background work in the background."""
    with Runtime(home, embedder=HashingEmbedder()) as runtime:
        yield runtime, runtime.agent(AGENT, definition="assistant", model=answering)


def texts(count: int, part: str = "measured") -> Iterator[str]:
    """So many different messages of everyday length."""
    draw = random.Random(f"{SEED} {part}")
    said = [each.said for each in talk()]
    for number in range(count):
        yield f"{draw.choice(said)} ({part} {number})"


def reply(request: Any) -> str:
    """An answer that depends on what was said, so that no two are alike."""
    newest: Message = request.messages[-1]
    return f"{REPLY} It was number {newest.seq}."


@contextmanager
def model(via: str) -> Iterator[Model]:
    """The scripted model, or litellm before a server that runs elsewhere."""
    if via == "scripted":
        yield ScriptedModel(reply, keep=1)
        return
    from pagemind.runtime.models.litellm_model import LitellmModel

    command = [sys.executable, "-c", SERVER, REPLY, str(DEFAULT_WINDOW_TOKENS * 4)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            yield LitellmModel("openai/test", api_base=url, api_key="none")
        finally:
            server.kill()


if __name__ == "__main__":
    sys.exit(main())
