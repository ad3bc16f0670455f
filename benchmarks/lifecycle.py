"""A memory's life cycle over sixty days of talk: what it keeps, ends, forgets and makes up.

    python benchmarks/lifecycle.py [--seed 1] [--days 60] [--embedding NAME] [--json FILE]
    python benchmarks/lifecycle.py --model NAME

An agent lives through the synthetic life (synth_life.py), and its records are held against what was
true. `plain` inserts every fact as it is told and finds it by search alone, as without a worker;
`collection` has the worker write facts, `profile` set fields of a profile for each person, which is
always in the prompt, `both` do both; `all` is `collection` with insights, digests and promotion as
well, for what they cost. Its model is a judge that knows the life's sentences and
errs in a tenth of its answers: such figures say what the plumbing does. With `--model`, any litellm
or `local/` name, they say what memory is worth with that model. All figures are percent, but
`calls_per_turn`: calls of the worker ÷ turns.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import lifecycle_scores as scores
import synth_life_words as words
from lifecycle_judge import ALSO, ERRS, Judge
from lifecycle_live import Lived, lived, say
from lifecycle_prompts import Answers
from lifecycle_truth import Truth
from machine import header, parser, table, write
from synth_life import DAYS, TURNS, Life, lines
from synth_life_weave import live

from pagemind.runtime.function_names import GROUPS

KEYS = (
    "stale_first", "history", "forget_leaks", "duplicate_rate", "wrong_subject",
    "over_invalidation", "under_invalidation", "junk_share", "calls_per_turn", "loop_added",
)  # fmt: skip
BESIDE = (
    "stored", "records_current", "current_found", "stable_found", "several_found", "as_of",
    "recall_leaks", "tokens_per_turn",
)  # fmt: skip
VARIANTS = ("plain", "collection", "profile", "both", "all")
EVERY = 20  # turns between two sleeps
LOOP_ROUNDS = 10
# Without what else the worker does: insights, digests, promotion.
FACTS_ONLY: Mapping[str, Any] = {
    "when": "off", "reflect": False, "compress": False, "promote": False
}  # fmt: skip


def measure(
    life: Life,
    variant: str,
    embedding: str,
    *,
    model: str | None = None,
    errs: float = ERRS,
    also: float = ALSO,
    told: int = 0,
) -> dict[str, Any]:
    """One row: a life lived, its records counted, its questions asked. `told` is how many faults of
    each kind are printed."""
    truth = Truth(life)
    judge = Answers(Judge(truth, life.seed, errs=errs, also=also))
    every = 0 if variant == "plain" else EVERY
    more = _definition(truth, variant, model) if every else {}
    with lived(truth, embedding=embedding, background=judge, every=every, more=more) as made:
        calls, tokens = made.calls, made.tokens
        records = made.records()
        found: dict[str, Any] = {"variant": variant}
        found |= scores.of_answers(truth, {each.id: made.shown(each) for each in life.asked})
        found |= scores.of_records(truth, records)
        secrets = [each for each in life.asked if each.kind == "forgotten"]
        said = scores.of_answers(truth, {each.id: made.said(each) for each in secrets})
        found["recall_leaks"] = said["forget_leaks"]
        found["calls_per_turn"] = round(calls / len(life.turns), 3)
        found["tokens_per_turn"] = round(tokens / len(life.turns), 1)
        found["loop_added"] = scores.percent(_loop(made, life), len(records))
        found["worker"] = dict(made.done)
        found["unknown_prompts"] = dict(judge.unknown)
    for kind, faults in scores.faults(truth, records).items() if told else ():
        print(f"{variant}, {kind}: {len(faults)}", *faults[:told], sep="\n    ")
    return found


def _definition(truth: Truth, variant: str, model: str | None) -> dict[str, Any]:
    """The worker, the functions for facts, and a profile for each person where facts go there."""
    only = {"when": "off"} if variant == "all" else FACTS_ONLY
    found: dict[str, Any] = {
        "sleep": {**only, **({"model": model} if model else {})},
        "tools": [*GROUPS, "facts"],
        "semantic": variant if variant in ("profile", "both") else "collection",
    }
    if variant in ("profile", "both"):
        text = {"type": "string"}
        single = {each.name: text for each in words.SINGLE}
        several = {each.name: {"type": "array", "items": text} for each in words.SEVERAL}
        form = {
            "type": "object",
            "properties": {**single, **several},
            "additionalProperties": False,
        }
        found["blocks"] = {
            name.lower(): {"profile": form, "limit": 2000, "description": name}
            for name in truth.people
        }
    return found


def _loop(made: Lived, life: Life) -> int:
    """Records that come of ten rounds of question, answer that quotes, and sleep."""
    before = made.count()
    for turn in [each for each in life.turns if each.kind == "ask"][:LOOP_ROUNDS]:
        say(made, turn)
        if made.every:
            made.sleep()
    return made.count() - before


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--days", type=int, default=DAYS)
    arguments.add_argument("--turns", type=int, default=TURNS, help="a day")
    arguments.add_argument("--embedding", default="local/minilm")
    arguments.add_argument("--variants", nargs="+", choices=VARIANTS, default=VARIANTS)
    arguments.add_argument("--model", help="the worker's, in place of the judge")
    arguments.add_argument(
        "--errs", type=float, default=ERRS, help="the share of the judge's answers that are wrong"
    )
    arguments.add_argument(
        "--also",
        type=float,
        default=ALSO,
        help="the share of facts under another name of the relation",
    )
    arguments.add_argument("--faults", type=int, default=0, help="print so many of each kind")
    asked = arguments.parse_args(argv)
    life = live(asked.seed, asked.days, asked.turns)
    rows = [
        measure(
            life,
            variant,
            asked.embedding,
            model=asked.model,
            errs=asked.errs,
            also=asked.also,
            told=asked.faults,
        )
        for variant in asked.variants
    ]
    kind = f"quality, {asked.model}" if asked.model else "plumbing: a judge that errs"
    print(f"{len(life.turns):,} turns, {len(life.told)} facts told, {asked.embedding}; {kind}")
    names = [row["variant"] for row in rows]
    table(["percent", *names], [[key, *(row[key] for row in rows)] for key in (*KEYS, *BESIDE)])
    write(
        asked.json,
        {
            **header(seed=asked.seed, data=lines(life)),
            "kind": "quality" if asked.model else "plumbing",
            "model": asked.model or "judge",
            "judge_errs": None if asked.model else asked.errs,
            "embedding": asked.embedding,
            "turns": len(life.turns),
            **{key: value for key, value in rows[-1].items() if key != "variant"},
            "variants": rows,
        },
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
