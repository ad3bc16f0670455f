"""The seam between the authority (SQLite) and the LanceDB tiers: what is still to be written.

The state database implements `Outbox`; the write-back thread drains it. An item stays until
`done` is called, so that a crash between a LanceDB commit and `done` repeats the item: writing
it must be idempotent by key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pagemind.runtime.message import Message
from pagemind.runtime.page import Page
from pagemind.runtime.passage import Passage

Tier = Literal["recall", "archival", "pages"]


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """One change to carry over. `key` is the short id (m42, a7, p17).

    `message`, `passage` or `page` is set for "put"; all are None for "delete". `before` holds up
    to two messages that precede a message in its conversation, oldest first (for the three-line
    field).
    """

    number: int
    tier: Tier
    op: Literal["put", "delete"]
    key: str
    message: Message | None = None
    passage: Passage | None = None
    page: Page | None = None
    before: tuple[Message, ...] = ()


class Outbox(Protocol):
    """Safe to call from any thread."""

    def pending(self, limit: int) -> list[OutboxItem]:
        """The oldest unwritten changes, at most one for each key: the newest state of it."""

    def done(self, items: Sequence[OutboxItem]) -> None:
        """Forget these changes, unless the key changed again meanwhile."""

    def refill(self) -> int:
        """Every row of every tier counts as unwritten again; how many that is."""

    def count(self, tier: Tier | None = None) -> int:
        """How many keys are unwritten."""
