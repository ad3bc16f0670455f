"""TraceEvent: the one stream that the UI, the logs and the tests watch.

turn_started
├── prefetched               the memories before the event: ids, tokens, text
├── pressure_measured        used, room, level
├── warned                   the notice that went into the queue
├── flush_started            reason: flush, idle, overflow, asked
│   ├── page_written         id, first_seq, last_seq, tokens
│   ├── summarised           rung of the ladder, tokens
│   └── flush_ended          freed, used, pages
├── model_called             step, prompt tokens (our estimate)
├── text_delta               a piece of the reply as it streams
├── model_replied            usage, finish
├── model_retrying           why, wait in seconds
├── tool_called              id, name, arguments
├── tool_returned            id, name, ok, ms, text
├── set_aside                untrusted text that left the window: first ids, messages
└── turn_ended               stop_reason

gists_written, gists_failed and slept tell at the next turn's start what was done before it.

Who watches an agent rather than a turn (Agent.watch) is also told what was asked of it and which
messages were stored. Trace files have some kinds more, which recorder.py writes.
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
    "set_aside",  # first: where each run begins that left the window; messages: how many
    "turn_ended",
    "gists_written",  # ids of the pages that got a better line, and those asked about
    "gists_failed",
    "slept",  # done: counts by name; calls; notes on what failed
]


WatchKind = Literal[
    "asked",  # do: handle or retry; the event, before anything is done about it
    "stored",  # seq, role, kind, turn, at
    "shared",  # blocks: what others made of shared blocks, taken up within a turn
]


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One thing that happened; `data` holds plain JSON values."""

    kind: TraceKind | WatchKind
    data: Mapping[str, Any] = field(default_factory=dict)


Observer = Callable[[TraceEvent], None]


def ignore(event: TraceEvent) -> None:
    """The observer that watches nothing."""


def both(first: Observer, second: Observer) -> Observer:
    """One observer that tells two."""
    if first is ignore or second is ignore:
        return second if first is ignore else first

    def tell(event: TraceEvent) -> None:
        first(event)
        second(event)

    return tell
