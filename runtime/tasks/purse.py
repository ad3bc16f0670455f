"""Budgets: what is left of the task's, the input's and the action's, and what that allows a turn.

A turn is bounded by the least that is left, so that a budget that runs out in it ends it soundly,
between two steps. The levels above the action are shared by all that runs at once: between two of
its steps a turn also looks at what the others have taken meanwhile, unfinished turns included.
Safe to use from any thread.
"""

import threading
from dataclasses import dataclass, field, replace

from pagemind.runtime.model import Usage
from pagemind.runtime.state.ledger import Spent
from pagemind.runtime.tasks.parts import Bounds
from pagemind.runtime.turn import StopReason, TurnLimits

OUTER = "around "  # the levels around a task that is part of another
NAMES = {"task": "the task's budget", "input": "the input's budget", "action": "its budget"}


@dataclass
class _Level:
    """`running` is what turns have taken that are not over, each by whose it is."""

    bounds: Bounds
    spent: Spent
    running: dict[int, Spent] = field(default_factory=dict)

    def all(self) -> Spent:
        return sum(self.running.values(), self.spent)


class Purse:
    """What was spent so far, by level, and the bounds of each."""

    def __init__(self, level: str, bounds: Bounds, spent: Spent) -> None:
        self._levels = {level: _Level(bounds, spent)}
        self._lock = threading.Lock()

    def of(self, level: str, bounds: Bounds, spent: Spent) -> "Purse":
        """A purse with another level in it; the others are these here."""
        made = Purse(level, bounds, spent)
        made._levels = {**self._levels, **made._levels}
        made._lock = self._lock
        return made

    def inside(self, bounds: Bounds, spent: Spent) -> "Purse":
        """The purse of a task inside an action: its own budget, with these levels around it."""
        made = Purse("task", bounds, spent)
        around = {f"{OUTER}{name}": level for name, level in self._levels.items()}
        made._levels = {**around, **made._levels}
        made._lock = self._lock
        return made

    def spent(self, level: str) -> Spent:
        with self._lock:
            return self._levels[level].spent

    def add(self, spent: Spent) -> None:
        """Take it from every level; a turn that ran is over."""
        with self._lock:
            for level in self._levels.values():
                level.running.pop(id(self), None)
                level.spent += spent

    def over(self) -> tuple[str, str] | None:
        """The outermost level whose budget is spent, and how."""
        with self._lock:
            for name, level in self._levels.items():
                if told := _over(level.bounds, level.all()):
                    # One around the task ends the task.
                    return "task" if name.startswith(OUTER) else name, _told(name, told[1])
        return None

    def left(self) -> Bounds:
        """What the levels together still allow, nothing less than 1 or 0.001 of anything."""
        limits: dict[str, float] = {}
        with self._lock:
            for level in self._levels.values():
                bounds, spent = level.bounds, level.all()
                for name, most, taken in (
                    ("steps", bounds.steps, spent.steps),
                    ("tokens", bounds.tokens, spent.tokens),
                    ("cost", bounds.cost, spent.cost),
                    ("seconds", bounds.seconds, spent.ms / 1000),
                ):
                    if most is not None:
                        least = 1 if name in ("steps", "tokens") else 0.001
                        limits[name] = min(limits.get(name, most), max(least, most - taken))
        return Bounds.model_validate(limits)

    def limits(self, limits: TurnLimits) -> TurnLimits:
        """The limits of a turn, none above what is left."""
        with self._lock:
            for level in self._levels.values():
                bounds, spent = level.bounds, level.all()
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
        return replace(limits, outer=self._taken)

    def _taken(
        self, steps: int, usage: Usage, cost: float, seconds: float
    ) -> tuple[StopReason, str] | None:
        """What a turn that runs has taken; why it must end, if the task's budget says so."""
        with self._lock:
            for level in self._levels.values():
                level.running[id(self)] = Spent(steps, usage, cost, ms=seconds * 1000)
            for name, level in self._levels.items():
                shared = name == "task" or name.startswith(OUTER)
                if shared and (told := _over(level.bounds, level.all())):
                    return told[0], _told(name, told[1])
        return None


def _told(name: str, over: str) -> str:
    around = "the budget of what it is part of"
    return f"{around if name.startswith(OUTER) else NAMES[name]} is spent: {over}"


def _over(bounds: Bounds, spent: Spent) -> tuple[StopReason, str] | None:
    if bounds.steps is not None and spent.steps >= bounds.steps:
        return "steps", f"{spent.steps:,} of {bounds.steps:,} steps"
    if bounds.tokens is not None and spent.tokens >= bounds.tokens:
        return "tokens", f"{spent.tokens:,} of {bounds.tokens:,} tokens"
    if bounds.cost is not None and spent.cost >= bounds.cost:
        return "cost", f"{spent.cost:.4f} of {bounds.cost:g} US dollars"
    if bounds.seconds is not None and spent.ms / 1000 >= bounds.seconds:
        return "time", f"{spent.ms / 1000:.0f} of {bounds.seconds:g} seconds"
    return None
