"""Scores of a ranked list against its evidence: recall, MRR, recall in a token budget. Pure.

R@k is the mean share of a question's evidence among the first k; all@k the share of questions with
all of it there; MRR the mean of 1 ÷ rank of the first. In percent.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

KS = (5, 10, 20, 50)
BUDGETS = (512, 1024, 2048, 3072)
DRAWS = 2000  # of the bootstrap
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scored:
    """One question's outcome. `ranks` are those of its evidence, from 1; None: not found.
    `sessions` are those of the sessions it stands in, each ranked by its first turn. `held` says
    for each budget what share of the evidence stands in that many tokens; `stale` whether what was
    true once came before what is."""

    conversation: str
    kind: str
    ranks: tuple[int | None, ...]
    sessions: tuple[int | None, ...] = ()
    held: Mapping[int, float] = field(default_factory=dict)
    stale: bool | None = None

    def recall(self, k: int) -> float:
        return sum(rank is not None and rank <= k for rank in self.ranks) / len(self.ranks)

    @property
    def reciprocal(self) -> float:
        found = [rank for rank in self.ranks if rank is not None]
        return 1 / min(found) if found else 0.0


def figures(questions: Sequence[Scored]) -> dict[str, float]:
    """`r@5` … `mrr` of contract.md; empty for no questions."""
    if not questions:
        return {}
    found = {f"r@{k}": _percent([q.recall(k) for q in questions]) for k in KS}
    found["all@10"] = _percent([float(q.recall(10) == 1.0) for q in questions])
    found["mrr"] = _percent([q.reciprocal for q in questions])
    return found


def any_or_all(questions: Sequence[Scored]) -> dict[str, float]:
    """Shares of the questions with one, and with all, of their turns and sessions found."""
    if not questions:
        return {}
    found: dict[str, float] = {}
    for k in KS[:2]:
        for unit in ("turn", "session"):
            ranks = [q.ranks if unit == "turn" else q.sessions for q in questions]
            within = [[r is not None and r <= k for r in each] for each in ranks]
            found[f"{unit}_any@{k}"] = _percent([float(any(each)) for each in within])
            found[f"{unit}_all@{k}"] = _percent([float(all(each)) for each in within])
    return found


def stale_first(questions: Sequence[Scored]) -> float | None:
    """How often what was true once ranks before what is; None where nothing changes."""
    told = [float(q.stale) for q in questions if q.stale is not None]
    return _percent(told) if told else None


def rank_of(wanted: T, found: Sequence[T]) -> int | None:
    """From 1; None if it is not there."""
    return found.index(wanted) + 1 if wanted in found else None


def at_tokens(questions: Sequence[Scored]) -> dict[str, float]:
    """Recall of what fits each budget."""
    if not questions:
        return {}
    return {str(b): _percent([q.held.get(b, 0.0) for q in questions]) for b in BUDGETS}


def by(
    questions: Sequence[Scored], key: Callable[[Scored], str], order: Sequence[str] = ()
) -> dict[str, list[Scored]]:
    """Questions in groups, in this order and then as they come."""
    groups: dict[str, list[Scored]] = {name: [] for name in order}
    for each in questions:
        groups.setdefault(key(each), []).append(each)
    return {name: group for name, group in groups.items() if group}


def interval(questions: Sequence[Scored], k: int, *, seed: int = 1) -> tuple[float, float]:
    """95 % bootstrap interval of R@k over conversations, which are drawn whole: questions of one
    conversation are not independent."""
    groups = [
        [q.recall(k) for q in each] for each in by(questions, lambda q: q.conversation).values()
    ]
    draw = random.Random(seed)
    means = []
    for _ in range(DRAWS):
        drawn = [value for group in draw.choices(groups, k=len(groups)) for value in group]
        means.append(sum(drawn) / len(drawn))
    means.sort()
    low, high = means[round(0.025 * (DRAWS - 1))], means[round(0.975 * (DRAWS - 1))]
    return round(100 * low, 1), round(100 * high, 1)


def held_in(
    evidence: Sequence[str], lines: Sequence[tuple[str, str, int, int]]
) -> dict[int, float]:
    """The share of the evidence within each budget. A line is (turn, session, its tokens, tokens
    of its session's header), best first; a header is paid once for each session. The first line
    that does not fit ends the list, as a model is shown no more."""
    found: dict[int, float] = {}
    for budget in BUDGETS:
        used, sessions, shown = 0, set(), set()
        for turn, session, tokens, header in lines:
            used += tokens + (0 if session in sessions else header)
            if used > budget:
                break
            sessions.add(session)
            shown.add(turn)
        found[budget] = sum(each in shown for each in evidence) / len(evidence)
    return found


def _percent(values: Sequence[float]) -> float:
    return round(100 * sum(values) / len(values), 1)
