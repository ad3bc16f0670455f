"""Paging measured: what it keeps within reach, and what it costs.

    python benchmarks/paging.py soak [--messages 20000] [--window 8192]
    python benchmarks/paging.py aging [--messages 20000] [--window 8192]
    python benchmarks/paging.py needle [--messages 5000] [--embedding local/minilm|hashing|none]
    python benchmarks/paging.py nested [--lives 30] [--model NAME]
    python benchmarks/paging.py dmr [--data FILE] [--first N] [--model NAME] [--judge NAME]
    python benchmarks/paging.py ablation [--messages 400] [--model NAME]
        each with [--json FILE]

Without --model nothing needs a key: scripted lookups call the functions and see what a model sees,
and every figure but CPU time is the same in every run. What each part measures stands at the head
of paging_soak.py, paging_needle.py and so on.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from corpus import WrongFile
from loaders import LOADERS
from machine import parser
from paging_kit import WINDOW

from pagemind.runtime.errors import PagemindError

PARTS = ("soak", "aging", "needle", "nested", "dmr", "ablation")


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("part", choices=PARTS)
    arguments.add_argument("--messages", type=_count, help="how long the life is")
    arguments.add_argument("--seed", type=_count, help="of needle: which synthetic chat")
    arguments.add_argument("--window", type=_count, default=WINDOW, help="tokens of the window")
    arguments.add_argument("--lives", type=_count, help="of nested")
    arguments.add_argument("--embedding", help="of needle and dmr: local/minilm, hashing, none, …")
    arguments.add_argument("--data", type=Path, metavar="FILE", help="of dmr: a public data set")
    arguments.add_argument("--format", choices=tuple(LOADERS), help="of --data, if it is in doubt")
    arguments.add_argument("--first", type=_count, metavar="N", help="of dmr: conversations")
    arguments.add_argument("--questions", type=_count, metavar="N", help="of each conversation")
    arguments.add_argument("--model", help="a model that answers: any litellm name, or local/NAME")
    arguments.add_argument("--parts", nargs="+", metavar="ROW", help="of ablation: only these rows")
    arguments.add_argument("--judge", help="of dmr: a model that judges the answers as well")
    arguments.add_argument("--cache", type=Path, metavar="FOLDER", help="keep vectors there")
    asked = arguments.parse_args(argv)
    if asked.cache is not None:
        asked.cache.mkdir(parents=True, exist_ok=True)
    try:
        return int(importlib.import_module(f"paging_{asked.part}").run(asked))
    except WrongFile as error:
        print(error, file=sys.stderr)
    except PagemindError as error:
        print(error.message, error.hint, sep="\n  ", file=sys.stderr)
    return 2


def _count(text: str) -> int:
    """A whole number above 0."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
