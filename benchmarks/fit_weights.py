"""Fit the weights of the search, and say what they give on a conversation they have not seen.

    python benchmarks/fit_weights.py [--data FILE] [--synthetic SEED …] [--turns N]
        [--embedding NAME] [--without FEATURE …] [--cache FOLDER] [--json FILE]

Questions go through the product's own legs and features (tiers.ranking); the weights maximise the
likelihood of the evidence among all that the legs found (a softmax over each question's candidates,
with a small penalty), each corpus counting the same. Neighbours' features depend on the weights of
the legs, so it is done a few times over. For each conversation of --data the weights are fitted
without it and judged on it. Of the synthetic set the held-out questions take no part, here neither.
The weight of `exact` is not fitted: an identifier goes before everything.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import Conversation, Corpus, WrongFile
from ingest import KeptVectors, lived, open_embedder
from loaders import load
from machine import header, parser, table, write
from scoring import Scored, by, figures, rank_of
from synthetic import TURNS, split, synthetic

from pagemind.runtime.settings import SEARCH_WEIGHTS
from pagemind.runtime.tiers import search
from pagemind.runtime.tiers.legs import Legs
from pagemind.runtime.tiers.ranking import LEGS, Asked, features, order

SEED = 1
ROUNDS = 3  # of fitting and making the neighbours' features anew
STEPS = 400
PENALTY = 2e-4  # on the squares
RATE = 0.1
FIXED = {"exact": 1.0}
WHOLE = ("line", "lines", "vector")  # of every query, so that their weights sum to 1
LIMIT = 50


@dataclass(frozen=True, slots=True)
class Case:
    """One question as the search saw it. `gold` has the parents of its evidence."""

    corpus: str
    conversation: str
    kind: str
    main: bool
    legs: Legs
    asked: Asked
    gold: tuple[str, ...]

    def scored(self, weights: Mapping[str, float]) -> Scored:
        """Its outcome under these weights, by the product's ranking."""
        ranked = order(self.legs, features(self.legs, self.asked, weights), weights)
        parents = list(dict.fromkeys(self.legs.found[key].match.parent for key, _ in ranked))
        ranks = tuple(rank_of(each, parents) for each in self.gold)
        return Scored(self.conversation, self.kind, ranks)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, metavar="FILE")
    arguments.add_argument("--synthetic", type=int, nargs="*", default=[], metavar="SEED")
    arguments.add_argument("--turns", type=int, default=TURNS)
    arguments.add_argument("--embedding", default="local/minilm")
    arguments.add_argument("--without", nargs="*", default=[], metavar="FEATURE")
    arguments.add_argument("--cache", type=Path, metavar="FOLDER")
    asked = arguments.parse_args(argv)
    try:
        corpora = [load(asked.data)] if asked.data is not None else []
    except WrongFile as error:
        print(error, file=sys.stderr)
        return 2
    left_out = [each.id for corpus in corpora for each in corpus.conversations]
    corpora += [split(synthetic(s, asked.turns), held_out=False) for s in asked.synthetic]
    if not corpora:
        arguments.error("nothing to fit on: give --data, --synthetic or both")
    if asked.cache is not None:
        asked.cache.mkdir(parents=True, exist_ok=True)
    cases = [case for corpus in corpora for case in collect(corpus, asked.embedding, asked.cache)]
    found = run(cases, left_out, frozenset(asked.without))
    show(found)
    digests = (each.digest for corpus in corpora for each in corpus.conversations)
    write(
        asked.json,
        {
            **header(seed=SEED, data=digests),
            "embedding": asked.embedding,
            "without": asked.without,
            **found,
        },
    )
    return 0


def run(cases: Sequence[Case], left_out: Sequence[str], without: frozenset[str]) -> dict[str, Any]:
    """Weights fitted on everything; R@10 of each conversation under the shipped weights, under
    these, and under those that were fitted without it."""
    weights = fit(cases, without)
    rows: dict[str, dict[str, Any]] = {}
    unseen: list[tuple[Case, Scored]] = []
    for name, group in _by_conversation(cases).items():
        rows[name] = {"shipped": _r10(group, SEARCH_WEIGHTS), "fitted": _r10(group, weights)}
        if name in left_out and len(left_out) > 1:
            others = fit([each for each in cases if each.conversation != name], without)
            rows[name]["left_out"] = _r10(group, others)
            unseen += [(each, each.scored(others)) for each in group]
    found: dict[str, Any] = {"weights": weights, "conversations": rows}
    if unseen:
        found["left_out"] = {
            "cats_1_4": figures([outcome for case, outcome in unseen if case.main]),
            "all_5": figures([outcome for _, outcome in unseen]),
            "by_category": {
                kind: figures(group)
                for kind, group in by([each for _, each in unseen], lambda q: q.kind).items()
            },
        }
    return found


def collect(corpus: Corpus, embedding: str, cache: Path | None) -> Iterator[Case]:
    """Every question with evidence, as the product's search saw it."""
    embedder = open_embedder(embedding, cache)
    try:
        for conversation in corpus.conversations:
            yield from _of(corpus, conversation, embedding, embedder, cache)
    finally:
        if embedder is not None:
            embedder.close()


def _of(
    corpus: Corpus,
    conversation: Conversation,
    embedding: str,
    embedder: KeptVectors | None,
    cache: Path | None,
) -> Iterator[Case]:
    with lived(conversation, embedding, embedder, cache) as there, listening() as heard:
        for question in conversation.questions:
            if not question.evidence or question.kind == "identifier":
                continue
            there.ask(question.text, LIMIT, question.as_of)
            legs, asked = heard.pop()
            gold = tuple(f"m{there.seqs[each]}" for each in question.evidence)
            main = question.kind in corpus.main
            yield Case(corpus.name, conversation.id, question.kind, main, legs, asked, gold)


@contextmanager
def listening() -> Iterator[list[tuple[Legs, Asked]]]:
    """What searches rank from now on, newest last: the product's own, not a second reading."""
    heard: list[tuple[Legs, Asked]] = []

    def features_heard(legs: Legs, asked: Asked, weights: Mapping[str, float]) -> Any:
        heard.append((legs, asked))
        return features(legs, asked, weights)

    vars(search)["features"] = features_heard
    try:
        yield heard
    finally:
        vars(search)["features"] = features


def fit(cases: Sequence[Case], without: frozenset[str]) -> dict[str, float]:
    """Weights for these questions, on the scale of settings.SEARCH_WEIGHTS."""
    weights: dict[str, float] = dict(SEARCH_WEIGHTS)
    for _ in range(ROUNDS):
        weights = _fitted_once(cases, weights, without)
    return weights


def _fitted_once(
    cases: Sequence[Case], weights: Mapping[str, float], without: frozenset[str]
) -> dict[str, float]:
    import numpy as np

    left = {*without, *FIXED, "base"}
    tables = [features(case.legs, case.asked, weights) for case in cases]
    seen = {name for rows in tables for row in rows.values() for name in row}
    names = sorted(seen - left, key=lambda name: (name not in LEGS, name))
    place = {name: i for i, name in enumerate(names)}
    sizes: dict[str, int] = {}
    for case in cases:
        sizes[case.corpus] = sizes.get(case.corpus, 0) + 1
    values: list[list[float]] = []
    starts, golds, shares = [], [], []
    for case, rows in zip(cases, tables, strict=True):
        gold = [case.legs.found[key].match.parent in case.gold for key in rows]
        if not any(gold):  # no weight finds what no leg found
            continue
        starts.append(len(values))
        golds += gold
        shares.append(1 / sizes[case.corpus])
        for row in rows.values():
            line = [0.0] * len(names)
            for name, value in row.items():
                if name in place:
                    line[place[name]] = value
            values.append(line)
    x = np.array(values)
    found = _ascend(x, np.array(starts), np.array(golds), np.array(shares), len(LEGS))
    plain = {name: float(found[i]) for name, i in place.items()}
    whole = sum(plain.get(name, 0.0) for name in WHOLE) or 1.0
    return {**{name: round(value / whole, 3) for name, value in plain.items()}, **FIXED}


def _ascend(x: Any, starts: Any, gold: Any, shares: Any, legs: int) -> Any:
    """Adam on the log-likelihood of the gold candidates; what a leg finds never counts against."""
    import numpy as np

    sizes = np.diff(np.append(starts, len(x)))
    share = np.repeat(shares / shares.sum(), sizes)
    w = np.full(x.shape[1], 1.0)
    mean, square = np.zeros_like(w), np.zeros_like(w)
    for step in range(1, STEPS + 1):
        s = x @ w
        s = np.exp(s - np.repeat(np.maximum.reduceat(s, starts), sizes))
        everyone = s / np.repeat(np.add.reduceat(s, starts), sizes)
        right = np.where(gold, s, 0.0)
        right = right / np.repeat(np.add.reduceat(right, starts), sizes)
        slope = x.T @ (share * (right - everyone)) - 2 * PENALTY * w
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        w = w + RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        w[:legs] = np.maximum(w[:legs], 0.0)
    return w


def _by_conversation(cases: Sequence[Case]) -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.conversation, []).append(case)
    return groups


def _r10(cases: Sequence[Case], weights: Mapping[str, float]) -> dict[str, float]:
    outcomes = [(case, case.scored(weights)) for case in cases]
    return {
        "cats_1_4": figures([each for case, each in outcomes if case.main])["r@10"],
        "all_5": figures([each for _, each in outcomes])["r@10"],
    }


def show(found: Mapping[str, Any]) -> None:
    """Weights, and R@10 of the main kinds and of all, by conversation."""
    for name, value in found["weights"].items():
        print(f"    {name!r}: {value},")
    print()
    rows = [
        [
            name,
            *(
                f"{row[each]['cats_1_4']} {row[each]['all_5']}" if each in row else ""
                for each in ("shipped", "fitted", "left_out")
            ),
        ]
        for name, row in found["conversations"].items()
    ]
    table(["R@10 (main, all)", "shipped", "fitted", "fitted without it"], rows)
    if "left_out" in found:
        print("\nleft out, all conversations:")
        for name in ("cats_1_4", "all_5"):
            print(f"  {name}: {found['left_out'][name]}")
        for kind, each in found["left_out"]["by_category"].items():
            print(f"  {kind}: R@10 {each['r@10']}")


if __name__ == "__main__":
    sys.exit(main())
