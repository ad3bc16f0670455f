"""The erasures of a home, each from its plan to its receipt; in home.db.

An erasure is there from begin() on, and is carried through by whoever holds the agent next,
whatever happens in between. `state` is the step that comes next. The plan holds ids and salted
hashes, no content, and goes with the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.state.database import Database, Row

# In their order. `scrub` begins; after `receipt` an erasure is done.
STEPS = ("scrub", "outside", "purge", "verify", "receipt")


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure. `agent` is the agent's id, `receipt` the SHA-256 of the receipt once done."""

    id: str
    agent: str
    state: str
    plan: str
    receipt: str
    at: datetime
    ended_at: datetime | None


class Erasures:
    """Those of one home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def begin(self, agent: str, plan: str) -> Erasure:
        """On disk: from now on it is finished, not begun again."""
        id = self._clock.new_id()
        self._db.write(
            "INSERT INTO erasures (id, agent, state, plan, at) VALUES (?,?,?,?,?)",
            (id, agent, STEPS[0], plan, rfc3339(self._clock.now())),
        )
        return self.get(id)

    def get(self, id: str) -> Erasure:
        row = self._db.one("SELECT * FROM erasures WHERE id = ?", (id,))
        assert row is not None, f"no erasure {id}"
        return _erasure(row)

    def unfinished(self, agent: str | None = None) -> list[Erasure]:
        """Of one agent or of all, the oldest first."""
        rows = self._db.rows(
            "SELECT * FROM erasures WHERE ended_at IS NULL AND (? IS NULL OR agent = ?)"
            " ORDER BY at, id",
            (agent, agent),
        )
        return [_erasure(row) for row in rows]

    def done(self) -> list[Erasure]:
        """Those that have a receipt, the oldest first."""
        rows = self._db.rows("SELECT * FROM erasures WHERE ended_at IS NOT NULL ORDER BY at, id")
        return [_erasure(row) for row in rows]

    def reached(self, id: str, step: str, plan: str) -> None:
        """What comes before `step` is done; `plan` with what was found on the way."""
        assert step in STEPS
        self._db.write("UPDATE erasures SET state = ?, plan = ? WHERE id = ?", (step, plan, id))

    def end(
        self, id: str, receipt: str, ended_at: datetime, also: Callable[[], None] = lambda: None
    ) -> None:
        """It is done: `receipt` is its hash, the plan goes; `also` is committed with it."""
        with self._db.transaction():
            self._db.write(
                "UPDATE erasures SET state = 'done', plan = '', receipt = ?, ended_at = ?"
                " WHERE id = ?",
                (receipt, rfc3339(ended_at), id),
            )
            also()


def _erasure(row: Row) -> Erasure:
    return Erasure(
        row["id"],
        row["agent"],
        row["state"],
        row["plan"],
        row["receipt"],
        parse_rfc3339(row["at"]),
        parse_rfc3339(row["ended_at"]) if row["ended_at"] else None,
    )
