"""Errand: for whom a turn works, when another agent's message woke it; and Teamwork, the seat of an
agent among the others.

A chain is all that one first message leads to. Its id and how deep in it a message stands travel in
the message's metadata, so that whoever sends another one in answering knows both; the turn keeps
them, also for a process that takes it up after a kill.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Protocol

from pagemind.runtime.event import AgentMessage, Event
from pagemind.runtime.message import TRUST
from pagemind.runtime.model import Usage
from pagemind.runtime.services import Team
from pagemind.runtime.state.state import State
from pagemind.runtime.turn import Turn, TurnResult

_KEY = "errand"  # of the newest turn that another agent's message has begun
_LATER = "later"


@dataclass(frozen=True, slots=True)
class Errand:
    """`id` is the message's, `sender` who wrote it; `later`: the sender does not wait, and gets the
    answer as a message. `trust` is that of the step that sent it."""

    sender: str
    id: str
    chain: str
    depth: int
    later: bool
    trust: int = TRUST["agent"]

    @classmethod
    def of(cls, event: Event) -> "Errand | None":
        """None for what no agent of this house has sent."""
        if not isinstance(event, AgentMessage) or event.id is None:
            return None
        said: Mapping[str, str] = event.metadata
        depth = said.get("depth", "")
        if "chain" not in said or not depth.isdecimal():
            return None
        later = said.get("answer") == _LATER
        return cls(event.sender, event.id, said["chain"], int(depth), later, event.trust)

    def event(self, text: str) -> AgentMessage:
        """The message that it stands for."""
        metadata = {"chain": self.chain, "depth": str(self.depth)}
        if self.later:
            metadata["answer"] = _LATER
        return AgentMessage(self.sender, text, metadata, self.id, self.trust)

    def keep(self, state: State, turn: int) -> None:
        """The turn works on it."""
        state.database.set_meta(_KEY, json.dumps({"turn": turn, **asdict(self)}))

    @classmethod
    def kept(cls, state: State, turn: int) -> "Errand | None":
        """What the turn works on; None for a turn that nobody's message has begun."""
        stored = json.loads(state.database.meta(_KEY, "{}"))
        if stored.pop("turn", 0) != turn:
            return None
        return cls(**stored)


class Teamwork(Team, Protocol):
    """An agent among those of its home; what its functions ask of it is in services.Team."""

    def spent(self, client_ids: str) -> tuple[int, Usage, float, int]:
        """What others have spent on behalf of the turns whose client's ids begin so: steps,
        tokens, known cost in US dollars, and how many steps have no known price."""

    def begin(self, turn: Turn) -> None:
        """The turn runs: what others spend on its behalf is counted there."""

    def ended(self, turn: TurnResult, errand: Errand | None = None) -> None:
        """The turn has an end: who asked for it and did not wait gets the answer. `errand` is what
        it worked on, where that is no longer kept."""
