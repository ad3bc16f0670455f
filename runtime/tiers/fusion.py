"""Fusion: the scores of several legs of a search become one, by a weighted min-max sum. Pure.

Measured against reciprocal rank fusion, it keeps how much better a first hit is than a tenth.
"""

from collections.abc import Mapping

Leg = Mapping[str, float]  # row id -> raw score; higher is better
_FEW = 10  # below so many, the worst of them says nothing about what a bad score is


def minmax(leg: Leg, floor: float | None = None) -> dict[str, float]:
    """Scores scaled to 0 … 1. `floor` is the score of a row that does not match at all, where
    that is known (0 for BM25); else the worst of the leg."""
    if not leg:
        return {}
    low = floor if floor is not None else min(leg.values())
    if floor is None and len(leg) < _FEW:
        low = min(low, 0.0)
    span = max(leg.values()) - low
    return {key: (score - low) / span if span > 0 else 1.0 for key, score in leg.items()}


def fuse(legs: Mapping[str, Leg], weights: Mapping[str, float]) -> dict[str, float]:
    """The weighted sum of scaled legs, 0 … 1. The weights of the legs that are there sum to 1; a
    row that a leg did not return has nothing from it, and a leg without a weight adds
    nothing."""
    whole = sum(weights.get(name, 0.0) for name in legs) or 1.0
    fused: dict[str, float] = {}
    for name, leg in legs.items():
        for key, score in leg.items():
            fused[key] = fused.get(key, 0.0) + weights.get(name, 0.0) / whole * score
    return fused
