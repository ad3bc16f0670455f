"""Moments: what a person writes for a point in an agent's past, and which step and messages it is.

m45, 45        when m45 had been recorded, and before anything followed
s12            when the request of step 12 was sent
8 May 2026     the end of that day (or minute, or month), in the agent's time zone
now            now
"""

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo

from pagemind.runtime.clock import parse_rfc3339, rfc3339
from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.state.halving import first_from
from pagemind.runtime.state.state import State
from pagemind.runtime.when import Span, parse_span

_SHOWN = 60  # characters of what was written, in an error
_ID = re.compile(r"([a-zA-Z]?)(\d{1,18})")
_OTHER = {"a": "a passage", "p": "a page", "d": "a directory of pages"}


@dataclass(frozen=True, slots=True)
class Moment:
    """`seq` is the newest message of then; `step` the step that is meant, where one was named; what
    was done from `until` on had not happened yet (None: whatever came before the next message)."""

    written: str
    seq: int
    step: int | None = None
    until: datetime | None = None
    now: bool = False

    @property
    def before(self) -> int:
        """What was written while the newest message was below this seq had happened."""
        return self.seq + 1


class Moments:
    """Those of one agent. Every error says which moments there are."""

    def __init__(self, name: str, state: State, zone: tzinfo) -> None:
        self._name = name
        self._state = state
        self._db = state.database
        self._zone = zone

    def find(self, written: str) -> Moment:
        """Raises NotFound for a moment that is not there, UserError for what is none."""
        text = written.strip()
        last = self._state.journal.last_seq
        if text.lower() == "now":
            return Moment("now", last, now=True)
        if last == 0:
            raise NotFound(f"nothing was said to {self._name} yet", hint="there is no past to see")
        if (match := _ID.fullmatch(text)) and match[1].lower() in "ms":
            return self._numbered(match[1].lower(), int(match[2]))
        if match and match[1].lower() in _OTHER:
            raise UserError(
                f"{text} is {_OTHER[match[1].lower()]}, and not a moment", hint=self._hint()
            )
        return self._timed(text)

    def span(self, written: str) -> Span:
        """A date or time. Raises UserError."""
        now = self._state.clock.now().astimezone(self._zone)
        try:
            return parse_span(written, now)
        except ValueError:
            last = self._state.journal.last_seq
            raise UserError(
                f"{written[:_SHOWN]!r} is neither a message (m1 to m{last}) nor a time",
                hint=self._hint(),
            ) from None

    def first_of(self, written: str) -> int:
        """Where a moment begins: the seq of the message, or of the first at that time."""
        if _ID.fullmatch(written.strip()):
            return self.find(written).seq
        return first_from(
            self._db, "messages", "seq", "recorded_at", rfc3339(self.span(written).start)
        )

    def _hint(self) -> str:
        return "write it like m45, or like 2026-05-08, 8 May 14:00, yesterday, 3 days ago"

    def _numbered(self, kind: str, number: int) -> Moment:
        last = self._state.journal.last_seq
        if kind == "s":
            row = self._db.one("SELECT last_seq FROM steps WHERE step = ?", (number,))
            if row is None:
                there = self._state.history.last_step
                known = f"there are s1 to s{there}" if there else "no model was called yet"
                raise NotFound(f"{self._name} has no step s{number}; {known}")
            return Moment(f"s{number}", row["last_seq"], step=number)
        if not 1 <= number <= last:
            raise NotFound(f"{self._name} has no message m{number}; {self._range()}")
        return Moment(f"m{number}", number)

    def _timed(self, text: str) -> Moment:
        span = self.span(text)
        if span.start > self._state.clock.now():
            raise NotFound(f"{text} is still to come; {self._range()}")
        seq = first_from(self._db, "messages", "seq", "recorded_at", rfc3339(span.end)) - 1
        if seq < 1:
            raise NotFound(f"nothing was said to {self._name} by {text}; {self._range()}")
        return Moment(text, seq, until=span.end)

    def _range(self) -> str:
        last = self._state.journal.last_seq
        return f"its messages are m1 ({self._when(1)}) to m{last} ({self._when(last)})"

    def _when(self, seq: int) -> str:
        at = self._state.database.one("SELECT recorded_at FROM messages WHERE seq = ?", (seq,))
        if at is None:
            return "erased"
        return f"{parse_rfc3339(at['recorded_at']).astimezone(self._zone):%Y-%m-%d %H:%M}"

    # --- steps --------------------------------------------------------------------------------

    def step_of(self, moment: Moment) -> int:
        """The step whose request is meant: for a message that a model caused, the request that it
        answered; for any other the first that showed it; for a time the newest one then. Raises
        NotFound where no model was called."""
        if moment.step is not None:
            return moment.step
        if moment.until is not None or moment.now:
            return self._newest(moment)
        row = self._db.one("SELECT step, kind FROM messages WHERE seq = ?", (moment.seq,))
        if row is not None and row["step"]:
            return int(row["step"])
        step = first_from(self._db, "steps", "step", "last_seq", moment.seq)
        tried = self._db.one("SELECT turn, last_seq FROM steps WHERE step = ?", (step,))
        if tried is None or not self._showed(step, moment.seq):
            raise NotFound(f"no model was called with {moment.written}; {self._called(moment.seq)}")
        # The same request again, or a smaller one, after an empty answer or a refusal of its size.
        return self._db.number(
            "SELECT max(step) FROM steps WHERE turn = ? AND last_seq = ?",
            (tried["turn"], tried["last_seq"]),
        )

    def _newest(self, moment: Moment) -> int:
        step = self._state.history.last_step
        if moment.until is not None:
            step = first_from(self._db, "steps", "step", "at", rfc3339(moment.until)) - 1
        if step < 1:
            raise NotFound(f"no model was called by {moment.written}; {self._called(moment.seq)}")
        return step

    def _showed(self, step: int, seq: int) -> bool:
        """Whether the message was in the queue of a step."""
        row = self._db.one(
            "SELECT json_extract(s.settings, '$.queue') AS queue, e.queue_start, s.last_seq,"
            " json_extract(s.settings, '$.held') AS held, e.held AS epoch_held"
            " FROM steps s JOIN epochs e USING (epoch) WHERE step = ?",
            (step,),
        )
        assert row is not None
        if row["queue"] is None:
            return bool(row["queue_start"] <= seq <= row["last_seq"] or row["epoch_held"] == seq)
        runs = re.findall(r"\[(\d+),\s*(\d+)\]", row["queue"])
        return row["held"] == seq or any(int(a) <= seq <= int(b) for a, b in runs)

    def _called(self, seq: int) -> str:
        """The requests nearest to a message, as a hint."""
        near = self._db.rows(
            "SELECT step, last_seq FROM steps WHERE step IN (?, ?)",
            (
                (step := first_from(self._db, "steps", "step", "last_seq", seq)) - 1,
                step,
            ),
        )
        if not near:
            return "none was called yet"
        listed = " and ".join(f"s{row['step']} (up to m{row['last_seq']})" for row in near)
        last = self._state.history.last_step
        return f"the requests are s1 to s{last}, and next to it {listed}"
