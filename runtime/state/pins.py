"""Pins on disk: which messages and pages are pinned, in the order in which that happened, and which
were at any earlier time."""

from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.lines import NOW


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
        with self._db.transaction():
            self._db.write(
                "INSERT OR IGNORE INTO pins (target, at, seq) VALUES (?,?,?)",
                (target, rfc3339(self._clock.now()), seq),
            )
            self._keep_version(target)

    def remove(self, target: str) -> None:
        with self._db.transaction():
            self._db.write("DELETE FROM pins WHERE target = ?", (target,))
            self._keep_version(target)

    def _keep_version(self, target: str) -> None:
        self._db.write(
            f"INSERT OR REPLACE INTO pin_versions SELECT ?1, {NOW},"
            " (SELECT at FROM pins WHERE target = ?1), (SELECT seq FROM pins WHERE target = ?1)",
            (target,),
        )

    def go_back(self, before: int) -> tuple[list[str], list[str]]:
        """Pin what was pinned just before a message was given its seq, in the order of then; what
        is pinned again, and what no longer."""
        with self._db.transaction():
            then = {
                row["target"]: (row["pinned_at"], row["pinned_seq"])
                for row in self._db.rows(
                    "SELECT target, pinned_at, pinned_seq, max(seq) FROM pin_versions WHERE seq < ?"
                    " GROUP BY target",
                    (before,),
                )
                if row["pinned_at"] is not None
            }
            now = set(self.all())
            gone = sorted(now - set(then))
            back = [target for target in then if target not in now]
            for target in gone:
                self.remove(target)
            for target in back:
                self._db.write("INSERT INTO pins VALUES (?,?,?)", (target, *then[target]))
                self._keep_version(target)
        return back, gone
