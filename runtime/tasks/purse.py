"""Budgets: what is left of the task's, the input's and the action's, and what that allows a turn.

A turn is bounded by the least that is left, so that a budget that runs out in it ends it soundly,
between two steps. Pure.
"""

from dataclasses import dataclass, replace

from pagemind.runtime.state.ledger import Spent
from pagemind.runtime.tasks.parts import Bounds
from pagemind.runtime.turn import TurnLimits

NAMES = {"task": "the task's budget", "input": "the input's budget", "action": "its budget"}


@dataclass
class Purse:
    """What was spent so far, by level, and the bounds of each."""

    bounds: dict[str, Bounds]
    spent: dict[str, Spent]

    def of(self, level: str, bounds: Bounds, spent: Spent) -> "Purse":
        """The same with another level in it."""
        return Purse({**self.bounds, level: bounds}, {**self.spent, level: spent})

    def add(self, spent: Spent) -> None:
        for level in self.spent:
            self.spent[level] += spent

    def over(self) -> tuple[str, str] | None:
        """The outermost level whose budget is spent, and how."""
        for level in ("task", "input", "action"):
            if level in self.bounds and (told := _over(self.bounds[level], self.spent[level])):
                return level, f"{NAMES[level]} is spent: {told}"
        return None

    def limits(self, limits: TurnLimits) -> TurnLimits:
        """The limits of a turn, none above what is left."""
        for level, bounds in self.bounds.items():
            spent = self.spent[level]
            if bounds.steps is not None:
                limits = replace(limits, steps=min(limits.steps, bounds.steps - spent.steps))
            if bounds.tokens is not None:
                left = bounds.tokens - spent.tokens
                tokens = left if limits.tokens is None else min(limits.tokens, left)
                limits = replace(limits, tokens=tokens)
            if bounds.cost is not None:
                dollars = bounds.cost - spent.cost
                cost = dollars if limits.cost is None else min(limits.cost, dollars)
                limits = replace(limits, cost=cost)
            if bounds.seconds is not None:
                seconds = bounds.seconds - spent.ms / 1000
                limits = replace(limits, seconds=min(limits.seconds, seconds))
        return limits


def _over(bounds: Bounds, spent: Spent) -> str:
    if bounds.steps is not None and spent.steps >= bounds.steps:
        return f"{spent.steps:,} of {bounds.steps:,} steps"
    if bounds.tokens is not None and spent.tokens >= bounds.tokens:
        return f"{spent.tokens:,} of {bounds.tokens:,} tokens"
    if bounds.cost is not None and spent.cost >= bounds.cost:
        return f"{spent.cost:.4f} of {bounds.cost:g} US dollars"
    if bounds.seconds is not None and spent.ms / 1000 >= bounds.seconds:
        return f"{spent.ms / 1000:.0f} of {bounds.seconds:g} seconds"
    return ""
