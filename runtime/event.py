"""What wakes an agent: a user's message, a timer, an alert of the system, another agent.

An event may have an `id`, unique per agent: the same one again answers what it answered before.
event_json() and event_from_json() are for traces.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import parse_rfc3339, rfc3339
from pagemind.runtime.message import TRUST, Blob


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A person speaks."""

    text: str
    speaker: str = "user"
    id: str | None = None
    said_at: datetime | None = None  # when it was said, if not now (imports, delayed delivery)
    attachments: tuple[Blob, ...] = ()
    document: str = ""  # the file whose text it is: nobody speaks then


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A schedule came due. `text` says of itself when that was; `trust` is that of the step that
    set it."""

    name: str
    text: str
    id: str | None = None
    trust: int = TRUST["runtime"]


@dataclass(frozen=True, slots=True)
class SystemAlert:
    """The program around the agent has something to say."""

    text: str
    source: str = "system"
    id: str | None = None


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """Another agent speaks; the payload is passed on untouched. `trust` is that of the step in
    which it said so: what an agent sends is trusted no more than another agent is."""

    sender: str
    text: str
    metadata: dict[str, str] = field(default_factory=dict)
    id: str | None = None
    trust: int = TRUST["agent"]


Event = UserMessage | TimerFired | SystemAlert | AgentMessage


def event_json(event: Event) -> dict[str, Any]:
    """`{"event": its kind, …its fields}`."""
    body = asdict(event)
    if isinstance(event, UserMessage):
        body["said_at"] = rfc3339(event.said_at) if event.said_at else None
    return {"event": type(event).__name__, **body}


def event_from_json(body: Mapping[str, Any]) -> Event:
    """The inverse. Raises KeyError, TypeError or ValueError for what is no event."""
    kinds: dict[str, type[Event]] = {
        kind.__name__: kind for kind in (UserMessage, TimerFired, SystemAlert, AgentMessage)
    }
    fields = {key: value for key, value in body.items() if key not in ("event", "do", "shared")}
    if fields.get("said_at"):
        fields["said_at"] = parse_rfc3339(fields["said_at"])
    if "attachments" in fields:
        fields["attachments"] = tuple(Blob(**each) for each in fields["attachments"])
    return kinds[body["event"]](**fields)
