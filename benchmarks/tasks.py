"""What tasks cost beside the model: an action, agents at once, going on, memory.

    python benchmarks/tasks.py [overhead throughput resume memory] [--turns 20] [--agents 1 4 16]
                               [--delays 0.2 2] [--rows 10000] [--steps 10000] [--json FILE]

overhead is CPU time a turn, over all threads, of a task's `say` and `save` through litellm to a
server on loopback, beside that of a bare loop of litellm calls with the same texts. throughput is
turns a second of all agents from their first to their last, ÷ that of a bare threaded loop of
litellm calls (whole and streamed: pagemind streams, so that a turn can be stopped) and ÷ the ideal,
agents ÷ delay; the server waits so long before its answer. resume is the time from the start of a
run to the first new action where the ledger has so many inputs done. memory is what the process
holds after a tenth of the steps and after all of them. The server is a process of its own.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from machine import ROOT, header, parser, table, write

from pagemind.runtime.demo.talk import talk
from pagemind.runtime.model import Model
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.state.ledger import ActionRow, Ledger, Spent
from pagemind.runtime.tasks.events import TaskEvent
from pagemind.runtime.tasks.hired import Hiring
from pagemind.runtime.tasks.report import Report
from pagemind.runtime.tasks.runner import run_task
from pagemind.runtime.tasks.task_file import load_task
from pagemind.runtime.testing import ScriptedModel

PARTS = ("overhead", "throughput", "resume", "memory")
SEED = 7
MODEL = "openai/gpt-4o-mini"  # by name alone: litellm knows its price, the server is ours
REPLY = "Noted, word for word; ask me again whenever you like, even in a year or two."
DEFINITION = """
name: worker
system: You note what you are told.
embedding: none
context_window: 16384
blocks:
  human: {value: Sam, limit: 400, description: The person.}
tools: [core_append, recall_search]
"""
SERVER = """
import sys
from loopback import Loopback, Reply
text, delay = sys.argv[1], float(sys.argv[2])
def answer(body):
    # A stream has two pieces here, and the server waits before each.
    return Reply(text, piece=10_000, delay=delay / 2 if body.get("stream") else delay)
with Loopback(answer) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("parts", nargs="*", default=list(PARTS), help=" ".join(PARTS))
    arguments.add_argument("--turns", type=int, default=20, help="of each agent")
    arguments.add_argument("--agents", type=int, nargs="+", default=[1, 4, 16])
    arguments.add_argument("--delays", type=float, nargs="+", default=[0.2, 2.0])
    arguments.add_argument("--rows", type=int, default=10_000)
    arguments.add_argument("--steps", type=int, default=10_000)
    asked = arguments.parse_args(argv)
    if strange := set(asked.parts) - set(PARTS):
        arguments.error(f"{sorted(strange)[0]} is none of {', '.join(PARTS)}")
    found: dict[str, Any] = {}
    warm()
    if "overhead" in asked.parts:
        found["overhead"] = show("overhead", [overhead(asked.turns * 10)])
    if "throughput" in asked.parts:
        rows = [
            throughput(agents, delay, asked.turns)
            for delay in asked.delays
            for agents in asked.agents
        ]
        found["throughput"] = show("throughput", rows)
    if "resume" in asked.parts:
        found["resume"] = show("resume", [resume(asked.rows)])
    if "memory" in asked.parts:
        found["memory"] = show("memory", [memory(asked.steps)])
    write(asked.json, {**header(seed=SEED, data=texts(asked.turns, "all")), **found})
    return 0


def show(title: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    print(f"\n{title}")
    table(list(rows[0]), [list(row.values()) for row in rows])
    return rows


def warm() -> None:
    """What a process does once: libraries, the tokenizer, the first turn."""
    import lancedb  # noqa: F401

    with server(0.0) as url, home() as folder:
        bare(url)("warm")
        bare(url, stream=True)("warm")
        run(folder, ["warm"], answering(url), "warm")


# --- an action ------------------------------------------------------------------------------------


def overhead(turns: int) -> dict[str, Any]:
    """CPU milliseconds a turn: the bare loop, the task, and what is between them."""
    said = texts(turns, "overhead")
    with server(0.0) as url, home() as folder:
        call = bare(url)
        began = time.process_time()
        for text in said:
            call(text)
        alone = (time.process_time() - began) / turns
        began = time.process_time()
        run(folder, said, answering(url), "overhead")
        task = (time.process_time() - began) / turns
    return {
        "turns": turns,
        "bare_cpu_ms": round(alone * 1000, 2),
        "task_cpu_ms": round(task * 1000, 2),
        "overhead_cpu_ms": round((task - alone) * 1000, 2),
    }


# --- agents at once -------------------------------------------------------------------------------


def throughput(agents: int, delay: float, turns: int) -> dict[str, Any]:
    """Turns a second, and the shares of what a bare loop and the ideal have."""
    with server(delay) as url, home() as folder:
        whole = rate(threads(agents, turns, bare(url)))
        streamed = rate(threads(agents, turns, bare(url, stream=True)))
        done: list[tuple[str, float]] = []

        def watch(event: TaskEvent) -> None:
            if event.kind == "action_done" and event.data["action"] == "say":
                done.append((event.data["input"], time.monotonic()))

        cpu = time.process_time()
        lines = texts(agents, "inputs")
        run(folder, lines, answering(url), "many", watch=watch, says=turns, at_once=agents)
        cpu = time.process_time() - cpu
    ours = rate(done)
    return {
        "delay_s": delay,
        "agents": agents,
        "turns_s": round(ours, 2),
        "bare_s": round(whole, 2),
        "bare_streamed_s": round(streamed, 2),
        "vs_bare": round(ours / whole, 3),
        "vs_streamed": round(ours / streamed, 3),
        "vs_ideal": round(ours * delay / agents, 3),
        "cpu_ms": round(cpu / (agents * turns) * 1000, 2),
    }


def rate(done: list[tuple[str, float]]) -> float:
    """Turns a second: of each agent from its first to its last, all together."""
    times: dict[str, list[float]] = {}
    for who, at in done:
        times.setdefault(who, []).append(at)
    return sum((len(each) - 1) / (each[-1] - each[0]) for each in times.values())


def threads(agents: int, turns: int, call: Callable[[str], None]) -> list[tuple[str, float]]:
    """When each call of each thread was done."""
    done: list[tuple[str, float]] = []

    def work(name: str) -> None:
        for text in texts(turns, name):
            call(text)
            done.append((name, time.monotonic()))

    running = [threading.Thread(target=work, args=(f"{n}",)) for n in range(agents)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    return done


# --- going on, and memory -------------------------------------------------------------------------


def resume(rows: int) -> dict[str, Any]:
    """Seconds to the first new action behind so many inputs that are done."""
    lines = texts(rows + 1, "resume")
    with home() as folder:
        run(folder, lines[:1], ScriptedModel(after=REPLY), "long", at_once=1)
        (folder / "long.txt").write_text("\n".join(lines), encoding="utf-8")
        with Runtime(folder / "home") as runtime:
            fill(Ledger(runtime.home.database, runtime.clock), folder, rows)
        first: list[float] = []

        def watch(event: TaskEvent) -> None:
            if event.kind == "action_started" and not first:
                first.extend((time.monotonic() - began, time.process_time() - cpu))

        began, cpu = time.monotonic(), time.process_time()
        report = run(folder, lines, ScriptedModel(after=REPLY), "long", watch=watch, at_once=1)
        assert report.inputs["done"] == rows + 1
    return {"rows": rows, "seconds": round(first[0], 3), "cpu_s": round(first[1], 3)}


def fill(ledger: Ledger, folder: Path, rows: int) -> None:
    """All inputs but the last are done, as the ledger itself notes it."""
    task = load_task(folder / "long.yaml")
    known = ledger.task("long")
    source = task.source()
    assert known is not None
    assert source is not None
    with ledger.transaction():
        for one in source:
            if 1 < one.number <= rows:
                ledger.begin_input(known.id, one.key, one.label, one.number, one.digest)
                done = ActionRow(one.key, "do.1", "say", 1, "done", {"reply": REPLY}, "", Spent(1))
                ledger.take_action(known.id, one.key, done)
                ledger.end_input(known.id, one.key, "done")


def memory(steps: int) -> dict[str, Any]:
    """Megabytes after a tenth of the steps, and after all of them."""
    held: list[float] = []
    count = [0]

    def watch(event: TaskEvent) -> None:
        if event.kind == "action_done" and event.data["action"] == "say":
            count[0] += 1
            if count[0] in (steps // 10, steps):
                held.append(resident())

    with home() as folder:
        model = ScriptedModel(lambda request: REPLY, keep=1)
        run(folder, texts(steps, "memory"), model, "memory", watch=watch)
    return {
        "steps": steps,
        "mb_at_a_tenth": round(held[0], 1),
        "mb_at_the_end": round(held[1], 1),
        "growth": round(held[1] / held[0], 3),
    }


def resident() -> float:
    """What this process holds now; where that cannot be read, the most it ever held."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most / (1 << (20 if sys.platform == "darwin" else 10))


# --- what they share ------------------------------------------------------------------------------


def run(
    folder: Path,
    lines: Sequence[str],
    model: Model,
    name: str,
    *,
    watch: Callable[[TaskEvent], None] = lambda event: None,
    says: int = 1,
    at_once: int = 0,
) -> Report:
    """A task over these lines: by one agent, or so many at once."""
    (folder / "worker.yaml").write_text(DEFINITION, encoding="utf-8")
    (folder / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    agents = f"agents: per_input\nat_once: {at_once}\n" if at_once else ""
    say = [f'  - {{say: "{n}: {{{{ input }}}}", save: {name}.jsonl}}' for n in range(says)]
    (folder / f"{name}.yaml").write_text(
        f"agent: {{definition: ./worker.yaml}}\n{agents}inputs: {{lines: {name}.txt}}\ndo:\n"
        + "\n".join(say),
        encoding="utf-8",
    )
    with Runtime(folder / "home") as runtime:
        report = run_task(
            runtime, load_task(folder / f"{name}.yaml"), hiring=Hiring(model=model), watch=watch
        )
    assert report.row.status == "done", report.failures or report.row.why
    return report


def bare(url: str, *, stream: bool = False) -> Callable[[str], None]:
    """One call of litellm, as a program has it that has nothing else."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # fetch nothing
    import litellm

    def call(text: str) -> None:
        told = [
            {"role": "system", "content": "You note what you are told."},
            {"role": "user", "content": text},
        ]
        reply = litellm.completion(
            MODEL, messages=told, api_base=url, api_key="none", stream=stream
        )
        if stream:
            for _ in reply:
                pass

    return call


def answering(url: str) -> Model:
    from pagemind.runtime.models.litellm_model import LitellmModel

    return LitellmModel(MODEL, api_base=url, api_key="none")


def texts(count: int, part: str) -> list[str]:
    """So many different messages of everyday length."""
    draw = random.Random(f"{SEED} {part}")
    said = [each.said for each in talk()]
    return [f"{draw.choice(said)} ({part} {number})" for number in range(count)]


@contextmanager
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as folder:
        yield Path(folder)


@contextmanager
def server(delay: float) -> Iterator[str]:
    """Its address; it waits so long before each answer."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, REPLY, str(delay)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
