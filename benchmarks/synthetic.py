"""The synthetic set: two conversations of our own words, the same for a seed everywhere.

    python benchmarks/synthetic.py --seed 1 [--turns 5000] [--out FILE]

A chat (two people and an assistant) and a work log (an operator and an assistant, half as long),
25 turns a session. Filler uses the names, things and dates of the facts. Of each kind every third
question is held out: no weight is fitted on those. A question has gold, evidence, stale turns and,
where it is asked in mid-run, as_of. Seeds 1 to 3 have pinned hashes.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from corpus import Corpus, digest
from machine import parser
from synth_build import UNSCORED
from synth_chat import chat
from synth_log import log

TURNS = 5000
PER_SESSION = 25
KINDS = (
    "single", "paraphrase", "identifier", "reverse", "reply", "assistant", "list", "2-hop",
    "3-hop", "temporal", "weeks-before", "update", "history", "as-of", "contradiction", "swapped",
    "vocative", "near-duplicate", "unicode", "code", "injection", "long-turn",
)  # fmt: skip
SHA256 = {
    1: "693e53b99b0e82ed8220ebaa0b301f32089d78d4642a6b0e5b9bf70d19f8581b",
    2: "dfabd9298f33e64a793f882682c345240aa614d1e62701e5f74c564981872908",
    3: "41ef07455f7ad1b5e2cbba1ecd5512205837fcc239b18a48d4da7b8a31b3763d",
}


def synthetic(seed: int, turns: int = TURNS) -> Corpus:
    """All questions of a seed, those that are held out among them."""
    made = (chat(seed, turns, PER_SESSION), log(seed, turns // 2, PER_SESSION))
    main = tuple(kind for kind in KINDS if kind not in ("swapped", "identifier"))
    return Corpus("synthetic", made, KINDS, main, {"seed": seed, "turns": turns})


def split(corpus: Corpus, *, held_out: bool) -> Corpus:
    """One of the two splits."""
    kept = tuple(
        replace(each, questions=tuple(q for q in each.questions if q.held_out == held_out))
        for each in corpus.conversations
    )
    return replace(corpus, conversations=kept, notes={**corpus.notes, "held_out": held_out})


def lines(corpus: Corpus) -> list[str]:
    """The set as JSON lines: turns, then questions, of each conversation."""
    made: list[str] = []
    for each in corpus.conversations:
        entries = [*map(asdict, each.turns), *map(asdict, each.questions)]
        for entry in entries:
            line = {"conversation": each.id, **entry}
            made.append(json.dumps(line, ensure_ascii=False, default=str))
    return made


def sha256(corpus: Corpus) -> str:
    """What is pinned."""
    return digest(lines(corpus))


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--turns", type=int, default=TURNS)
    arguments.add_argument("--out", type=Path, metavar="FILE", help="write it as JSON lines")
    asked = arguments.parse_args(argv)
    made = synthetic(asked.seed, asked.turns)
    text = "".join(f"{line}\n" for line in lines(made))
    if asked.out is not None:
        asked.out.write_text(text, encoding="utf-8")
    for each in made.conversations:
        scored = sum(q.kind not in UNSCORED for q in each.questions)
        print(f"{each.id}: {len(each.turns):,} turns, {scored} questions with evidence")
    print(f"{len(text.encode()):,} bytes, sha256 {sha256(made)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
