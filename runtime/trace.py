"""TraceEvent: the one stream that the UI, the logs and the tests watch.

turn_started
├── prefetched               ids and tokens of the memories before the event
├── pressure_measured        used, room, level
├── warned                   the notice that went into the queue
├── flush_started
│   ├── page_written         id, first_seq, last_seq, tokens
│   ├── summarised           rung of the ladder, tokens
│   └── flush_ended          freed, used, pages
├── model_called             step, prompt tokens (our estimate)
├── text_delta               a piece of the reply as it streams
├── model_replied            usage, finish
├── model_retrying           why, wait in seconds
├── tool_called              id, name, arguments
├── tool_returned            id, name, ok, ms, text
└── turn_ended               stop_reason

gists_written and gists_failed tell at the next turn's start what was done in the idle before it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TraceKind = Literal[
    "turn_started",
    "prefetched",
    "pressure_measured",
    "warned",
    "flush_started",
    "page_written",
    "summarised",
    "flush_ended",
    "model_called",
    "text_delta",
    "model_replied",
    "model_retrying",
    "tool_called",
    "tool_returned",
    "turn_ended",
    "gists_written",  # ids of the pages that got a better line, and those asked about
    "gists_failed",
]


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One thing that happened; `data` holds plain JSON values."""

    kind: TraceKind
    data: Mapping[str, Any] = field(default_factory=dict)


Observer = Callable[[TraceEvent], None]


def ignore(event: TraceEvent) -> None:
    """The observer that watches nothing."""
