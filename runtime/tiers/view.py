"""View: what a search asks of the authority. The state database's side implements it.

Hits are read back through it, so that a search never shows what the authority no longer holds.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from pagemind.runtime.message import Message
from pagemind.runtime.outbox import OutboxItem, Tier
from pagemind.runtime.page import Page
from pagemind.runtime.passage import Passage


class View(Protocol):
    """One agent's authority, for reading. Safe from any thread."""

    def messages(self, seqs: Sequence[int]) -> Mapping[int, Message]:
        """The messages of these seqs that exist."""

    def passages(self, numbers: Sequence[int]) -> Mapping[int, Passage]:
        """The passages of these numbers that exist and are not retired."""

    def pages(self, numbers: Sequence[int]) -> Mapping[int, Page]:
        """The pages of these numbers that exist."""

    def pending(self, limit: int) -> list[OutboxItem]:
        """Outbox.pending: the unwritten changes, oldest first."""

    def live(self) -> Sequence[tuple[int, int]] | None:
        """The seq ranges of the current line, both ends included; None: everything is live."""

    def page_of(self, seq: int) -> str | None:
        """The page that holds an evicted message (p17)."""

    def in_context(self, seq: int) -> bool:
        """Whether a message stands in main context now."""

    def accessed(self, tier: Tier, keys: Sequence[int]) -> Mapping[int, datetime]:
        """When a model was last shown these seqs or numbers by a search, as far as it was."""

    def superseded(self, numbers: Sequence[int]) -> Mapping[int, Sequence[Passage]]:
        """What each of these passages took the place of, the last first."""

    def about(self, words: str) -> Collection[str]:
        """The short ids of facts about somebody or something that these words name."""

    def newer(self, seqs: Sequence[int], words: str) -> Mapping[int, Sequence[int]]:
        """Of messages that told what is over, as far as these words ask for it: those that told
        what took its place."""

    def speakers(self) -> Sequence[str]:
        """The names of all who have spoken."""

    def private(self) -> bool:
        """Whether any passage is private to somebody."""

    def count(self, tier: Tier) -> int:
        """How many messages (those that can be found), passages or pages the agent has."""
