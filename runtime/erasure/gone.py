"""Gone: which messages and records an erasure takes, and what of anything else they touch.

Asked of ids as lineage has them: gone is what goes as a whole; touched is what stands on something
that is gone and is told anew out of what is left (a page, a summary, a turn).
"""

from bisect import bisect_left
from collections.abc import Iterable

from pagemind.runtime.erasure import told
from pagemind.runtime.lineage_walk import parsed
from pagemind.runtime.state.state import State


class Gone:
    """Grows while the closure is made."""

    def __init__(self, state: State, messages: Iterable[int], passages: Iterable[int]) -> None:
        self._state = state
        self.messages = set(messages)
        self.passages = set(passages)
        self._sorted: list[int] = []

    def takes(self, id: str) -> bool:
        """Whether what an id names goes, or a part of it."""
        kind, number = parsed(id)
        if kind == "m":
            return number in self.messages
        if kind == "a":
            return number in self.passages
        return bool(kind) and self._touched(kind, number)

    def left_of(self, id: str) -> str:
        """What an id still says afterwards; "" for nothing that can be told."""
        kind, number = parsed(id)
        state = self._state
        if kind == "m" and number not in self.messages:
            found = state.journal.get([number]).get(number)
            return told.of_message(found) if found is not None and not found.erased else ""
        if kind == "a" and number not in self.passages:
            record = state.passages.get([number]).get(number)
            return told.of_record(record) if record is not None else ""
        if kind == "p" and (page := state.pages.ever(number)) is not None:
            stored = [m for m, _, _ in state.journal.span(page.first_seq, page.last_seq)]
        elif kind == "t":
            stored = state.journal.of_turn(number)
        else:
            return ""
        kept = (m for m in stored if m.seq not in self.messages and not m.erased)
        return "\n".join(told.of_message(m) for m in kept if m.kind in ("talk", "observation"))

    def any_in(self, first: int, last: int) -> bool:
        """Whether a message of these goes."""
        if len(self._sorted) != len(self.messages):
            self._sorted = sorted(self.messages)
        at = bisect_left(self._sorted, first)
        return at < len(self._sorted) and self._sorted[at] <= last

    def _touched(self, kind: str, number: int) -> bool:
        database = self._state.database
        if kind in ("p", "d"):
            named = "page" if kind == "p" else "directory"
            row = database.one(
                "SELECT first_seq, last_seq FROM pages WHERE kind = ? AND number = ?",
                (named, number),
            )
            return row is not None and self.any_in(row["first_seq"], row["last_seq"])
        if kind == "s":
            covers = "SELECT covers_last FROM summaries WHERE summary = ?"
            return self.any_in(1, database.number(covers, (number,)))
        if kind == "seg":
            return any(self._touched("p", page) for page in self._state.segments.pages(number))
        if kind == "t":
            rows = database.rows("SELECT seq FROM messages WHERE turn = ?", (number,))
            return any(row["seq"] in self.messages for row in rows)
        return False
