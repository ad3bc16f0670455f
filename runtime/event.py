"""What wakes an agent: a user's message, a timer, an alert of the system, another agent."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A person speaks. `id` is the client's own and makes a retried send answer once."""

    text: str
    speaker: str = "user"
    id: str | None = None
    said_at: datetime | None = None  # when it was said, if not now (imports, delayed delivery)


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A schedule came due."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class SystemAlert:
    """The program around the agent has something to say."""

    text: str
    source: str = "system"


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """Another agent speaks; the payload is passed on untouched."""

    sender: str
    text: str
    metadata: dict[str, str] = field(default_factory=dict)


Event = UserMessage | TimerFired | SystemAlert | AgentMessage
