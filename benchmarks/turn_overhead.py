"""What the runtime itself costs in a turn, by length of the history; the model takes no time.

    python benchmarks/turn_overhead.py [--history 10 200 …] [--turns 200] [--via scripted|litellm]
                                       [--json FILE]

cpu_ms_total is the process's CPU time over all threads ÷ turns: append, commit, measure, render,
page out, summarise, write back to LanceDB with vectors of the hashing embedder, and the share of a
compaction that these turns bring nearer (by commits or by rows, see settings.OPTIMIZE_…; its time
is measured afterwards). Prefetch, which searches three tiers before a turn and is on by default in
small windows only, stands apart: cpu_ms_prefetch comes on top of a turn. cpu_ms_foreground is the
time of the calling thread alone: what a person waits for beside the model. Histories are made of
real turns by the kernel itself. With `--via litellm` the same turns go through litellm to a server
on loopback, in a process of its own.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import ROOT, header, parser, table, write

from pagemind.runtime.agent import Agent
from pagemind.runtime.demo.talk import talk
from pagemind.runtime.message import Message
from pagemind.runtime.model import Model
from pagemind.runtime.parts import Parts
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import DEFAULT_WINDOW_TOKENS, OPTIMIZE_COMMITS, WRITE_BACK_ROWS
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel
from pagemind.runtime.tiers.upkeep import enough

HISTORIES = (10, 200, 1_000, 10_000)  # messages
SEED = 7
AGENT = "bench"
WARM_UP = 3  # turns after opening: imports, first pages of the files
PREFETCHING = 20  # turns
ROUNDS = 4  # the histories take turns, so that the machine's load falls on all of them
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
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as folder, ExitStack() as open_:
        answering = open_.enter_context(model(asked.via))
        runs = [
            open_.enter_context(Run.of(history, Path(folder), answering))
            for history in asked.history
        ]
        for number in range(ROUNDS):
            for run in runs:
                run.go(asked.turns // ROUNDS, f"round {number}")
        rows = [{**run.row(), "via": asked.via} for run in runs]
    table(list(rows[0]), [list(row.values()) for row in rows])
    ratio = round(rows[-1]["cpu_ms_total"] / rows[0]["cpu_ms_total"], 3)
    print(f"a turn at the last history costs {ratio} × one at the first")
    write(
        asked.json,
        {
            **header(seed=SEED, data=texts(asked.turns, "all")),
            "turns": asked.turns,
            "window": DEFAULT_WINDOW_TOKENS,
            "rows": rows,
            "last_vs_first": ratio,
        },
    )
    return 0


@dataclass
class Run:
    """The agent of one history, and what its turns took so far, in seconds of CPU."""

    history: int
    home: Path
    runtime: Runtime
    agent: Agent
    turns: int = 0
    total: float = 0.0
    foreground: float = 0.0
    pages: int = 0

    @classmethod
    @contextmanager
    def of(cls, history: int, folder: Path, answering: Model) -> Iterator["Run"]:
        """Prepared and warm."""
        home = folder / str(history)
        prepare(home, history)
        with opened(home, answering) as (runtime, agent):
            run = cls(history, home, runtime, agent)
            run.go(WARM_UP, "warm")
            yield cls(history, home, runtime, agent, pages=agent.state.pages.count())

    def go(self, turns: int, part: str) -> None:
        """So many turns, until LanceDB has what was said."""
        said = list(texts(turns, part))
        cpu, foreground = time.process_time(), time.thread_time()
        for text in said:
            self.agent.send(text)
        self.foreground += time.thread_time() - foreground
        assert self.runtime.drain(self.agent)
        self.total += time.process_time() - cpu
        self.turns += turns

    def row(self) -> dict[str, Any]:
        """The figures, when all turns are done. Closes the agent, to compact its tiers."""
        pages = self.agent.state.pages.count() - self.pages
        self.agent.close()
        self.runtime.close()
        rows = 2 * self.turns
        due = max(rows / WRITE_BACK_ROWS / OPTIMIZE_COMMITS, rows / enough(self.history))
        upkeep = compaction(self.home) * due
        return {
            "history": self.history,
            "cpu_ms_total": round((self.total + upkeep) / self.turns * 1000, 3),
            "cpu_ms_foreground": round(self.foreground / self.turns * 1000, 3),
            "cpu_ms_compaction": round(upkeep / self.turns * 1000, 3),
            "cpu_ms_prefetch": round((self._prefetching() - self.total / self.turns) * 1000, 3),
            "pages": pages,
        }

    def _prefetching(self) -> float:
        """CPU seconds of a turn with prefetch."""
        answering = ScriptedModel(reply, keep=1)
        with opened(self.home, answering, prefetch=True) as (runtime, agent):
            run = Run(self.history, self.home, runtime, agent)
            run.go(WARM_UP, "warm with prefetch")
            run.total, run.turns = 0.0, 0
            run.go(PREFETCHING, "with prefetch")
            return run.total / run.turns


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
def opened(
    home: Path, answering: Model, *, prefetch: bool = False
) -> Iterator[tuple[Runtime, Agent]]:
    """The agent as a program has it, with background work in the background."""
    parts = Parts(prefetch=prefetch)
    with Runtime(home, embedder=HashingEmbedder(), parts=parts) as runtime:
        yield runtime, runtime.agent(AGENT, definition="assistant", model=answering)


def texts(count: int, part: str) -> Iterator[str]:
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
