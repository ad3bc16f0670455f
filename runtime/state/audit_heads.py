"""What the home has seen of each chain: the number and hash of its newest row, noted when an agent
is closed and when the log is verified. A chain that is shorter than that was cut.

A note may lag behind its chain, after a kill; it is never ahead of it: a row is on disk before its
note. HomeAudit notes each row of the home's own chain at once, as both are in one file.
"""

from typing import Any

from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.state.audit import NOTHING, Audit, Head
from pagemind.runtime.state.database import Database

HOME = "home"  # stands for the id of an agent


class AuditHeads:
    """Of one home; by the id of an agent or archive."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def get(self, owner: str) -> Head:
        row = self._db.one("SELECT number, hash FROM audit_heads WHERE agent = ?", (owner,))
        return Head(row["number"], row["hash"]) if row is not None else NOTHING

    def all(self) -> dict[str, Head]:
        rows = self._db.rows("SELECT agent, number, hash FROM audit_heads ORDER BY agent")
        return {row["agent"]: Head(row["number"], row["hash"]) for row in rows}

    def note(self, owner: str, head: Head) -> None:
        """The newest row of a chain; a note of a later one stays."""
        if head.number <= self.get(owner).number:
            return
        self._db.write(
            "INSERT INTO audit_heads VALUES (?,?,?,?) ON CONFLICT (agent) DO UPDATE SET"
            " number = excluded.number, hash = excluded.hash, at = excluded.at"
            " WHERE excluded.number > number",
            (owner, head.number, head.hash, rfc3339(self._clock.now())),
        )

    def forget(self, owner: str) -> None:
        """Its chain is gone, with the agent."""
        self._db.write("DELETE FROM audit_heads WHERE agent = ?", (owner,))


class HomeAudit(Audit):
    """The home's own chain: what outlives an agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._heads = AuditHeads(database, clock)

    @property
    def owner(self) -> str:
        return HOME

    def add(self, op: str, target: str, **row: Any) -> None:
        with self._db.transaction():
            super().add(op, target, **row)
            self._heads.note(HOME, self.head())

    def gone(self, op: str, owner: str, *, by: str) -> None:
        """An agent or archive is deleted: the last that is known of its chain stays here."""
        with self._db.transaction():
            last = self._heads.get(owner)
            self._heads.forget(owner)
            self.add(op, owner, by=by, rows=last.number, head=last.hash)
