"""The outbox table: what LanceDB does not have yet. Implements runtime.outbox.Outbox."""

from collections.abc import Sequence

from pagemind.runtime.outbox import OutboxItem, Tier
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.journal import Journal
from pagemind.runtime.state.passages import Passages


class StateOutbox:
    """Unwritten changes of one agent, oldest first; one for each key, always its newest state."""

    def __init__(self, database: Database, journal: Journal, passages: Passages) -> None:
        self._db = database
        self._journal = journal
        self._passages = passages

    def pending(self, limit: int) -> list[OutboxItem]:
        rows = self._db.rows("SELECT * FROM outbox ORDER BY number LIMIT ?", (limit,))
        said = [r["key"] for r in rows if r["tier"] == "recall"]
        messages = self._journal.get(said)
        before = self._journal.before_each(said, 2)
        passages = self._passages.get([r["key"] for r in rows if r["tier"] == "archival"])
        items = []
        for row in rows:
            number, key, op = row["number"], row["key"], row["op"]
            if row["tier"] == "recall":
                message = messages.get(key)
                items.append(
                    OutboxItem(
                        number,
                        "recall",
                        "put" if op == "put" and message else "delete",
                        f"m{key}",
                        message=message if op == "put" else None,
                        before=tuple(before.get(key, ())),
                    )
                )
            else:
                passage = passages.get(key)
                items.append(
                    OutboxItem(
                        number,
                        "archival",
                        "put" if op == "put" and passage else "delete",
                        f"a{key}",
                        passage=passage if op == "put" else None,
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
            return self.count()
