"""Tally: what the demo counted while the talk poured, and what its check found afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Kill:
    """The end of the first process. `exit_code` is the operating system's; times in ms."""

    exchange: int  # in the flush of this one
    flush: int  # it was the agent's n-th
    acknowledged: int  # messages, before it
    exit_code: int
    reopened_ms: float
    found_at_start: int  # messages that were there when the next process opened the agent
    resent: int  # acknowledged messages that a forgetful client sent again …
    answered_from_store: int  # … and that were answered without being stored again


@dataclass(slots=True)
class Tally:
    """Counts as they grow. Tokens are the kernel's own counts of whole requests."""

    acknowledged: dict[int, str] = field(default_factory=dict)  # exchange -> the reply received
    model_calls: int = 0
    tokens_sent: int = 0
    max_prompt_tokens: int = 0
    tokens_replay: int = 0
    warnings: int = 0
    archived: int = 0
    flushes: int = 0
    pages: int = 0
    usable: int = 0
    level: str = "normal"
    sections: Mapping[str, int] = field(default_factory=dict)
    kill: Kill | None = None
    seconds: float = 0.0
    last_kept: str = ""  # what was archived last
    last_pages: tuple[str, ...] = ()  # of the newest flush
    last_freed: int = 0

    @property
    def messages(self) -> int:
        """Messages that were acknowledged: what was said, and what was answered."""
        return 2 * len(self.acknowledged)

    @property
    def sent_vs_replay(self) -> float:
        """Tokens sent ÷ tokens of sending the whole history at every turn."""
        return self.tokens_sent / self.tokens_replay if self.tokens_replay else 0.0


@dataclass(frozen=True, slots=True)
class Check:
    """What is there of what was acknowledged. `homeless`: neither in the window nor in exactly
    one page."""

    acknowledged: int
    found: int
    twice: int
    in_window: int
    in_pages: int
    homeless: int
    pages: int
    passages: int
