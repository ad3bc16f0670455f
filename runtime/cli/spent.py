"""What an agent took: tokens and cost of the last turn and of the day, in the agent's zone."""

from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.turn import TurnResult


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens sent and received, and US dollars; `known`: whether that is all of it."""

    sent: int = 0
    received: int = 0
    cost: float = 0.0
    known: bool = True

    @property
    def tokens(self) -> int:
        return self.sent + self.received


@dataclass(frozen=True, slots=True)
class Day:
    """What was spent since `began`."""

    began: datetime
    spent: Spent

    @classmethod
    def of(cls, agent: "Agent") -> "Day":
        """Today so far, from the steps on disk."""
        from pagemind.runtime.clock import rfc3339

        began = midnight(agent.state.clock.now(), agent.zone)
        _, used, cost, known = agent.state.history.usage(rfc3339(began))
        return cls(began, Spent(used.prompt_tokens, used.completion_tokens, cost, known))

    def after(self, turn: Spent, agent: "Agent") -> "Day":
        """With one more turn: the steps need not be summed up again until the date changes."""
        if midnight(agent.state.clock.now(), agent.zone) != self.began:
            return Day.of(agent)
        before = self.spent
        return replace(
            self,
            spent=Spent(
                before.sent + turn.sent,
                before.received + turn.received,
                before.cost + turn.cost,
                before.known and turn.known,
            ),
        )


def of_turn(result: "TurnResult") -> Spent:
    """What a turn took, background work apart."""
    usage = result.usage
    return Spent(usage.prompt_tokens, usage.completion_tokens, result.cost, result.cost_known)


def midnight(now: datetime, zone: tzinfo) -> datetime:
    """When the day began."""
    return now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
