"""Turns on disk: one row for each event handled, and the answer to a client that asks again."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.lines import on_line


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as stored. `stop_reason` None: still open, or the process died in it."""

    turn: int
    client_id: str | None
    client_digest: str | None
    conversation: int
    speaker: str
    first_seq: int
    started_at: datetime
    ended_at: datetime | None
    stop_reason: str | None
    reasons: tuple[str, ...]
    reply_seqs: tuple[int, ...]
    result: dict[str, Any]


def text_digest(text: str) -> str:
    """What must be equal for a client id to be the same message."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def hidden_id(client_id: str) -> str:
    """What stands for a client's id that says too much, once its turn is erased."""
    return f"erased:{text_digest(client_id)}"


class Turns:
    """Turns of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def open(
        self,
        event: str,
        *,
        client_id: str | None,
        client_digest: str | None,
        conversation: int,
        speaker: str,
        first_seq: int,
    ) -> int:
        """A new turn; its number."""
        return self._db.write(
            "INSERT INTO turns (event, client_id, client_digest, conversation, speaker, first_seq,"
            " started_at) VALUES (?,?,?,?,?,?,?)",
            (
                event,
                client_id,
                client_digest,
                conversation,
                speaker,
                first_seq,
                rfc3339(self._clock.now()),
            ),
        )

    def reopen(self, turn: int) -> None:
        """A turn that did not end in an answer is taken up again."""
        self._db.write(
            "UPDATE turns SET ended_at = NULL, stop_reason = NULL WHERE turn = ?", (turn,)
        )

    def close(
        self,
        turn: int,
        stop_reason: str,
        *,
        reasons: tuple[str, ...] = (),
        reply_seqs: tuple[int, ...] = (),
        result: dict[str, Any] | None = None,
    ) -> None:
        self._db.write(
            "UPDATE turns SET ended_at = ?, stop_reason = ?, reasons = ?, reply_seqs = ?,"
            " result = ? WHERE turn = ?",
            (
                rfc3339(self._clock.now()),
                stop_reason,
                json.dumps(reasons),
                json.dumps(reply_seqs),
                json.dumps(result or {}, ensure_ascii=False),
                turn,
            ),
        )

    def add_to_result(self, turn: int, key: str, value: Any) -> None:
        """One more key of a turn's result; it goes when the turn is taken up again."""
        self._db.write(
            "UPDATE turns SET result = json_set(result, '$.' || ?, json(?)) WHERE turn = ?",
            (key, json.dumps(value, ensure_ascii=False), turn),
        )

    def next_number(self) -> int:
        return self._db.number("SELECT max(turn) FROM turns") + 1

    def get(self, turn: int) -> TurnRow | None:
        row = self._db.one("SELECT * FROM turns WHERE turn = ?", (turn,))
        return _turn_of(row) if row else None

    def by_client_id(self, client_id: str) -> TurnRow | None:
        row = self._db.one(
            "SELECT * FROM turns WHERE client_id IN (?, ?)", (client_id, hidden_id(client_id))
        )
        return _turn_of(row) if row else None

    def newest(
        self, limit: int, *, before: int | None = None, every_line: bool = False
    ) -> list[TurnRow]:
        """Of the current line, or of all, newest first; those before a turn."""
        rows = self._db.rows(
            f"SELECT * FROM turns WHERE turn < ? AND (? OR {on_line('turns.first_seq')})"
            " ORDER BY turn DESC LIMIT ?",
            (before if before is not None else 1 << 62, every_line, limit),
        )
        return [_turn_of(row) for row in rows]

    def judged(self, since: int) -> list[TurnRow]:
        """Turns of the current line, this one or later, that a person has judged; the oldest
        first."""
        rows = self._db.rows(
            "SELECT * FROM turns WHERE turn >= ? AND json_extract(result, '$.feedback.verdict')"
            f" IS NOT NULL AND {on_line('turns.first_seq')} ORDER BY turn",
            (since,),
        )
        return [_turn_of(row) for row in rows]

    def begun_in(self, first: int, last: int) -> list[TurnRow]:
        """Turns whose first message is one of these, the oldest first."""
        rows = self._db.rows(
            "SELECT * FROM turns WHERE first_seq BETWEEN ? AND ? ORDER BY turn", (first, last)
        )
        return [_turn_of(row) for row in rows]

    def finished_after(self, turn: int, limit: int) -> list[TurnRow]:
        """Turns of the current line after this one, the oldest first, as far as they have ended."""
        rows = self._db.rows(
            f"SELECT * FROM turns WHERE turn > ? AND {on_line('turns.first_seq')} AND turn <"
            " coalesce((SELECT min(turn) FROM turns WHERE turn > ? AND ended_at IS NULL), 1 << 62)"
            " ORDER BY turn LIMIT ?",
            (turn, turn, limit),
        )
        return [_turn_of(row) for row in rows]

    def count(self, *, every_line: bool = False) -> int:
        """Those of the current line, or of all."""
        if every_line:
            return self._db.number("SELECT count(*) FROM turns")
        return self._db.number(f"SELECT count(*) FROM turns WHERE {on_line('turns.first_seq')}")

    def unfinished(self) -> list[TurnRow]:
        """Turns that no process has closed."""
        return [
            _turn_of(row) for row in self._db.rows("SELECT * FROM turns WHERE ended_at IS NULL")
        ]


def _turn_of(row: Row) -> TurnRow:
    return TurnRow(
        turn=row["turn"],
        client_id=row["client_id"],
        client_digest=row["client_digest"],
        conversation=row["conversation"],
        speaker=row["speaker"],
        first_seq=row["first_seq"],
        started_at=parse_rfc3339(row["started_at"]),
        ended_at=parse_rfc3339(row["ended_at"]) if row["ended_at"] else None,
        stop_reason=row["stop_reason"],
        reasons=tuple(json.loads(row["reasons"])),
        reply_seqs=tuple(json.loads(row["reply_seqs"])),
        result=json.loads(row["result"]),
    )
