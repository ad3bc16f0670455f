"""The journal: every message ever, in order of seq.

append() assigns seq and queues the row for LanceDB in the same transaction. Nothing here is ever
updated or deleted except by erasure, which leaves a message that says nothing in each place (status
retired). What was rewound (lines.py) stays, and is left out of all but get(), range() and
of_turn().
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.message import Message, parts_from_json, parts_to_json
from pagemind.runtime.settings import CONVERSATION_PAUSE_SECONDS, TIME_PAUSE_SECONDS
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.lines import Lines, on_line
from pagemind.runtime.state.provenance_columns import columns_of, provenance_of

_COLUMNS = (
    "seq, id, role, kind, content, turn, step, conversation, speaker, said_at, recorded_at, pause,"
    " tokens, origin, origin_detail, trust, status, sources"
)


_ENDLESS = 1 << 62
_LATE = 5_000  # messages that newest_result() looks at
_NEAR = 8  # messages that are read along, rather than with a query of their own


class Journal:
    """Messages of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock
        self.lines = Lines(database, clock)

    @property
    def last_seq(self) -> int:
        """The newest seq ever given out, erased ones included; 0 for none."""
        return self._db.number("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")

    def append(self, message: Message, *, tokens: int, step: int = 0) -> tuple[Message, bool]:
        """Store a message; returns it with seq, id and times, and whether it follows a pause.

        A conversation number of 0 means: the current one, or a new one after a long pause.
        """
        db = self._db
        with db.transaction():
            now = self._clock.now()
            # The notice of a rewind is no part of the talk.
            previous = self._newest_row(
                "SELECT recorded_at FROM messages WHERE seq BETWEEN ? AND ? AND"
                " seq NOT IN (SELECT seq FROM line_moves) ORDER BY seq DESC LIMIT 1"
            )
            gap = (
                (now - parse_rfc3339(previous["recorded_at"])).total_seconds() if previous else None
            )
            conversation = message.conversation
            if conversation == 0:
                conversation = int(db.meta("conversation", "0"))
                if gap is None or gap >= CONVERSATION_PAUSE_SECONDS or conversation == 0:
                    conversation = self.new_conversation()
            stored = replace(
                message,
                seq=self.last_seq + 1,
                id=message.id or self._clock.new_id(),
                conversation=conversation,
                said_at=message.said_at or now,
                recorded_at=now,
            )
            pause = gap is None or gap >= TIME_PAUSE_SECONDS
            assert stored.said_at is not None
            db.write(
                f"INSERT INTO messages ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    stored.seq,
                    stored.id,
                    stored.role,
                    stored.kind,
                    parts_to_json(stored),
                    stored.turn,
                    step,
                    stored.conversation,
                    stored.speaker,
                    rfc3339(stored.said_at),
                    rfc3339(now),
                    pause,
                    tokens,
                    *columns_of(stored.provenance),
                ),
            )
            if stored.kind in ("talk", "observation"):
                db.write(
                    "INSERT OR REPLACE INTO outbox (tier, key, op) VALUES ('recall', ?, 'put')",
                    (stored.seq,),
                )
        return stored, pause

    def set_trust(self, seq: int, trust: int) -> None:
        """Trust a message as far as a person says."""
        with self._db.transaction():
            self._db.write("UPDATE messages SET trust = ? WHERE seq = ?", (trust, seq))
            self._db.write(
                "INSERT OR REPLACE INTO outbox (tier, key, op) SELECT 'recall', seq, 'put' FROM"
                " messages WHERE seq = ? AND kind IN ('talk', 'observation')",
                (seq,),
            )

    def _newest_row(self, sql: str) -> Row | None:
        """The first row that a query finds in a range of the current line, the newest first."""
        for span in self.lines.down(_ENDLESS):
            if row := self._db.one(sql, span):
                return row
        return None

    def last_said(self, below: int) -> int:
        """The newest live message below a seq that is more than a notice between turns; 0 for
        none."""
        for span in self.lines.down(below):
            if seq := self._db.number(
                "SELECT seq FROM messages WHERE seq BETWEEN ? AND ?"
                " AND NOT (kind = 'notice' AND turn = 0) ORDER BY seq DESC LIMIT 1",
                span,
            ):
                return seq
        return 0

    def new_conversation(self) -> int:
        """Start a conversation; its number."""
        with self._db.transaction():
            # A rewind goes back to an earlier one, whose successors have their numbers.
            newest = max(self.conversation, int(self._db.meta("conversations", "0")))
            self.take_up_conversation(newest + 1)
            self._db.set_meta("conversations", str(newest + 1))
        return newest + 1

    def take_up_conversation(self, number: int) -> None:
        """Go on with a conversation, after a rewind."""
        self._db.set_meta("conversation", str(number))

    @property
    def conversation(self) -> int:
        return int(self._db.meta("conversation", "0"))

    def get(self, seqs: Sequence[int]) -> dict[int, Message]:
        """Those messages that exist, by seq."""
        found: dict[int, Message] = {}
        for row in self._db.rows_in(f"SELECT {_COLUMNS} FROM messages WHERE seq", seqs):
            found[row["seq"]] = message_of(row)
        return found

    def range(self, first: int, last: int) -> list[tuple[Message, int, bool]]:
        """Messages first … last in order, each with its tokens and whether it follows a pause: all
        of them, whatever was rewound."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM messages WHERE seq BETWEEN ? AND ? ORDER BY seq", (first, last)
        )
        return [(message_of(row), row["tokens"], bool(row["pause"])) for row in rows]

    def span(self, first: int, last: int) -> list[tuple[Message, int, bool]]:
        """The same as they were lived: only those of the line that `last` is on."""
        runs = self.lines.lived(first, last)
        return [each for low, high in runs for each in self.range(low, high)]

    def live(self, first: int) -> list[tuple[Message, int, bool]]:
        """The same from `first` on, of the current line."""
        last = self.last_seq
        if self.lines.single:
            return self.range(first, last)
        runs = [(max(first, low), min(last, high)) for low, high in self.lines.ranges()]
        return [each for low, high in runs for each in self.range(low, high)]

    def before(self, seq: int, limit: int) -> list[Message]:
        """Up to `limit` indexable messages before `seq` in its conversation and on its line, oldest
        first."""
        rows = self._newest_of(
            "kind IN ('talk', 'observation')"
            " AND conversation = (SELECT conversation FROM messages WHERE seq = ?3)",
            self.lines.down(seq, self.lines.line_of(seq) or None),
            limit,
            seq,
        )
        return [message_of(row) for row in reversed(rows)]

    def before_each(self, seqs: Sequence[int], limit: int) -> dict[int, list[Message]]:
        """`before` of many messages that lie close together, for little more than reading them."""
        if not self.lines.single:  # each on a line of its own, as it may be
            return {seq: self.before(seq, limit) for seq in self.get(seqs)}
        found: dict[int, list[Message]] = {}
        latest: dict[int, list[Message]] = {}  # by conversation, since the start of the run
        wanted, at = sorted(seqs), 0
        while at < len(wanted):
            end = at
            while end + 1 < len(wanted) and wanted[end + 1] - wanted[end] <= _NEAR:
                end += 1
            due = set(wanted[at : end + 1])
            latest.clear()
            for message, _, _ in self.range(wanted[at], wanted[end]):
                earlier = latest.setdefault(message.conversation, [])
                if message.seq in due:
                    # At the start of a run or of a conversation the rest lies before it, if at all.
                    known = len(earlier) == limit
                    found[message.seq] = earlier[:] if known else self.before(message.seq, limit)
                if message.kind in ("talk", "observation"):
                    latest[message.conversation] = [*earlier, message][-limit:]
            at = end + 1
        return found

    def of_turn(self, turn: int) -> list[Message]:
        """Every message of a turn, in order."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM messages WHERE turn = ? ORDER BY seq", (turn,)
        )
        return [message_of(row) for row in rows]

    def of_calls(self, first: int, last: int) -> list[Message]:
        """Those of first … last that call a function or are a result, in order, on any line."""
        rows = self._db.rows(
            f"SELECT {_COLUMNS} FROM messages WHERE seq BETWEEN ? AND ? AND (role = 'tool' OR"
            " role = 'assistant' AND content LIKE '%\"tool_calls\":%') ORDER BY seq",
            (first, last),
        )
        return [message_of(row) for row in rows]

    def newest_result(self, name: str, first_line: str) -> int | None:
        """The seq of a function's newest result that begins with this line, among those of late:
        an older one would cost more to look for than to make again."""
        start = json.dumps(first_line + "\n", ensure_ascii=False)[:-1]  # as the content has it
        rows = self._db.rows(
            f"SELECT seq FROM messages WHERE seq > ? AND role = 'tool' AND speaker = ?"
            f" AND instr(content, ?) > 0 AND {on_line('messages.seq')} ORDER BY seq DESC LIMIT 1",
            (self.last_seq - _LATE, name, f'"text":{start}'),
        )
        return int(rows[0]["seq"]) if rows else None

    def newest_reading(self, target: str) -> Mapping[str, Any] | None:
        """What was read last of a page, directory, message or passage, among the messages of
        late: its reference."""
        rows = self._db.rows(
            "SELECT json_extract(content, '$.reference') AS reference FROM messages"
            " WHERE seq > ? AND kind = 'reading'"
            f" AND json_extract(content, '$.reference.target') = ? AND {on_line('messages.seq')}"
            " ORDER BY seq DESC LIMIT 1",
            (self.last_seq - _LATE, target),
        )
        return json.loads(rows[0]["reference"]) if rows else None

    def newest(self, limit: int, *, before: int | None = None) -> list[Message]:
        """Messages that people and models said or observed, newest first."""
        spans = self.lines.down(_ENDLESS if before is None else before)
        rows = self._newest_of("kind IN ('talk', 'observation')", spans, limit)
        return [message_of(row) for row in rows]

    def _newest_of(
        self, condition: str, spans: Sequence[tuple[int, int]], limit: int, *more: int
    ) -> list[Row]:
        """Rows of these ranges, which come newest first, that a condition leaves."""
        rows: list[Row] = []
        for span in spans:
            if len(rows) >= limit:
                break
            rows += self._db.rows(
                f"SELECT {_COLUMNS} FROM messages WHERE seq BETWEEN ?1 AND ?2 AND {condition}"
                f" ORDER BY seq DESC LIMIT {limit - len(rows):d}",
                (*span, *more),
            )
        return rows

    def count(self) -> int:
        """Messages without the runtime's own notices and readings."""
        return self._db.number("SELECT sum(messages) FROM speakers")

    def speakers(self) -> list[str]:
        """The names of all whose messages can be found."""
        return [row["speaker"] for row in self._db.rows("SELECT speaker FROM speakers")]

    # --- lines --------------------------------------------------------------------------------

    @property
    def line(self) -> int:
        return self.lines.current

    def open_first_line(self) -> None:
        """Called once, when the agent is made."""
        self.lines.open_first()

    def live_ranges(self) -> list[tuple[int, int]] | None:
        """The seq ranges of the current line, ends included; None where all of it is live."""
        if self.lines.single:
            return None
        last = self.last_seq
        return [(low, min(high, last)) for low, high in self.lines.ranges()]

    def recount(
        self, lost: Sequence[tuple[int, int]], gained: Sequence[tuple[int, int]]
    ) -> tuple[int, int]:
        """Inside a transaction: other ranges are live now, and can be found. How many messages that
        hides and shows."""
        return self._count(lost, -1), self._count(gained, 1)

    def _count(self, ranges: Sequence[tuple[int, int]], sign: int) -> int:
        total = 0
        for low, high in ranges:
            for row in self._db.rows(
                "SELECT speaker, count(*) AS n FROM messages WHERE seq BETWEEN ? AND ?"
                " AND kind IN ('talk', 'observation') AND status <> 'retired' GROUP BY speaker",
                (low, high),
            ):
                total += row["n"]
                self._db.write(
                    "INSERT INTO speakers VALUES (?1, ?2)"
                    " ON CONFLICT (speaker) DO UPDATE SET messages = messages + ?2",
                    (row["speaker"], sign * row["n"]),
                )
        self._db.write("DELETE FROM speakers WHERE messages = 0")
        return total


def message_of(row: Row) -> Message:
    """A messages row as a value."""
    return Message(
        role=row["role"],
        kind=row["kind"],
        seq=row["seq"],
        id=row["id"],
        turn=row["turn"],
        conversation=row["conversation"],
        speaker=row["speaker"],
        said_at=parse_rfc3339(row["said_at"]),
        recorded_at=parse_rfc3339(row["recorded_at"]),
        provenance=provenance_of(row),
        **parts_from_json(row["content"]),
    )
