"""Pages and summaries on disk. Pages are immutable but for their gist and heat."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.page import Page
from pagemind.runtime.state.database import Database, Row


@dataclass(frozen=True, slots=True)
class Summary:
    """The recursive summary of everything up to `covers_last`; `rung` says how it was made."""

    summary: int
    text: str
    tokens: int
    covers_last: int
    rung: str
    at: datetime
    author: str


class Pages:
    """Pages and summaries of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def add(self, pages: Sequence[Page], *, line: int, epoch: int) -> None:
        """Store new pages. Their numbers must follow the newest one."""
        with self._db.transaction():
            at = rfc3339(self._clock.now())
            for page in pages:
                assert page.number == self.count() + 1
                self._db.write(
                    "INSERT INTO pages VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                    (
                        "page",
                        page.number,
                        self._clock.new_id(),
                        line,
                        None,
                        page.first_seq,
                        page.last_seq,
                        rfc3339(page.first_at),
                        rfc3339(page.last_at),
                        page.messages,
                        page.tokens,
                        page.gist,
                        page.gist_author,
                        json.dumps(page.keywords, ensure_ascii=False),
                        page.heat,
                        page.trust,
                        epoch,
                        at,
                    ),
                )
                self._db.write(
                    "INSERT INTO gist_versions VALUES ('page',?,1,?,?,?,?)",
                    (
                        page.number,
                        page.gist,
                        json.dumps(page.keywords, ensure_ascii=False),
                        at,
                        page.gist_author,
                    ),
                )
                self._db.write(
                    "INSERT OR REPLACE INTO outbox (tier, key, op) VALUES ('pages', ?, 'put')",
                    (page.number,),
                )

    def count(self) -> int:
        return self._db.number("SELECT max(number) FROM pages WHERE kind = 'page'")

    def get(self, number: int) -> Page | None:
        row = self._db.one("SELECT * FROM pages WHERE kind = 'page' AND number = ?", (number,))
        return page_of(row) if row else None

    def get_all(self, numbers: Sequence[int]) -> dict[int, Page]:
        """Those pages that exist, by number."""
        query = "SELECT * FROM pages WHERE kind = 'page' AND number"
        return {row["number"]: page_of(row) for row in self._db.rows_in(query, numbers)}

    def newest(self, limit: int) -> list[Page]:
        """The newest pages, oldest of them first."""
        rows = self._db.rows(
            "SELECT * FROM pages WHERE kind = 'page' ORDER BY number DESC LIMIT ?", (limit,)
        )
        return [page_of(row) for row in reversed(rows)]

    def all(self) -> list[Page]:
        return self.newest(1 << 31)

    def of(self, seqs: Sequence[int]) -> dict[int, int]:
        """The page number of each seq that was evicted."""
        found: dict[int, int] = {}
        for seq in seqs:
            number = self._db.number(
                "SELECT number FROM pages WHERE kind = 'page' AND first_seq <= ? AND last_seq >= ?"
                " ORDER BY first_seq DESC LIMIT 1",
                (seq, seq),
            )
            if number:
                found[seq] = number
        return found

    def warm(self, number: int) -> None:
        """A page was read: it gets hotter."""
        self._db.write(
            "UPDATE pages SET heat = heat + 1 WHERE kind = 'page' AND number = ?", (number,)
        )

    # --- summaries ----------------------------------------------------------------------------

    def summarise(
        self, text: str, *, tokens: int, covers_last: int, rung: str, author: str, trust: int
    ) -> int:
        """Store a new summary; its number."""
        return self._db.write(
            "INSERT INTO summaries (text, tokens, covers_last, rung, at, author, trust)"
            " VALUES (?,?,?,?,?,?,?)",
            (text, tokens, covers_last, rung, rfc3339(self._clock.now()), author, trust),
        )

    def summary(self, number: int | None) -> Summary | None:
        if number is None:
            return None
        row = self._db.one("SELECT * FROM summaries WHERE summary = ?", (number,))
        if row is None:
            return None
        return Summary(
            row["summary"],
            row["text"],
            row["tokens"],
            row["covers_last"],
            row["rung"],
            parse_rfc3339(row["at"]),
            row["author"],
        )


def page_of(row: Row) -> Page:
    """A pages row as a value."""
    return Page(
        number=row["number"],
        first_seq=row["first_seq"],
        last_seq=row["last_seq"],
        first_at=parse_rfc3339(row["first_at"]),
        last_at=parse_rfc3339(row["last_at"]),
        messages=row["messages"],
        tokens=row["tokens"],
        gist=row["gist"],
        keywords=tuple(json.loads(row["keywords"])),
        trust=row["trust"],
        gist_author=row["gist_author"],
        heat=row["heat"],
        parent=row["parent"],
    )
