"""Planned changes of memory on disk: each is a row before it is made, so that a crash between the
plan and the act loses neither, and a person can look at it first.

    candidate   found, not yet compared with what is known
    planned     decided, not yet made          pending   waits for a person
    applied, noop, rejected, stale             done: made; nothing to do; refused; overtaken
    dead        could not be decided or made, after several attempts; kept with the error

What is not done was planned on a line: while that is left it is not seen, nor made. reopen() opens
again, on a line, what was settled after the point that it goes on from.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.message import Origin
from pagemind.runtime.state.audit import Audit
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.lines import NOW, on_line
from pagemind.runtime.state.screen import Screen

Op = Literal["", "add", "update", "supersede", "delete", "noop", "block", "prompt", "skill"]
ChangeState = Literal[
    "candidate", "planned", "pending", "applied", "noop", "rejected", "stale", "dead"
]
OPEN: Final[tuple[ChangeState, ...]] = ("candidate", "planned", "pending")
STATES: Final[tuple[ChangeState, ...]] = get_args(ChangeState)
OPS: Final[tuple[Op, ...]] = get_args(Op)
_AT_ONCE = 64  # rows
_SETTLED = "('applied', 'noop', 'rejected', 'stale')"
_SEEN = (
    f"(state IN {_SETTLED} OR ({on_line('changes.seq')}"
    f" AND (state <> 'dead' OR {on_line('changes.decided_seq')})))"
)


@dataclass(frozen=True, slots=True)
class Change:
    """`body` is what the record, block or prompt would be; `base` the version of `target` that it
    was planned on; `result` what it became (a12, human@5)."""

    number: int
    job: str
    op: Op
    target: str
    base: int | None
    body: Mapping[str, Any]
    why: str
    sources: tuple[str, ...]
    origin: Origin
    trust: int
    state: ChangeState
    attempts: int
    error: str
    result: str
    seq: int
    at: datetime
    decided_at: datetime | None
    decided_by: str

    @property
    def short_id(self) -> str:
        return f"c{self.number}"


class Changes:
    """Of one agent."""

    def __init__(self, database: Database, clock: Clock, screen: Screen | None = None) -> None:
        self._db = database
        self._screen = screen or Screen()
        self._clock = clock
        self._audit = Audit(database, clock)

    def add(
        self,
        job: str,
        op: Op,
        body: Mapping[str, Any],
        *,
        state: ChangeState,
        seq: int,
        target: str = "",
        base: int | None = None,
        why: str = "",
        sources: Sequence[str] = (),
        origin: Origin = "model",
        trust: int,
    ) -> Change:
        """Secrets are kept out of what is planned, too."""
        body = self._screen.look("worker").json(dict(body), "change")
        number = self._db.write(
            "INSERT INTO changes (job, op, target, base, body, why, sources, origin, trust, state,"
            " born, seq, at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                job,
                op,
                target,
                base,
                json.dumps(dict(body), ensure_ascii=False),
                why,
                json.dumps(list(sources)),
                origin,
                trust,
                state,
                state,
                seq,
                rfc3339(self._clock.now()),
            ),
        )
        found = self.get(number)
        assert found is not None
        return found

    def plan(
        self,
        number: int,
        op: Op,
        *,
        state: ChangeState = "planned",
        target: str = "",
        base: int | None = None,
        body: Mapping[str, Any] | None = None,
        why: str | None = None,
    ) -> None:
        """What is to be done is decided; a body or reason of None stays."""
        if body is not None:
            body = self._screen.look("worker").json(dict(body), "change")
        self._db.write(
            "UPDATE changes SET op = ?, state = ?, target = ?, base = ?,"
            " body = coalesce(?, body), why = coalesce(?, why), error = '' WHERE number = ?",
            (
                op,
                state,
                target,
                base,
                None if body is None else json.dumps(dict(body), ensure_ascii=False),
                why,
                number,
            ),
        )

    def settle(
        self, number: int, state: ChangeState, *, by: str, result: str = "", error: str = ""
    ) -> None:
        """It is done, one way or another. What was made or refused stands in the audit log."""
        with self._db.transaction():
            before = self.get(number)
            self._db.write(
                "UPDATE changes SET state = ?, result = ?, error = ?, decided_at = ?,"
                f" decided_by = ?, decided_seq = {NOW} WHERE number = ?",
                (state, result, error, rfc3339(self._clock.now()), by, number),
            )
            if before is not None and state in ("applied", "rejected"):
                undone = before.state == "applied" and state == "rejected"
                self._audit.add(
                    f"change {'undone' if undone else state}",
                    before.short_id,
                    by=by,
                    trust=before.trust,
                    what=before.op,
                    of=before.target,
                    became=result,
                )

    def failed(self, number: int, error: str, *, most: int) -> ChangeState:
        """One attempt more has failed; after `most` of them it is dead. What it is now."""
        with self._db.transaction():
            self._db.write(
                "UPDATE changes SET attempts = attempts + 1, error = ?,"
                " state = CASE WHEN attempts + 1 >= ? THEN 'dead' ELSE state END,"
                f" decided_seq = {NOW} WHERE number = ?",
                (error, most, number),
            )
            found = self.get(number)
        assert found is not None
        return found.state

    def retry(self, number: int) -> None:
        """A dead one is tried anew, from where it was decided or found."""
        self._db.write(
            "UPDATE changes SET attempts = 0, error = '', state ="
            " CASE WHEN op = '' THEN 'candidate' ELSE 'planned' END"
            " WHERE number = ? AND state = 'dead'",
            (number,),
        )

    def reopen(self, before: int, at: int) -> int:
        """Go on, from the notice of a move, with what was not settled before a message and is now,
        in a row of its own; how many. What changed a definition stays: no move takes that back."""
        kept = "target, base, body, why, sources, origin, trust, born"
        self._db.write(
            f"INSERT INTO changes (job, {kept}, op, state, seq, at) SELECT job, {kept},"
            " CASE born WHEN 'candidate' THEN '' ELSE op END, born, ?, at"
            " FROM changes WHERE decided_seq >= ? AND seq < ? AND op <> 'prompt'"
            f" AND (state IN {_SETTLED} OR state = 'dead') AND {on_line('changes.seq')}"
            " ORDER BY number",
            (at, before, before),
        )
        return self._db.number("SELECT changes()")

    def open(self, number: int) -> Change | None:
        """One that is still to be done, and can be seen."""
        found = self.seen(number)
        return found if found is not None and found.state in OPEN else None

    def seen(self, number: int) -> Change | None:
        """One that is not of a line that was left."""
        row = self._db.one(f"SELECT * FROM changes WHERE number = ? AND {_SEEN}", (number,))
        return _change(row) if row else None

    def get(self, number: int) -> Change | None:
        row = self._db.one("SELECT * FROM changes WHERE number = ?", (number,))
        return _change(row) if row else None

    def in_state(
        self,
        *states: ChangeState,
        job: str | None = None,
        target: str | None = None,
        has: str = "",
        after: int = 0,
        limit: int = 1 << 62,
    ) -> list[Change]:
        """Those that can be seen, the oldest first; `has`: with that in their bodies."""
        marks = ", ".join("?" * len(states))
        rows = self._db.rows(
            f"SELECT * FROM changes WHERE state IN ({marks}) AND number > ?"
            " AND (? IS NULL OR job = ?) AND (? IS NULL OR target = ?)"
            " AND (? = '' OR json_type(body, '$.' || ?) IS NOT NULL)"
            f" AND {_SEEN} ORDER BY number LIMIT ?",
            (*states, after, job, job, target, target, has, has, limit),
        )
        return [_change(row) for row in rows]

    def candidates(self, *, has: str, job: str | None = None) -> Iterator[Change]:
        """What is found and not decided yet, read as far as it is asked for."""
        after = 0
        while some := self.in_state("candidate", job=job, has=has, after=after, limit=_AT_ONCE):
            yield from some
            after = some[-1].number

    def of(self, target: str) -> list[Change]:
        """Those that were meant for a record or block, or made it, the oldest first."""
        rows = self._db.rows(
            "SELECT * FROM changes WHERE target = ? OR result = ? ORDER BY number",
            (target, target),
        )
        return [_change(row) for row in rows]

    def counts(self) -> dict[ChangeState, int]:
        """How many can be seen in each state that has any."""
        rows = self._db.rows(
            f"SELECT state, count(*) AS n FROM changes WHERE {_SEEN} GROUP BY state"
        )
        return {row["state"]: row["n"] for row in rows}


def _change(row: Row) -> Change:
    return Change(
        number=row["number"],
        job=row["job"],
        op=row["op"],
        target=row["target"],
        base=row["base"],
        body=json.loads(row["body"]),
        why=row["why"],
        sources=tuple(json.loads(row["sources"])),
        origin=row["origin"],
        trust=row["trust"],
        state=row["state"],
        attempts=row["attempts"],
        error=row["error"],
        result=row["result"],
        seq=row["seq"],
        at=parse_rfc3339(row["at"]),
        decided_at=parse_rfc3339(row["decided_at"]) if row["decided_at"] else None,
        decided_by=row["decided_by"],
    )
