"""The mailbox of a home: events that wait for agents, in the order in which they came.

put() is the acknowledgement: from then on an event is there until its turn is done and take() says
so. It has an id, unique per agent, that its turn has too: what was put twice, or handled by a
process that died before it could say so, is done once. What can never be handled is put aside with
the reason. An agent's mail goes when the agent does.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import IdTaken, NotFound
from pagemind.runtime.event import Event, event_from_json, event_json
from pagemind.runtime.state.database import Database, Row


@dataclass(frozen=True, slots=True)
class Mail:
    """One event that waits. `agent` is the agent's id; `why`: what kept it from being handled."""

    number: int
    agent: str
    id: str
    event: Event
    at: datetime
    tries: int
    aside: bool
    why: str

    def as_json(self, agent: str) -> dict[str, Any]:
        """An item of `queue list`."""
        return {
            "number": self.number,
            "agent": agent,
            "id": self.id,
            "kind": type(self.event).__name__,
            "status": "aside" if self.aside else "waits",
            "at": rfc3339(self.at),
            "text": self.event.text,
            "tries": self.tries,
            "why": self.why,
        }


class Mailbox:
    """All mail of a home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def put(self, agent: str, event: Event, id: str | None = None) -> Mail:
        """An event for the agent of this id; it is on disk. Raises IdTaken where another one
        waits under the same id."""
        id = id or event.id or self._clock.new_id()
        body = json.dumps(event_json(replace(event, id=id)), ensure_ascii=False)
        with self._db.transaction():
            known = self._db.one("SELECT * FROM mail WHERE agent = ? AND id = ?", (agent, id))
            if known is None:
                self._db.write(
                    "INSERT INTO mail (agent, id, event, at) VALUES (?,?,?,?)",
                    (agent, id, body, rfc3339(self._clock.now())),
                )
                known = self._db.one("SELECT * FROM mail WHERE agent = ? AND id = ?", (agent, id))
            elif known["event"] != body:
                raise IdTaken(
                    f"another event waits under the id {id!r}",
                    hint="give each message an id of its own",
                )
            assert known is not None
            return _mail(known)

    def firsts(self) -> list[tuple[str, int]]:
        """The agents that have mail, and the number of their first; who waits longest is first."""
        rows = self._db.rows(
            "SELECT agent, MIN(number) AS first FROM mail WHERE aside = 0 GROUP BY agent"
            " ORDER BY first"
        )
        return [(row["agent"], row["first"]) for row in rows]

    def get(self, number: int) -> Mail | None:
        row = self._db.one("SELECT * FROM mail WHERE number = ?", (number,))
        return _mail(row) if row else None

    def all(self, agent: str | None = None, *, aside: bool | None = None) -> list[Mail]:
        """Of one agent or of all, in order; only what waits, or only what was put aside."""
        rows = self._db.rows(
            "SELECT * FROM mail WHERE (? IS NULL OR agent = ?) AND (? IS NULL OR aside = ?)"
            " ORDER BY number",
            (agent, agent, aside, aside),
        )
        return [_mail(row) for row in rows]

    def waits(self, agent: str, prefix: str) -> bool:
        """Whether an event whose id begins so waits for an agent."""
        return bool(
            self._db.number(
                "SELECT count(*) FROM mail WHERE agent = ? AND aside = 0 AND id >= ? AND id < ?",
                (agent, prefix, f"{prefix}\x7f"),
            )
        )

    def counts(self) -> tuple[int, int]:
        """Events that wait, and that were put aside."""
        aside = self._db.number("SELECT count(*) FROM mail WHERE aside")
        return self._db.number("SELECT count(*) FROM mail") - aside, aside

    def take(self, number: int) -> None:
        """Its turn is done."""
        self._db.write("DELETE FROM mail WHERE number = ?", (number,))

    def note(self, number: int, why: str, *, tried: bool = True, aside: bool = False) -> None:
        """Why it was not handled; `tried`: in vain, `aside`: nor is it tried again."""
        self._db.write(
            "UPDATE mail SET tries = tries + ?, why = ?, aside = ? WHERE number = ?",
            (tried, why, aside, number),
        )

    def retry(self, numbers: Iterable[int]) -> None:
        """What was put aside is tried again. Raises NotFound."""
        with self._db.transaction():
            for number in numbers:
                if self.get(number) is None:
                    raise NotFound(f"no event {number} waits")
                self._db.write(
                    "UPDATE mail SET tries = 0, why = '', aside = 0 WHERE number = ?", (number,)
                )


def _mail(row: Row) -> Mail:
    return Mail(
        number=row["number"],
        agent=row["agent"],
        id=row["id"],
        event=event_from_json(json.loads(row["event"])),
        at=parse_rfc3339(row["at"]),
        tries=row["tries"],
        aside=bool(row["aside"]),
        why=row["why"],
    )
