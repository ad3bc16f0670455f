"""What the processes of the demo share: the agent, a clock they set, what counts as talk."""

from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from pagemind.runtime.clock import SystemClock

if TYPE_CHECKING:
    from pagemind.runtime.definition import AgentDefinition
    from pagemind.runtime.message import Message
    from pagemind.runtime.state.journal import Journal

AGENT = "demo"
WINDOW = 2048  # tokens
_DEFINITION = f"""
name: {AGENT}
description: The lighthouse of pagemind's demo.
embedding: local/minilm
context_window: {WINDOW}
output_reserve: 256
system: demo
blocks:
  human: {{value: "Ines, who turns a lighthouse into a guest house.", limit: 600}}
tools: [recall_search, archival_insert, page_in]
timezone: UTC
"""


@cache
def definition() -> "AgentDefinition":
    """The agent of the demo."""
    from pagemind.runtime.definition import parse_definition

    return parse_definition(_DEFINITION, "demo.yaml")


def talked(journal: "Journal") -> "list[Message]":
    """What was said to whom, without calls, their results and the kernel's own notices."""
    stored = journal.range(1, journal.last_seq)
    return [m for m, _, _ in stored if m.kind == "talk" and m.role != "tool" and m.text]


class TalkClock(SystemClock):
    """The wall time that the talk is at; everything else is the machine's, so that ids stay
    unique over the processes."""

    def __init__(self, at: datetime) -> None:
        super().__init__()
        self._at = at

    def set(self, at: datetime) -> None:
        """It is now this late."""
        self._at = at

    def now(self) -> datetime:
        return self._at
