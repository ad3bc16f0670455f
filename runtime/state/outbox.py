"""The outbox table: what LanceDB does not have yet. Implements runtime.outbox.Outbox."""

from collections.abc import Sequence

from pagemind.runtime.outbox import OutboxItem, Tier
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.journal import Journal
from pagemind.runtime.state.pages import Pages
from pagemind.runtime.state.passages import Passages

_LETTERS: dict[Tier, str] = {"recall": "m", "archival": "a", "pages": "p"}  # of short ids

SHOWN_BEFORE = 2  # messages that a row of a message shows before it

_ALL: dict[Tier, str] = {
    "recall": "SELECT seq FROM messages WHERE kind IN ('talk', 'observation') AND seq > ?"
    " ORDER BY seq LIMIT ?",
    "archival": "SELECT number FROM passages WHERE status <> 'retired' AND number > ?"
    " ORDER BY number LIMIT ?",
    "pages": "SELECT number FROM pages WHERE kind = 'page' AND number > ? ORDER BY number LIMIT ?",
}


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
        return self._items([(row["number"], row["tier"], row["key"], row["op"]) for row in rows])

    def of_tier(self, tier: Tier, limit: int) -> list[OutboxItem]:
        """The same of one tier, by key."""
        rows = self._db.rows(
            "SELECT * FROM outbox WHERE tier = ? ORDER BY key LIMIT ?", (tier, limit)
        )
        return self._items([(row["number"], row["tier"], row["key"], row["op"]) for row in rows])

    def all_of(self, tier: Tier, after: int, limit: int) -> list[OutboxItem]:
        """What a tier has rows of, whether it is due or not: those after a key."""
        rows = self._db.rows(_ALL[tier], (after, limit))
        return self._items([(0, tier, row[0], "put") for row in rows])

    def _items(self, rows: Sequence[tuple[int, Tier, int, str]]) -> list[OutboxItem]:
        keys: dict[Tier, list[int]] = {tier: [] for tier in _LETTERS}
        for _, tier, key, _ in rows:
            keys[tier].append(key)
        messages = self._journal.get(keys["recall"])
        before = self._journal.before_each(keys["recall"], SHOWN_BEFORE)
        passages = self._passages.get(keys["archival"])
        pages = self._pages.get_all(keys["pages"])
        items = []
        for number, tier, key, op in rows:
            put = op == "put"
            message = messages.get(key) if put and tier == "recall" else None
            passage = passages.get(key) if put and tier == "archival" else None
            page = pages.get(key) if put and tier == "pages" else None
            items.append(
                OutboxItem(
                    number,
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

    def put_again(self, tier: Tier, keys: Sequence[int]) -> None:
        """Queue some rows again: something that they show has changed."""
        self._db.write_many(
            "INSERT OR REPLACE INTO outbox (tier, key, op) VALUES (?, ?, 'put')",
            [(tier, key) for key in keys],
        )

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
                " SELECT 'archival', number, 'put' FROM passages WHERE status <> 'retired'"
            )
            self._db.write(
                "INSERT OR REPLACE INTO outbox (tier, key, op)"
                " SELECT 'pages', number, 'put' FROM pages WHERE kind = 'page' AND live"
            )
            return self.count()
