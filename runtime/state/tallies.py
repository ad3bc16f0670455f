"""How often what a record says to do went well or badly: of skills and episodes."""

from collections.abc import Mapping, Sequence

from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.state.database import Database


class Tallies:
    """Of one agent, by the number of a record."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def add(self, number: int, *, good: int = 0, bad: int = 0) -> None:
        self._db.write(
            "INSERT INTO tallies VALUES (?,?,?,?) ON CONFLICT (number) DO UPDATE SET"
            " good = good + excluded.good, bad = bad + excluded.bad, at = excluded.at",
            (number, good, bad, rfc3339(self._clock.now())),
        )

    def reset(self, number: int) -> None:
        """Nothing is known of it: it is another version now."""
        self._db.write("DELETE FROM tallies WHERE number = ?", (number,))

    def get(self, numbers: Sequence[int]) -> Mapping[int, tuple[int, int]]:
        """Good and bad of each that has any."""
        rows = self._db.rows_in("SELECT * FROM tallies WHERE number", numbers)
        return {row["number"]: (row["good"], row["bad"]) for row in rows}
