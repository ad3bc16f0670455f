"""The outbox table: what LanceDB does not have yet. Implements runtime.outbox.Outbox."""

from collections.abc import Sequence

from pagemind.runtime.outbox import OutboxItem, Tier
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.journal import Journal
from pagemind.runtime.state.pages import Pages
from pagemind.runtime.state.passages import Passages

_LETTERS: dict[Tier, str] = {"recall": "m", "archival": "a", "pages": "p"}  # of short ids


class StateOutbox:
    """Unwritten changes of one agent, oldest first; one for each key, always its newest state."""

    def __init__(
        self, database: Database, journal: Journal, passages: Passages, pages: Pages
    ) -> None:
        self._db = database
        self._journal = journal
        self._passages = passages
        self._pages = pages

    def pending(self, limit: int) -> list[OutboxItem]:
        rows = self._db.rows("SELECT * FROM outbox ORDER BY number LIMIT ?", (limit,))
        keys: dict[Tier, list[int]] = {tier: [] for tier in _LETTERS}
        for row in rows:
            keys[row["tier"]].append(row["key"])
        messages = self._journal.get(keys["recall"])
        before = self._journal.before_each(keys["recall"], 2)
        passages = self._passages.get(keys["archival"])
        pages = self._pages.get_all(keys["pages"])
        items = []
        for row in rows:
            tier: Tier = row["tier"]
            key, put = row["key"], row["op"] == "put"
            message = messages.get(key) if put and tier == "recall" else None
            passage = passages.get(key) if put and tier == "archival" else None
            page = pages.get(key) if put and tier == "pages" else None
            items.append(
                OutboxItem(
                    row["number"],
                    tier,
                    "put" if message or passage or page else "delete",
                    f"{_LETTERS[tier]}{key}",
                    message=message,
                    passage=passage,
                    page=page,
                    before=tuple(before.get(key, ())) if tier == "recall" else (),
                )
            )
        return items

    def done(self, items: Sequence[OutboxItem]) -> None:
        # A key that changed again has a new number: its row stays.
        self._db.write_many(
            "DELETE FROM outbox WHERE number = ?", [(item.number,) for item in items]
        )

    def count(self, tier: Tier | None = None) -> int:
        if tier is None:
            return self._db.number("SELECT count(*) FROM outbox")
        return self._db.number("SELECT count(*) FROM outbox WHERE tier = ?", (tier,))

    def clear(self) -> None:
        """LanceDB has all of it by another way."""
        self._db.write("DELETE FROM outbox")

    def refill(self) -> int:
        """Queue every row again, for `memory rebuild`; how many."""
        with self._db.transaction():
            self._db.write(
                "INSERT OR REPLACE INTO outbox (tier, key, op)"
                " SELECT 'recall', seq, 'put' FROM messages WHERE kind IN ('talk', 'observation')"
            )
            self._db.write(
                "INSERT OR REPLACE INTO outbox (tier, key, op)"
                " SELECT 'archival', number, 'put' FROM passages WHERE status = 'active'"
            )
            self._db.write(
                "INSERT OR REPLACE INTO outbox (tier, key, op)"
                " SELECT 'pages', number, 'put' FROM pages WHERE kind = 'page'"
            )
            return self.count()
