"""How soon `pagemind chat` answers the person at the keys, at the end of a long history.

    python benchmarks/repl.py [--messages 100000] [--keys 140] [--runs 7] [--json FILE]

The real program on a pseudo-terminal. echo is the wall time from a key to its letter on the screen:
while libraries load, at an idle prompt and while a reply streams; beside it, in turn, the same key
into a bare Python program that echoes it. first_token is CPU, from the moment the model's first
piece is there to the moment it is written. For commands it is CPU of the whole process, from Enter
to the next prompt, drawing and background work included. The agent is one of scale_home.py; the
model is scripted, under a name for which the program loads litellm.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from machine import ROOT, header, parser, table, write
from scale_data import Corpus

sys.path.insert(0, str(ROOT / "tests"))

from pty_kit import CTRL_D, Terminal  # a terminal for tests serves here as well

SEED = 1
AGENT = "large"
KEYS = "zqxjkvb"  # in no word that the model streams, each once before the line is cleared
AGAIN = KEYS[::-1]  # after that: a letter that stands where it stood is not drawn again
CLEAR = "\x15"
PROMPT = "› "
_IDLE_SHARE = 0.02  # of a core
_MOST_SECONDS = 60
PAUSE = 1.5  # seconds, as a person thinks
TURNS_MORE = 3  # beyond those that are undone

PROGRAM = """
import functools, json, os, sys, threading, time
sys.path.insert(0, sys.argv.pop(1))
from scale_data import Corpus, CorpusEmbedder
import pagemind.runtime.runtime as runtime
from pagemind.runtime.testing import ScriptedModel

corpus = Corpus(int(sys.argv.pop(1)), int(sys.argv.pop(1)))
asked, first = int(sys.argv.pop(1)), sys.argv.pop(1)

class Streaming(ScriptedModel):
    def complete(self, request, *, on_text=None, on_retry=None, cancel=None):
        cancel.wait(0.3)  # whatever went before the call is done
        began = time.process_time()
        on_text("word ")
        with open(first, "a") as file:
            print(time.process_time() - began, file=file)
        if request.messages[-1].text.endswith("stream"):
            while not cancel.wait(0.02):
                on_text("word ")
        return super().complete(request, on_text=on_text, on_retry=on_retry, cancel=cancel)

embedder = CorpusEmbedder(corpus, corpus.questions(asked))
runtime.Runtime = functools.partial(runtime.Runtime, embedder=embedder)
runtime.make_model = lambda choice, *_: Streaming(lambda request: "word", name=choice.name)
from pagemind.runtime.cli.app import main
sys.exit(main(sys.argv[1:]))
"""
PREPARE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from scale_data import Corpus
from scale_home import prepare
prepare(Path(sys.argv[4]), Corpus(int(sys.argv[2]), int(sys.argv[3])), [sys.argv[5]])
"""
BARE = """
import os, tty
tty.setraw(0)
os.write(1, b"ready")
while key := os.read(0, 1024):
    os.write(1, key)
"""


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--messages", type=int, default=100_000)
    arguments.add_argument("--keys", type=int, default=140)
    arguments.add_argument("--runs", type=int, default=7)
    asked = arguments.parse_args(argv)
    corpus = Corpus(asked.messages, SEED)
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as folder:
        home, first = Path(folder) / "home", Path(folder) / "first"
        made = list(map(str, (ROOT / "benchmarks", asked.messages, SEED)))
        # In a process of its own: this one is going to fork.
        subprocess.run([sys.executable, "-c", PREPARE, *made, str(home), AGENT], check=True)
        words = [*made, str(asked.runs), str(first), "chat", AGENT, "--model", "openai/bench"]
        environ = {**os.environ, "PAGEMIND_HOME": str(home)}
        bare = Terminal(BARE, (), environ, cold=True)
        program = Terminal(PROGRAM, words, environ, columns=100, reports=True, cold=True)
        with bare, program:
            bare.expect("ready")
            found = drive(program, bare, asked.keys, [q.text for q in corpus.questions(asked.runs)])
        firsts = [float(line) * 1000 for line in first.read_text().split()]
    report(found, firsts[1:])  # the first of all imports what the view needs
    figures = {"messages": asked.messages, "keys": asked.keys, "runs": asked.runs}
    told = header(seed=SEED, data=(json.dumps(figures),))
    write(asked.json, {**told, **figures, **found, "first_token_cpu_ms": spread(firsts[1:])})
    return 0


def drive(
    program: Terminal, bare: Terminal, keys: int, questions: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Everything a person does here, in this order; what was measured."""
    program.expect(PROMPT)
    loading = echoes(program, bare, keys // 2)
    program.watch(PAUSE)  # the one thing that stops all keys is done when nobody types
    loading += echoes(program, bare, keys - keys // 2)
    program.expect("coming back")
    settle(program)
    idle = echoes(program, bare, keys)
    program.line("stream")
    program.expect("word word")
    streaming = echoes(program, bare, keys)
    program.send("\x03")
    program.expect("stopped; what was said is kept")
    program.expect(PROMPT)
    for number in range(len(questions) + TURNS_MORE):
        program.line(f"turn {number}")
        program.expect("word")
        program.expect(PROMPT)
    settle(program)
    commands = {
        "undo": [command(program, "/undo", "taken back: 1 turn") for _ in questions],
        "context": [command(program, "/context", "flushes at") for _ in questions],
        "recall": [command(program, f"/recall {text}", "conversation") for text in questions],
    }
    program.send(CTRL_D)
    assert program.finish() == 0, program.text[-2000:]
    return {
        "echo": {
            "loading": compared(loading),
            "idle": compared(idle),
            "streaming": compared(streaming),
        },
        "command_cpu_ms": {name: spread(took) for name, took in commands.items()},
    }


Echoes = list[tuple[float, float]]  # milliseconds in the program, and in the bare one


def echoes(program: Terminal, bare: Terminal, keys: int) -> Echoes:
    """Keys at the pace of a fast typist, into both."""
    took = []
    for number in range(keys):
        at = number % len(KEYS)
        if number and not at:
            program.send(CLEAR)
            program.watch(0.05)
        key = (KEYS, AGAIN)[number // len(KEYS) % 2][at]
        took.append((program.pressed(key) * 1000, bare.pressed(key) * 1000))
        program.watch(0.03)
    program.send(CLEAR)
    program.watch(0.1)
    return took


def compared(took: Echoes) -> dict[str, float]:
    """The program's keys beside the bare ones: what the machine takes is in both."""
    ours, beside = spread([each for each, _ in took]), spread([each for _, each in took])
    return {
        "p50_ms": ours["p50"],
        "p99_ms": ours["p99"],
        "bare_p50_ms": beside["p50"],
        "bare_p99_ms": beside["p99"],
        "p50_vs_bare": round(ours["p50"] / max(0.01, beside["p50"]), 1),
    }


def command(program: Terminal, line: str, answer: str) -> float:
    """Milliseconds of CPU from Enter to the next prompt."""
    program.send(line)
    program.watch(0.5)
    before = cpu(program)
    program.send("\r")
    program.expect(answer)
    program.expect(PROMPT)
    program.watch(0.2)
    return (cpu(program) - before) * 1000


def settle(program: Terminal) -> None:
    """Wait until nothing runs in the background any more."""
    for _ in range(_MOST_SECONDS):
        before = cpu(program)
        program.watch(1.0)
        if cpu(program) - before < _IDLE_SHARE:
            return


def cpu(program: Terminal) -> float:
    """Seconds of CPU that the program has taken, over all threads: its clock on Linux."""
    return time.clock_gettime((~program.process.pid << 3) | 2)


def spread(values: Sequence[float]) -> dict[str, float]:
    """The middle, and what one in a hundred exceeds."""
    ordered = sorted(values)
    last = ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))]
    return {"p50": round(statistics.median(ordered), 2), "p99": round(last, 2)}


def report(found: dict[str, dict[str, Any]], firsts: Sequence[float]) -> None:
    columns = ("p50_ms", "p99_ms", "bare_p50_ms", "bare_p99_ms", "p50_vs_bare")
    table(
        ("echo", "p50 ms", "p99 ms", "bare p50", "bare p99", "× bare"),
        [(name, *(each[key] for key in columns)) for name, each in found["echo"].items()],
    )
    rows = {**found["command_cpu_ms"], "first token": spread(firsts)}
    table(
        ("CPU ms", "p50", "p99"), [(name, each["p50"], each["p99"]) for name, each in rows.items()]
    )


if __name__ == "__main__":
    sys.exit(main())
