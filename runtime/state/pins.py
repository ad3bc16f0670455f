"""Pins on disk: which messages and pages are pinned, in the order in which that happened."""

from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.state.database import Database


class Pins:
    """Targets (m42, p17) that one agent has pinned."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def all(self) -> list[str]:
        """The oldest pin first."""
        rows = self._db.rows("SELECT target FROM pins ORDER BY seq, at, target")
        return [row["target"] for row in rows]

    def add(self, target: str, *, seq: int) -> None:
        """Pin a target; `seq` is the newest message then. One that is pinned stays where it is."""
        self._db.write(
            "INSERT OR IGNORE INTO pins (target, at, seq) VALUES (?,?,?)",
            (target, rfc3339(self._clock.now()), seq),
        )

    def remove(self, target: str) -> None:
        self._db.write("DELETE FROM pins WHERE target = ?", (target,))
