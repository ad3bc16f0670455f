"""Lines: which of all messages an agent has lived through, now and before a rewind.

A line is a list of seq ranges. seq is the only order of time, so that what was true "just before
m45" is what was written while the newest seq was below 45: versions, epochs, pins and pages all
say at which seq they came. move() makes another line the current one: a notice in the journal,
which no model is shown, takes a seq for it, so that no change before the move shares a seq with
one after it. Lines that share a message share all that came before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.state.database import Database, Row

Range = tuple[int, int]  # both ends included
_ENDLESS = (1 << 63) - 1
# The newest seq ever given out.
NOW = "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0)"
CURRENT = "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'line')"


def on_line(seq: str, line: str = CURRENT) -> str:
    """SQL that is true of a seq on a line, the current one by default; `seq` is a parameter or a
    column, with its table where it is called like one of line_ranges. Where no line was ever opened
    everything is live."""
    return (
        "coalesce((SELECT coalesce(r.last_seq, 9223372036854775807) FROM line_ranges r"
        f" WHERE r.line = {line} AND r.first_seq <= {seq} ORDER BY r.first_seq DESC LIMIT 1),"
        f" CASE WHEN EXISTS (SELECT 1 FROM line_ranges) THEN 0 ELSE 9223372036854775807 END)"
        f" >= {seq}"
    )


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `left` is the move that ended it, None for the current one; `made` what made it
    (None for the first)."""

    number: int
    name: str
    parent: int | None
    created_at: datetime
    made: "Move | None" = None
    left: "Move | None" = None


@dataclass(frozen=True, slots=True)
class Move:
    """From one line to another. `seq` is that of the notice; `before` is the first message that
    was taken back, None where a line was brought back; `conversation` is the one that was left."""

    seq: int
    at: datetime
    kind: str
    before: int | None
    from_line: int
    to_line: int
    conversation: int


class Lines:
    """The lines of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def open_first(self) -> None:
        """Called once, when the agent is made."""
        with self._db.transaction():
            self._db.write(
                "INSERT INTO lines (line, name, parent, created_at) VALUES (1, 'main', NULL, ?)",
                (rfc3339(self._clock.now()),),
            )
            self._db.write(
                "INSERT INTO line_ranges (line, first_seq, last_seq) VALUES (1, 1, NULL)"
            )
            self._db.set_meta("line", "1")

    # --- reading --------------------------------------------------------------------------------

    @property
    def current(self) -> int:
        return int(self._db.meta("line", "1"))

    @property
    def single(self) -> bool:
        """Whether nothing was ever rewound, so that everything is live."""
        return self._db.number("SELECT max(seq) FROM line_moves") == 0

    def ranges(self, line: int | None = None) -> list[Range]:
        """Those of a line, the current one by default; an open one ends beyond every seq."""
        rows = self._db.rows(
            "SELECT first_seq, last_seq FROM line_ranges WHERE line = ? ORDER BY first_seq",
            (self.current if line is None else line,),
        )
        if not rows and line is None:
            return [(1, _ENDLESS)]
        return [(row["first_seq"], row["last_seq"] or _ENDLESS) for row in rows]

    def contains(self, seq: int) -> bool:
        """Whether a seq is live."""
        return bool(self._db.number(f"SELECT {on_line('?1')}", (seq,)))

    def line_of(self, seq: int) -> int:
        """A line that a seq is on, the current one if it is; 0 for none."""
        return self._db.number(
            "SELECT line FROM line_ranges WHERE first_seq <= ?1 AND"
            f" (last_seq IS NULL OR last_seq >= ?1) ORDER BY line = {CURRENT} DESC LIMIT 1",
            (seq,),
        )

    def lived(self, first: int, last: int) -> list[Range]:
        """first … last without what is not on the line of `last`."""
        if self.single:
            return [(first, last)]
        found = self.ranges(self.line_of(last)) or [(first, last)]
        cut = [(max(first, low), min(last, high)) for low, high in found]
        return [(low, high) for low, high in cut if low <= high]

    def before(self, seq: int) -> int:
        """The newest live seq below one; 0 for none."""
        return next((high for _, high in self.down(seq)), 0)

    def down(self, seq: int, line: int | None = None) -> list[Range]:
        """What a line has below a seq, the newest range first: a query for each does not look
        through what lies between, however much was rewound."""
        return [(low, min(high, seq - 1)) for low, high in self.ranges(line) if low < seq][::-1]

    def onward(self, seq: int) -> int:
        """The first live seq from one on, whether or not it is given out yet."""
        return next(max(low, seq) for low, high in self.ranges() if high >= seq)

    def all(self) -> list[Line]:
        """Every line, the oldest first."""
        made: dict[int, Move] = {}
        left: dict[int, Move] = {}
        for move in self.moves():
            made.setdefault(move.to_line, move)
            left[move.from_line] = move
        current = self.current
        return [
            Line(
                row["line"],
                row["name"],
                row["parent"],
                parse_rfc3339(row["created_at"]),
                made.get(row["line"]),
                left.get(row["line"]) if row["line"] != current else None,
            )
            for row in self._db.rows("SELECT * FROM lines ORDER BY line")
        ]

    def moves(self) -> list[Move]:
        """Every move, the oldest first."""
        return [_move_of(row) for row in self._db.rows("SELECT * FROM line_moves ORDER BY seq")]

    def left(self, line: int) -> Move | None:
        """The move by which a line was last left; None if it never was."""
        row = self._db.one(
            "SELECT * FROM line_moves WHERE from_line = ? ORDER BY seq DESC LIMIT 1", (line,)
        )
        return _move_of(row) if row else None

    # --- moving ---------------------------------------------------------------------------------

    def cut(self, before: int, *, at: int, kind: str, name: str) -> int:
        """Inside a transaction: go on from a new line, which is the current one as far as
        `before`. `at` is the seq of the notice; the new line's number."""
        kept = [(low, min(high, before - 1)) for low, high in self.ranges() if low < before]
        parent = self.current
        number = self._db.write(
            "INSERT INTO lines (name, parent, created_at) VALUES (?,?,?)",
            (name, parent, rfc3339(self._clock.now())),
        )
        self._db.write_many(
            "INSERT INTO line_ranges VALUES (?,?,?)", [(number, low, high) for low, high in kept]
        )
        self._go_on(number, at, kind, before)
        return number

    def return_to(self, line: int, *, at: int, kind: str) -> None:
        """Inside a transaction: go on from where a line was left."""
        self._go_on(line, at, kind, None)

    def _go_on(self, line: int, at: int, kind: str, before: int | None) -> None:
        parent = self.current
        self._db.write(
            "UPDATE line_ranges SET last_seq = ? WHERE line = ? AND last_seq IS NULL",
            (at - 1, parent),
        )
        self._db.write("INSERT INTO line_ranges VALUES (?,?,NULL)", (line, at))
        self._db.write(
            "INSERT INTO line_moves VALUES (?,?,?,?,?,?,?)",
            (
                at,
                rfc3339(self._clock.now()),
                kind,
                before,
                parent,
                line,
                int(self._db.meta("conversation", "0")),
            ),
        )
        self._db.set_meta("line", str(line))


def without(these: Sequence[Range], those: Sequence[Range]) -> list[Range]:
    """The seqs of `these` that are in none of `those`; both in order."""
    left: list[Range] = []
    for low, high in these:
        for other_low, other_high in those:
            if other_high < low or other_low > high:
                continue
            if low < other_low:
                left.append((low, other_low - 1))
            low = other_high + 1
            if low > high:
                break
        if low <= high:
            left.append((low, high))
    return left


def _move_of(row: Row) -> Move:
    return Move(
        row["seq"],
        parse_rfc3339(row["at"]),
        row["kind"],
        row["before"],
        row["from_line"],
        row["to_line"],
        row["conversation"],
    )
