"""Ranking: what the legs found becomes one order. Pure.

A weighted sum of features, each between 0 and 1: the legs, scaled from their worst to their best
hit (min-max keeps how much better a first hit is than a tenth; reciprocal ranks with the usual
k = 60 do not), and what is known besides: who spoke, when, what stands beside it. The weights are
in settings, fitted by benchmarks/fit_weights.py; a leg that is absent leaves its share to others.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pagemind.runtime.tiers.fusion import fuse, minmax
from pagemind.runtime.tiers.legs import Candidate, Legs
from pagemind.runtime.tiers.names import exactly, mentioned
from pagemind.runtime.tiers.recipe import identifiers
from pagemind.runtime.when import Span

LEGS = ("line", "lines", "grams", "vector")
_CLOSING = " \n\t\"'’”)]}*_"
_WHEN = re.compile(r"\b(when|how long|what (date|day|month|year|time))\b", re.IGNORECASE)
_TIME = re.compile(
    r"\d|\b(yesterday|today|tonight|tomorrow|last|next|ago|week|month|year|morning|night|"
    r"(mon|tues|wednes|thurs|fri|satur|sun)day)s?\b",
    re.IGNORECASE,
)
_WEAK_GRAMS = 0.3  # of the best: below it rows share single characters, not words


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a query beside its words."""

    named: tuple[str, ...]  # participants it names
    windows: tuple[Span, ...]  # periods it names
    exact: tuple[re.Pattern[str], ...]  # ABC-1234, notes.txt
    when: bool  # it asks for a time
    about: frozenset[tuple[str, str]] = frozenset()  # passages about whom it names: archive, id

    @classmethod
    def of(
        cls,
        words: str,
        speakers: Sequence[str],
        windows: Sequence[Span],
        about: frozenset[tuple[str, str]] = frozenset(),
    ) -> "Asked":
        patterns = tuple(exactly(word) for word in identifiers(words))
        named = tuple(mentioned(words, speakers))
        return cls(named, tuple(windows), patterns, _WHEN.search(words) is not None, about)


def features(legs: Legs, asked: Asked, weights: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Every candidate's features by key; what is 0 is left out."""
    scaled = {name: _scaled(name, leg) for name, leg in legs.scores.items()}
    table: dict[str, dict[str, float]] = {key: {} for key in legs.found}
    for name, leg in scaled.items():
        for key, score in leg.items():
            table[key][name] = score
    fused = fuse(scaled, weights)
    base = {key: fused.get(key, 0.0) for key in table}  # a weak gram alone is in no leg
    beside = _best_by_seq(legs.found, base)
    sessions = _by_conversation(legs.found, base)
    for key, row in table.items():
        candidate = legs.found[key]
        row["base"] = base[key]
        _add_facts(row, candidate, asked)
        if legs.tier == "recall":
            seq = candidate.match.seq
            row["before"] = beside.get(seq - 1, 0.0)
            row["after"] = beside.get(seq + 1, 0.0)
            row["around"] = max(beside.get(seq - 2, 0.0), beside.get(seq + 2, 0.0))
            row["conversation"] = sessions[candidate.match.conversation]
    return {key: {name: v for name, v in row.items() if v} for key, row in table.items()}


def order(
    legs: Legs, table: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]
) -> list[tuple[str, float]]:
    """Keys and scores, best first; the newer first among equals."""
    scores = {
        key: row.get("base", 0.0)
        + sum(weights.get(name, 0.0) * value for name, value in row.items() if name not in LEGS)
        for key, row in table.items()
    }
    ranked = sorted(scores, key=lambda key: (-scores[key], -legs.found[key].match.seq, key))
    return [(key, scores[key]) for key in ranked]


def _scaled(name: str, leg: Mapping[str, float]) -> dict[str, float]:
    """BM25 knows what a row that does not match has: nothing. A cosine does not."""
    scaled = minmax(leg, floor=None if name == "vector" else 0.0)
    if name == "grams":
        return {key: score for key, score in scaled.items() if score >= _WEAK_GRAMS}
    return scaled


def _best_by_seq(found: Mapping[str, Candidate], base: Mapping[str, float]) -> dict[int, float]:
    best: dict[int, float] = {}
    for key, candidate in found.items():
        seq = candidate.match.seq
        best[seq] = max(best.get(seq, 0.0), base[key])
    return best


def _by_conversation(found: Mapping[str, Candidate], base: Mapping[str, float]) -> dict[int, float]:
    """How much of each conversation bears on the query: the mean of its three best."""
    groups: dict[int, list[float]] = {}
    for key, candidate in found.items():
        groups.setdefault(candidate.match.conversation, []).append(base[key])
    return {each: sum(sorted(scores)[-3:]) / 3 for each, scores in groups.items()}


def _add_facts(row: dict[str, float], candidate: Candidate, asked: Asked) -> None:
    match = candidate.match
    if len(asked.named) == 1 and match.speaker == asked.named[0]:
        row["speaker"] = 1.0
    if (candidate.source.archive, match.parent) in asked.about:
        row["subject"] = 1.0
    if asked.exact:
        held = sum(pattern.search(match.text) is not None for pattern in asked.exact)
        row["exact"] = held / len(asked.exact)
    at = match.said_at
    if at is not None and any(span.start <= at < span.end for span in asked.windows):
        row["date"] = 1.0
    if match.text.rstrip(_CLOSING).endswith(("?", "？", "؟")):
        row["question"] = 1.0
    if asked.when and _TIME.search(match.text):
        row["when"] = 1.0
