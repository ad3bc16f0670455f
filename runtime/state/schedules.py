"""The timers of a home's agents, and the inbox folders that their definitions name; in home.db.

Numbers are per agent and never used again: people and models write s3. A timer that is over keeps
its row. They go when the agent does. When one fires is decided in awake/timekeeper.py.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Literal

from pagemind.runtime.clock import Clock, LocalZone, parse_rfc3339, rfc3339, zone_named
from pagemind.runtime.recurrence import Recurrence, from_stored
from pagemind.runtime.state.database import Database, Row

MadeBy = Literal["definition", "agent", "person"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """One timer. `agent` is the agent's id; `zone` a name, "" for the machine's; `due_at` None once
    it is over; `fired_for` the time that it fired for last; `name` what a definition calls it."""

    agent: str
    number: int
    name: str
    made_by: MadeBy
    recurrence: Recurrence
    zone: str
    message: str
    created_at: datetime
    due_at: datetime | None
    fired_for: datetime | None
    fired: int

    @property
    def id(self) -> str:
        return f"s{self.number}"

    @property
    def called(self) -> str:
        """As the model knows it."""
        return self.name or self.id

    @property
    def place(self) -> tzinfo:
        """Where its times of day are reckoned."""
        return zone_named(self.zone) if self.zone else LocalZone()


class Schedules:
    """All of a home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def transaction(self) -> AbstractContextManager[None]:
        return self._db.transaction()

    def add(
        self,
        agent: str,
        recurrence: Recurrence,
        message: str,
        *,
        zone: str,
        made_by: MadeBy,
        name: str = "",
        due: datetime,
    ) -> Schedule:
        with self._db.transaction():
            number = 1 + self._db.number(
                "SELECT max(number) FROM schedules WHERE agent = ?", (agent,)
            )
            self._db.write(
                "INSERT INTO schedules (agent, number, name, made_by, recurrence, zone, message,"
                " created_at, due_at) VALUES (?,?,?,?,?,?,?,?,?)",
                (
                    *(agent, number, name, made_by, recurrence.stored, zone, message),
                    rfc3339(self._clock.now()),
                    rfc3339(due),
                ),
            )
            made = self.get(agent, number)
        assert made is not None
        return made

    def get(self, agent: str, number: int) -> Schedule | None:
        row = self._db.one(
            "SELECT * FROM schedules WHERE agent = ? AND number = ?", (agent, number)
        )
        return _schedule(row) if row else None

    def of(self, agent: str | None = None) -> list[Schedule]:
        """Those of an agent, or of all, that are due again; the next one first."""
        rows = self._db.rows(
            "SELECT * FROM schedules WHERE due_at IS NOT NULL AND (? IS NULL OR agent = ?)"
            " ORDER BY due_at, number",
            (agent, agent),
        )
        return [_schedule(row) for row in rows]

    def due(self, now: datetime) -> list[Schedule]:
        """Those that are due by now, who is due longest first."""
        rows = self._db.rows(
            "SELECT * FROM schedules WHERE due_at <= ? ORDER BY due_at, agent, number",
            (rfc3339(now),),
        )
        return [_schedule(row) for row in rows]

    def next_due(self) -> datetime | None:
        row = self._db.one("SELECT min(due_at) AS due_at FROM schedules WHERE due_at IS NOT NULL")
        return parse_rfc3339(row["due_at"]) if row and row["due_at"] else None

    def note_fired(self, one: Schedule, due: datetime, following: datetime | None) -> None:
        """It fired for `due`; `following` is when it is due next."""
        self._db.write(
            "UPDATE schedules SET fired = fired + 1, fired_for = ?, due_at = ?"
            " WHERE agent = ? AND number = ?",
            (rfc3339(due), _text(following), one.agent, one.number),
        )

    def set_due(self, one: Schedule, due: datetime | None) -> None:
        """When it is due next; None ends it."""
        self._db.write(
            "UPDATE schedules SET due_at = ? WHERE agent = ? AND number = ?",
            (_text(due), one.agent, one.number),
        )

    # --- inbox folders --------------------------------------------------------------------------

    def set_inbox(self, agent: str, folder: str | None) -> None:
        """The folder whose files come to an agent; None for none."""
        if folder is None:
            self._db.write("DELETE FROM inboxes WHERE agent = ?", (agent,))
        else:
            self._db.write("INSERT OR REPLACE INTO inboxes VALUES (?,?)", (agent, folder))

    def inboxes(self) -> Sequence[tuple[str, str]]:
        """Agents by id, each with its folder."""
        return [(row["agent"], row["folder"]) for row in self._db.rows("SELECT * FROM inboxes")]


def _text(at: datetime | None) -> str | None:
    return rfc3339(at) if at is not None else None


def _time(text: str | None) -> datetime | None:
    return parse_rfc3339(text) if text else None


def _schedule(row: Row) -> Schedule:
    return Schedule(
        agent=row["agent"],
        number=row["number"],
        name=row["name"],
        made_by=row["made_by"],
        recurrence=from_stored(row["recurrence"]),
        zone=row["zone"],
        message=row["message"],
        created_at=parse_rfc3339(row["created_at"]),
        due_at=_time(row["due_at"]),
        fired_for=_time(row["fired_for"]),
        fired=row["fired"],
    )
