"""The heat of a record: what decides which of too many goes cold first. Pure, always the same.

    heat = log2(1 + visits) + importance / 5 + exp(−age / 30 days)

A visit is a search that showed it; its age begins with the last of these, or when it was stored.
After MemoryOS (arXiv 2506.06326), whose heat sums visits, length and recency: a record is one
sentence, so its importance stands for the length; and the hundredth visit tells less than the
first.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pagemind.runtime.settings import RECORD_HEAT_DAYS, RECORD_HEAT_IMPORTANCE


@dataclass(frozen=True, slots=True)
class Use:
    """How a record was used. `used_at` is the last time it was shown, or when it was stored."""

    number: int
    importance: float
    visits: int
    used_at: datetime


def heat(use: Use, now: datetime) -> float:
    """Never less for one more visit, more importance or a later use."""
    age = max(timedelta(0), now - use.used_at) / timedelta(days=RECORD_HEAT_DAYS)
    return math.log2(1 + use.visits) + use.importance / RECORD_HEAT_IMPORTANCE + math.exp(-age)


def coldest(uses: Iterable[Use], many: int, now: datetime) -> list[Use]:
    """So many of least heat, the coldest first; of two alike the older number."""
    ranked = sorted(uses, key=lambda use: (heat(use, now), use.number))
    return ranked[:many]
