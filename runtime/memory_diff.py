"""MemoryDiff: what changed in an agent's memory between two moments of its past.

Blocks, passages and the summary keep every version, pages and pins when they came; what was true
at a moment is what was written before the next message (state/lines.py). A moment that was rewound
since is compared like any other.
"""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import UserError
from pagemind.runtime.moment import Moment
from pagemind.runtime.page import Page
from pagemind.runtime.state.halving import first_from
from pagemind.runtime.state.history import Epoch
from pagemind.runtime.state.lines import on_line
from pagemind.runtime.state.state import State

_EVER = "9999"  # after every time that is written


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text that was another one; "" is none. `versions` are its numbers, 0 for none."""

    id: str  # a label, a7, or summary
    before: str
    after: str
    versions: tuple[int, int]

    def unified(self) -> list[str]:
        """The lines that went and came, with those around them."""
        old, new = (f"{self.id}, version {number}" if number else "" for number in self.versions)
        lines = self.before.splitlines(), self.after.splitlines()
        return list(difflib.unified_diff(*lines, fromfile=old, tofile=new, n=2, lineterm=""))

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "before": self.before,
            "after": self.after,
            "version_before": self.versions[0],
            "version_after": self.versions[1],
            "diff": self.unified(),
        }


@dataclass(frozen=True, slots=True)
class PassageSeen:
    """A passage as it was at one of the two moments."""

    id: str
    text: str
    tags: tuple[str, ...]
    version: int

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "text": self.text, "tags": list(self.tags)}


@dataclass(frozen=True, slots=True)
class MemoryDiff:
    """From moment `a` to moment `b`. `edited` has texts and tags; `pages` were written in between,
    `hidden` is how many of the earlier ones a rewind hid."""

    a: Moment
    b: Moment
    messages: int
    turns: int
    blocks: tuple[TextChange, ...]
    summary: TextChange | None
    added: tuple[PassageSeen, ...]
    edited: tuple[tuple[PassageSeen, PassageSeen], ...]
    retired: tuple[PassageSeen, ...]
    pages: tuple[Page, ...]
    hidden: int
    pinned: tuple[str, ...]
    unpinned: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether anything in memory changed."""
        some = (self.blocks, self.summary, self.added, self.edited, self.retired, self.pages)
        return any((*some, self.hidden, self.pinned, self.unpinned))

    def as_json(self) -> dict[str, Any]:
        """The answer of `agents diff --json`, without agent and schema number."""
        return {
            "a": {"moment": self.a.written, "seq": self.a.seq},
            "b": {"moment": self.b.written, "seq": self.b.seq},
            "messages": self.messages,
            "turns": self.turns,
            "blocks": [each.as_json() for each in self.blocks],
            "summary": self.summary.as_json() if self.summary else None,
            "passages": {
                "added": [each.as_json() for each in self.added],
                "edited": [
                    {"id": old.id, "before": old.as_json(), "after": new.as_json()}
                    for old, new in self.edited
                ],
                "retired": [each.as_json() for each in self.retired],
            },
            "pages": [
                {
                    "id": page.short_id,
                    "first_seq": page.first_seq,
                    "last_seq": page.last_seq,
                    "tokens": page.tokens,
                    "gist": page.gist,
                }
                for page in self.pages
            ],
            "pages_hidden": self.hidden,
            "pins": {"added": list(self.pinned), "removed": list(self.unpinned)},
        }


def memory_diff(state: State, a: Moment, b: Moment) -> MemoryDiff:
    """What changed from `a` to `b`. Raises UserError if `b` is the earlier one."""
    if (b.seq, _until(b)) < (a.seq, _until(a)):
        raise UserError(f"{b.written} is before {a.written}", hint="give the earlier moment first")
    with state.database.reading():
        return _Comparison(state, a, b).made()


def _until(moment: Moment) -> str:
    return rfc3339(moment.until) if moment.until is not None else _EVER


class _Comparison:
    """Reads what two moments are made of."""

    def __init__(self, state: State, a: Moment, b: Moment) -> None:
        self._state = state
        self._db = state.database
        self._a = a
        self._b = b

    def made(self) -> MemoryDiff:
        a, b = self._a, self._b
        before, after = self._epoch(a), self._epoch(b)
        pins = self._pins(a), self._pins(b)
        passages = list(self._passages())
        shown = [(old, new) for old, new in passages if old and new]
        return MemoryDiff(
            a=a,
            b=b,
            messages=b.seq - a.seq,
            turns=self._turns(),
            blocks=tuple(self._blocks()),
            summary=self._summary(before, after),
            added=tuple(new for old, new in passages if new and not old),
            edited=tuple(shown),
            retired=tuple(old for old, new in passages if old and not new),
            pages=tuple(self._pages(a, b)),
            hidden=self._hidden(),
            pinned=tuple(target for target in pins[1] if target not in pins[0]),
            unpinned=tuple(target for target in pins[0] if target not in pins[1]),
        )

    def _turns(self) -> int:
        return self._db.number(
            "SELECT count(*) FROM turns WHERE turn > ? AND turn <= ?",
            (self._last_turn(self._a), self._last_turn(self._b)),
        )

    def _last_turn(self, moment: Moment) -> int:
        return first_from(self._db, "turns", "turn", "first_seq", moment.before) - 1

    # --- blocks ---------------------------------------------------------------------------------

    def _blocks(self) -> Iterator[TextChange]:
        for row in self._db.rows("SELECT label FROM blocks ORDER BY position"):
            label = row["label"]
            versions = self._version(label, self._a), self._version(label, self._b)
            old, new = (self._value(label, number) for number in versions)
            if old != new:
                yield TextChange(label, old, new, versions)

    def _version(self, label: str, moment: Moment) -> int:
        """Looked for from the newest on: most often it is one of the last."""
        return self._db.number(
            "SELECT version FROM block_versions WHERE label = ? AND seq < ? AND at < ?"
            " ORDER BY version DESC LIMIT 1",
            (label, moment.before, _until(moment)),
        )

    def _value(self, label: str, version: int) -> str:
        found = self._state.blocks.version(label, version)
        return found.value if found is not None else ""

    # --- passages -------------------------------------------------------------------------------

    def _passages(self) -> Iterator[tuple[PassageSeen | None, PassageSeen | None]]:
        """Every passage that differs, as it was before and after; None where there was none."""
        rows = self._db.rows(
            "SELECT DISTINCT number FROM passage_versions WHERE seq BETWEEN ? AND ?"
            " ORDER BY number",
            (self._a.seq, self._b.seq),  # what came at the seq of `a` may be after its time
        )
        for row in rows:
            old, new = (self._passage(row["number"], each) for each in (self._a, self._b))
            if (old and (old.text, old.tags)) != (new and (new.text, new.tags)):
                yield old, new

    def _passage(self, number: int, moment: Moment) -> PassageSeen | None:
        row = self._db.one(
            "SELECT * FROM passage_versions WHERE number = ? AND seq < ? AND at < ?"
            " ORDER BY version DESC LIMIT 1",
            (number, moment.before, _until(moment)),
        )
        if row is None or row["status"] == "retired":
            return None
        tags = tuple(json.loads(row["tags"]))
        return PassageSeen(f"a{number}", row["text"], tags, row["version"])

    # --- the window -----------------------------------------------------------------------------

    def _epoch(self, moment: Moment) -> Epoch | None:
        number = self._db.number(
            "SELECT epoch FROM epochs WHERE seq < ? AND at < ? ORDER BY epoch DESC LIMIT 1",
            (moment.before, _until(moment)),
        )
        return self._state.history.epoch(number) if number else None

    def _summary(self, before: Epoch | None, after: Epoch | None) -> TextChange | None:
        numbers = tuple((each.summary or 0) if each else 0 for each in (before, after))
        old, new = (self._state.pages.summary(number or None) for number in numbers)
        texts = (old.text if old else "", new.text if new else "")
        if texts[0] == texts[1]:
            return None
        return TextChange("summary", *texts, (numbers[0], numbers[1]))

    def _pages(self, a: Moment, b: Moment) -> Sequence[Page]:
        """Pages that were written after `a`, and that `b` still had."""
        rows = self._db.rows(
            "SELECT p.number FROM epochs e JOIN pages p ON p.epoch = e.epoch AND p.kind = 'page'"
            " WHERE e.epoch > ? AND e.epoch <= ? AND p.kind = 'page'"
            f" AND {on_line('e.seq', '?3')} ORDER BY p.number",
            (self._number(a), self._number(b), self._line(b)),
        )
        found = (self._state.pages.ever(row["number"]) for row in rows)
        return [page for page in found if page is not None]

    def _number(self, moment: Moment) -> int:
        epoch = self._epoch(moment)
        return epoch.epoch if epoch is not None else 0

    def _line(self, moment: Moment) -> int:
        lines = self._state.journal.lines
        return lines.current if moment.now else lines.line_of(moment.seq)

    def _hidden(self) -> int:
        """How many pages `a` had that `b` has not: they are of another line."""
        if self._state.journal.lines.single:
            return 0
        return self._db.number(
            "SELECT count(*) FROM pages p JOIN epochs e USING (epoch) WHERE p.kind = 'page'"
            f" AND e.epoch <= ?1 AND {on_line('e.seq', '?2')} AND NOT ({on_line('e.seq', '?3')})",
            (self._number(self._a), self._line(self._a), self._line(self._b)),
        )

    def _pins(self, moment: Moment) -> list[str]:
        """In the order in which they were pinned. A pin keeps the newest change at a seq alone, so
        that one made and let go within a moment is not seen."""
        rows = self._db.rows(
            "SELECT target, pinned_at, pinned_seq, max(seq) FROM pin_versions WHERE seq < ?"
            " GROUP BY target ORDER BY pinned_seq, pinned_at, target",
            (moment.before,),
        )
        until = _until(moment)
        return [r["target"] for r in rows if r["pinned_at"] is not None and r["pinned_at"] < until]
