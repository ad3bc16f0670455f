"""AwakeEvent: what an awake home tells whoever watches it.

awake                    agents, timers, waiting, aside (events)
├── listening            url, token (whether one is asked for)
├── timer_fired          agent, timer, due_at, missed
├── file_taken           agent, file
├── file_failed          agent, file, reason
├── turn_started         agent, id, kind (of event)
├── turn_ended           agent, id, kind, turn, stop_reason, text, tokens, cost
├── slept                agent, done (counts), calls, tokens, notes: its memory was tended
├── waits                agent, id, kind, why, seconds: an agent cannot go on now
├── put_aside            agent, id, kind, why: it can never be handled
├── warning              why
└── asleep               why, left (events that wait)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "awake",
    "listening",
    "timer_fired",
    "file_taken",
    "file_failed",
    "turn_started",
    "turn_ended",
    "slept",
    "waits",
    "put_aside",
    "warning",
    "asleep",
]


@dataclass(frozen=True, slots=True)
class AwakeEvent:
    """One thing that happened; `data` holds plain JSON values."""

    kind: Kind
    at: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"event": self.kind, "at": self.at, **self.data}


Tell = Callable[[AwakeEvent], None]


def untold(event: AwakeEvent) -> None:
    """Tells nobody."""
