"""A memory's life cycle over sixty days of talk: what it keeps, ends, forgets and makes up.

    python benchmarks/lifecycle.py [--seed 1] [--days 60] [--embedding NAME] [--json FILE]

An agent lives through the synthetic life (synth_life.py), and its records are held against what was
true. `plain` inserts every fact as it is told and finds it by search alone, as without a worker.
All figures are percent, but `calls_per_turn`: background calls ÷ turns.
"""

import sys
from collections.abc import Sequence
from typing import Any

import lifecycle_scores as scores
from lifecycle_live import AGENT, lived, say
from lifecycle_truth import Truth
from machine import header, parser, table, write
from synth_life import DAYS, TURNS, Life, lines
from synth_life_weave import live

KEYS = (
    "stale_first", "history", "forget_leaks", "duplicate_rate", "wrong_subject",
    "over_invalidation", "under_invalidation", "junk_share", "calls_per_turn", "loop_added",
)  # fmt: skip
BESIDE = ("stored", "current_found", "stable_found", "several_found", "as_of", "tokens_per_turn")
VARIANTS = ("plain",)
LOOP_ROUNDS = 10


def measure(life: Life, variant: str, embedding: str) -> dict[str, Any]:
    """One row: a life lived, its records counted, its questions asked."""
    truth = Truth(life)
    with lived(life, embedding=embedding, background=_nobody, inserts=True) as made:
        found: dict[str, Any] = {"variant": variant}
        shown = {each.id: made.shown(each) for each in life.asked}
        records = made.records()
        found |= scores.of_answers(truth, shown)
        found |= scores.of_records(truth, records)
        found["calls_per_turn"] = round(made.voice.calls / len(life.turns), 3)
        found["tokens_per_turn"] = round(made.voice.tokens / len(life.turns), 1)
        for turn in [each for each in life.turns if each.kind == "ask"][:LOOP_ROUNDS]:
            say(made, turn)
        found["loop_added"] = scores.percent(len(made.records()) - len(records), len(records))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--days", type=int, default=DAYS)
    arguments.add_argument("--turns", type=int, default=TURNS, help="a day")
    arguments.add_argument("--embedding", default="local/minilm")
    arguments.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    asked = arguments.parse_args(argv)
    life = live(asked.seed, asked.days, asked.turns)
    rows = [measure(life, variant, asked.embedding) for variant in asked.variants]
    names = [row["variant"] for row in rows]
    print(
        f"{len(life.turns):,} turns, {len(life.told)} facts told; percent, with {asked.embedding}"
    )
    table(["", *names], [[key, *(row[key] for row in rows)] for key in (*KEYS, *BESIDE)])
    write(
        asked.json,
        {
            **header(seed=asked.seed, data=lines(life)),
            "embedding": asked.embedding,
            "turns": len(life.turns),
            "kind": "plumbing",
            **{key: value for key, value in rows[-1].items() if key != "variant"},
            "variants": rows,
        },
    )
    return 0


def _nobody(request: object) -> str:
    """There is no worker, and nothing is asked in the background."""
    raise AssertionError(f"{AGENT} has no worker: {request}")


if __name__ == "__main__":
    sys.exit(main())
