"""Segments on disk: pages of one topic, and how warm they are (after MemoryOS, arXiv 2506.06326).

A page is in one segment at most. Hidden segments are out of the mid-term view; their pages stay.
Heat is never stored: it falls by itself where nobody comes.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.settings import SEGMENT_BACK, SEGMENT_MEMORY_SECONDS
from pagemind.runtime.state.database import Database, Row


@dataclass(frozen=True, slots=True)
class Segment:
    """`length` is how many pages; `promoted_length` how many of them were looked at for facts."""

    number: int
    gist: str
    keywords: tuple[str, ...]
    length: int
    visits: int
    last_visit: datetime
    promoted_length: int
    hidden: bool
    trust: int

    @property
    def short_id(self) -> str:
        return f"seg{self.number}"

    def heat(self, at: datetime) -> float:
        """How warm it is at a time: visits and pages since it was last promoted, and how lately
        somebody came."""
        ago = max(0.0, (at - self.last_visit).total_seconds())
        new = self.length - self.promoted_length
        return self.visits + new + math.exp(-ago / SEGMENT_MEMORY_SECONDS)


class Segments:
    """Of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def make(
        self, page: int, gist: str, keywords: Sequence[str], *, trust: int, seq: int
    ) -> Segment:
        """A new segment of one page."""
        now = rfc3339(self._clock.now())
        with self._db.transaction():
            number = self._db.write(
                "INSERT INTO segments (gist, keywords, length, last_visit, trust, seq, at)"
                " VALUES (?,?,0,?,?,?,?)",
                (gist, json.dumps(list(keywords), ensure_ascii=False), now, trust, seq, now),
            )
            return self.append(number, page, gist, keywords, trust=trust)

    def append(
        self, number: int, page: int, gist: str, keywords: Sequence[str], *, trust: int
    ) -> Segment:
        """A page joins a segment, whose gist and keywords are now these. A page that is in one
        stays there."""
        with self._db.transaction():
            new = self._db.one("SELECT 1 FROM segment_pages WHERE page = ?", (page,)) is None
            if new:
                self._db.write("INSERT INTO segment_pages VALUES (?,?)", (page, number))
                self._db.write(
                    "UPDATE segments SET gist = ?, keywords = ?, length = length + 1,"
                    " trust = min(trust, ?), hidden = 0 WHERE number = ?",
                    (gist, json.dumps(list(keywords), ensure_ascii=False), trust, number),
                )
        return self.get([number])[number]

    def tell(self, number: int, gist: str, keywords: Sequence[str]) -> None:
        """Another line and other keywords, of the same pages."""
        self._db.write(
            "UPDATE segments SET gist = ?, keywords = ? WHERE number = ?",
            (gist, json.dumps(list(keywords), ensure_ascii=False), number),
        )

    def visit(self, pages: Sequence[int]) -> None:
        """Pages were read or found: their segments are warmer, and in view again."""
        rows = self._db.rows_in("SELECT DISTINCT segment FROM segment_pages WHERE page", pages)
        now = rfc3339(self._clock.now())
        self._db.write_many(
            "UPDATE segments SET visits = visits + 1, last_visit = ?, hidden = 0 WHERE number = ?",
            [(now, row["segment"]) for row in rows],
        )

    def promoted(self, number: int) -> None:
        """All its pages have been looked at: its heat begins anew."""
        self._db.write(
            "UPDATE segments SET promoted_length = length, visits = 0, promoted_at = ?"
            " WHERE number = ?",
            (rfc3339(self._clock.now()), number),
        )

    def follow(self, before: int) -> None:
        """After a move to just before a message: what was promoted since may be looked at again."""
        self._db.write(
            "UPDATE segments SET promoted_length = 0 WHERE promoted_at >="
            " (SELECT recorded_at FROM messages WHERE seq = ?)",
            (before,),
        )

    def hide(self, number: int) -> None:
        self._db.write("UPDATE segments SET hidden = 1 WHERE number = ?", (number,))

    def get(self, numbers: Sequence[int]) -> dict[int, Segment]:
        rows = self._db.rows_in("SELECT * FROM segments WHERE number", numbers)
        return {row["number"]: _segment(row) for row in rows}

    def all(self, *, hidden: bool = False) -> list[Segment]:
        """Those in view, or all, the oldest first."""
        rows = self._db.rows(
            "SELECT * FROM segments WHERE hidden = 0 OR ? ORDER BY number", (hidden,)
        )
        return [_segment(row) for row in rows]

    def pages(self, number: int) -> list[int]:
        """Those of the current line, in the order in which they joined."""
        rows = self._db.rows(
            "SELECT s.page FROM segment_pages s JOIN pages p ON p.kind = 'page' AND p.number ="
            " s.page AND p.live WHERE s.segment = ? ORDER BY s.page",
            (number,),
        )
        return [row["page"] for row in rows]

    def of_pages(self, pages: Sequence[int]) -> dict[int, int]:
        """The segment of each page that is in one."""
        rows = self._db.rows_in("SELECT * FROM segment_pages WHERE page", pages)
        return {row["page"]: row["segment"] for row in rows}

    def unplaced(self, limit: int) -> list[int]:
        """Pages of the current line that are in no segment yet, the oldest first; without those of
        long ago."""
        rows = self._db.rows(
            "SELECT number FROM pages WHERE kind = 'page' AND live AND number >"
            " (SELECT max(number) FROM pages WHERE kind = 'page') - ?"
            " AND number NOT IN (SELECT page FROM segment_pages) ORDER BY number LIMIT ?",
            (SEGMENT_BACK, limit),
        )
        return [row["number"] for row in rows]


def _segment(row: Row) -> Segment:
    return Segment(
        row["number"],
        row["gist"],
        tuple(json.loads(row["keywords"])),
        row["length"],
        row["visits"],
        parse_rfc3339(row["last_visit"]),
        row["promoted_length"],
        bool(row["hidden"]),
        row["trust"],
    )
