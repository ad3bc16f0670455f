"""Scores of a ranked list against its evidence: recall, MRR, recall in a token budget. Pure.

R@k is the mean share of a question's evidence among the first k; all@k the share of questions with
all of it there; MRR the mean of 1 ÷ rank of the first. In percent.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

KS = (5, 10, 20, 50)
BUDGETS = (512, 1024, 2048, 3072)
DRAWS = 2000  # of the bootstrap


@dataclass(frozen=True, slots=True)
class Scored:
    """One question's outcome. `ranks` are those of its evidence, from 1; None: not found.
    `held` says for each budget what share of the evidence stands in that many tokens."""

    conversation: str
    kind: str
    ranks: tuple[int | None, ...]
    held: Mapping[int, float] = field(default_factory=dict)

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
