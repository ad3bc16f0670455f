"""How long a person waits for the command line, as ratios to a bare `import typer, rich`.

    python benchmarks/startup.py [--runs 9] [--json FILE]

help is `pagemind --help` to its end; chat is `pagemind chat` on a terminal until the prompt
stands; both with a home that has been used before. The three take turns, so that the machine's
load falls on all of them; each figure is the median of its runs in wall time.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from machine import ROOT, header, parser, table, write

sys.path.insert(0, str(ROOT / "tests"))

from pty_kit import CTRL_D, Terminal  # a terminal for tests serves here as well

BARE = "import typer, rich"
PROGRAM = "from pagemind.runtime.cli.app import main; raise SystemExit(main())"
CHAT = ("chat", "bench", "--model", "scripted/echo")
PROMPT = "› "


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--runs", type=int, default=9)
    asked = arguments.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="pagemind-bench-") as home:
        environ = {**os.environ, "PAGEMIND_HOME": home}
        measures: dict[str, Callable[[], float]] = {
            "bare": lambda: to_end(BARE, (), environ),
            "help": lambda: to_end(PROGRAM, ("--help",), environ),
            "chat": lambda: to_prompt(environ),
        }
        for measure in measures.values():  # files are read and compiled once
            measure()
        runs: dict[str, list[float]] = {name: [] for name in measures}
        for _ in range(asked.runs):
            for name, measure in measures.items():
                runs[name].append(measure())
    medians = {name: statistics.median(found) for name, found in runs.items()}
    ratios = {name: round(medians[name] / medians["bare"], 2) for name in medians}
    table(
        ("", "median ms", "× bare"),
        [(name, round(medians[name] * 1000), ratios[name]) for name in medians],
    )
    write(
        asked.json,
        {
            **header(seed=0, data=()),
            "runs": asked.runs,
            "bare_ms": round(medians["bare"] * 1000, 1),
            "help_vs_bare": ratios["help"],
            "chat_prompt_vs_bare": ratios["chat"],
        },
    )
    return 0


def to_end(code: str, arguments: Sequence[str], environ: dict[str, str]) -> float:
    """Seconds until the program has ended."""
    began = time.perf_counter()
    with Terminal(code, arguments, environ, cold=True) as terminal:
        assert terminal.finish() == 0, terminal.text
        return time.perf_counter() - began


def to_prompt(environ: dict[str, str]) -> float:
    """Seconds until a person can type. The program is let go afterwards."""
    began = time.perf_counter()
    with Terminal(PROGRAM, CHAT, environ, cold=True) as terminal:
        terminal.expect(PROMPT)
        taken = time.perf_counter() - began
        terminal.send(CTRL_D)
        terminal.finish()
        return taken


if __name__ == "__main__":
    sys.exit(main())
