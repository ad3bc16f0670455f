"""Past turns: what was said, turn by turn, with the flushes and rewinds in between.

Turns that were taken back are left out, unless they are asked for; the move that took them back is
always told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import parse_rfc3339, rfc3339
from pagemind.runtime.message import SPEAK, Message
from pagemind.runtime.state.halving import first_from
from pagemind.runtime.state.lines import on_line
from pagemind.runtime.state.state import State
from pagemind.runtime.state.turns import TurnRow


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One turn. `text` is what was said to the agent, `reply` what it answered."""

    turn: int
    seq: int
    at: datetime
    conversation: int
    speaker: str
    text: str
    reply: str
    stop_reason: str | None
    steps: int
    flushes: int
    taken_back: bool

    def as_json(self) -> dict[str, Any]:
        """An item of `agents history --json` (contract)."""
        return {
            "turn": self.turn,
            "seq": self.seq,
            "at": rfc3339(self.at),
            "conversation": self.conversation,
            "speaker": self.speaker,
            "text": self.text,
            "reply": self.reply,
            "stop_reason": self.stop_reason,
            "steps": self.steps,
            "flushes": self.flushes,
            "taken_back": self.taken_back,
        }


@dataclass(frozen=True, slots=True)
class PastEvent:
    """What happened when message `seq` was the newest: a flush wrote the pages of messages
    first_seq … last_seq; a rewind, an undo or a bring back left `line`. Messages from first_seq on
    were taken back then, as far as last_seq."""

    kind: str  # flush, rewind, undo, bring back
    seq: int
    at: datetime
    first_seq: int
    last_seq: int
    pages: tuple[str, ...] = ()
    line: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "seq": self.seq,
            "at": rfc3339(self.at),
            "first_seq": self.first_seq,
            "last_seq": self.last_seq,
            "pages": list(self.pages),
            "line": self.line or None,
        }


@dataclass(frozen=True, slots=True)
class PastTurns:
    """Some turns, the oldest first, and what happened between the first of them and the turn after
    the last; `total` counts all turns, `earlier` those before."""

    turns: tuple[PastTurn, ...]
    events: tuple[PastEvent, ...]
    total: int
    earlier: int


def past_turns(
    state: State,
    *,
    last: int | None = None,
    before: int | None = None,
    every_line: bool = False,
    heartbeat: bool = False,
) -> PastTurns:
    """The newest turns (all without `last`), or those that began before message `before`."""
    database = state.database
    with database.reading():
        number = database.number("SELECT max(turn) FROM turns") + 1
        if before is not None:
            number = first_from(database, "turns", "turn", "first_seq", before)
        rows = state.turns.newest(last or number, before=number, every_line=every_line)[::-1]
        if not rows:
            return PastTurns((), (), state.turns.count(every_line=every_line), 0)
        after = database.number(
            "SELECT first_seq FROM turns WHERE turn >= ? ORDER BY turn LIMIT 1", (number,)
        )
        low, high = rows[0].first_seq, (after or state.journal.last_seq + 2) - 1
        return PastTurns(
            tuple(_turns(state, rows, heartbeat)),
            tuple(_events(state, low, high, every_line)),
            state.turns.count(every_line=every_line),
            _earlier(state, rows[0].turn, every_line),
        )


def _earlier(state: State, turn: int, every_line: bool) -> int:
    live = "1" if every_line else on_line("first_seq")
    return state.database.number(f"SELECT count(*) FROM turns WHERE turn < ? AND {live}", (turn,))


def _turns(state: State, rows: Sequence[TurnRow], heartbeat: bool) -> list[PastTurn]:
    wanted = [row.first_seq for row in rows] + [seq for row in rows for seq in row.reply_seqs]
    said = state.journal.get(wanted)
    lines = state.journal.lines
    single = lines.single
    return [
        PastTurn(
            turn=row.turn,
            seq=row.first_seq,
            at=row.started_at,
            conversation=row.conversation,
            speaker=row.speaker,
            text=said[row.first_seq].text if row.first_seq in said else "",
            reply="\n\n".join(
                said[seq].said
                for seq in row.reply_seqs
                if seq in said and not (heartbeat and _private(said[seq]))
            ),
            stop_reason=row.stop_reason,
            steps=int(row.result.get("steps", 0)),
            flushes=int(row.result.get("flushes", 0)),
            taken_back=not single and not lines.contains(row.first_seq),
        )
        for row in rows
    ]


def _private(message: Message) -> bool:
    """With protocol heartbeat text beside calls is thought, and not said."""
    calls = message.tool_calls
    return bool(calls) and not any(call.name == SPEAK for call in calls)


def _events(state: State, low: int, high: int, every_line: bool) -> list[PastEvent]:
    """Flushes and moves while the newest message was low … high, in order."""
    database = state.database
    epochs = [first_from(database, "epochs", "epoch", "seq", seq) for seq in (low, high + 1)]
    live = "1" if every_line else on_line("e.seq")
    found = [
        PastEvent(
            "flush",
            row["seq"],
            parse_rfc3339(row["at"]),
            row["first_seq"],
            row["last_seq"],
            tuple(f"p{number}" for number in range(row["first"], row["last"] + 1)),
        )
        for row in database.rows(
            "SELECT e.seq, e.at, min(p.number) AS first, max(p.number) AS last,"
            " min(p.first_seq) AS first_seq, max(p.last_seq) AS last_seq"
            " FROM epochs e JOIN pages p ON p.epoch = e.epoch AND p.kind = 'page'"
            f" WHERE e.epoch >= ? AND e.epoch < ? AND {live} GROUP BY e.epoch",
            (epochs[0], epochs[1]),
        )
    ]
    found += [
        PastEvent(
            move.kind,
            move.seq,
            move.at,
            move.before or 0,
            move.seq - 1 if move.before else 0,
            line=move.from_line,
        )
        for move in state.journal.lines.moves()
        if low <= move.seq <= high
    ]
    return sorted(found, key=lambda event: event.seq)
