"""Pages, their directories and summaries on disk. Pages are immutable but for gist and heat.

What it costs to look at the tree does not grow with history: tops() and children() are few rows.
All of it is of the current line; what was written on another one is hidden, but for ever().
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.page import Kind, Page
from pagemind.runtime.page_tree import closing
from pagemind.runtime.settings import FANOUT, HEAT_DECAY, HEAT_LEAST, HEAT_READ
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.lines import on_line

_RECENT = 256  # of what was warmed last: older is cold


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
    trust: int = 100


class Pages:
    """Pages and summaries of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    # --- writing --------------------------------------------------------------------------------

    def add(self, pages: Sequence[Page], *, line: int, epoch: int) -> None:
        """Store new pages, newest last. Numbers only rise."""
        with self._db.transaction():
            newest = self.last_number
            for page in pages:
                assert page.number > newest
                assert page.level == 0
                newest = page.number
                self._insert(page, line, epoch)
                self._requeue(page.number)

    def close_directories(
        self, count: Callable[[str], int], *, line: int, epoch: int
    ) -> list[Page]:
        """Make the directories that have all their children; they stay as they are from then on."""
        closed: list[Page] = []
        with self._db.transaction():
            for made, children in closing(self.tops(), self.last_directory + 1, count):
                self._insert(made, line, epoch)
                self._db.write_many(
                    "UPDATE pages SET parent = ? WHERE kind = ? AND number = ?",
                    [(made.number, child.kind, child.number) for child in children],
                )
                closed.append(made)
        return closed

    def rebuild_directories(self, count: Callable[[str], int]) -> int:
        """Make all directories anew, for a repair; how many. Pages stay as they are."""
        with self._db.transaction():
            # Those of other lines too: they are closed again when one is returned to.
            self._db.write("DELETE FROM gist_versions WHERE kind = 'directory'")
            self._db.write("DELETE FROM pages WHERE kind = 'directory'")
            self._db.write("UPDATE pages SET parent = NULL")
            newest = self._db.one(
                "SELECT line, epoch FROM pages WHERE live ORDER BY number DESC LIMIT 1"
            )
            if newest is None:
                return 0
            made = self.close_directories(count, line=newest["line"], epoch=newest["epoch"])
            # A directory is as old as the newest page in it.
            for level in sorted({each.level for each in made}):
                self._db.write(
                    "UPDATE pages SET epoch = (SELECT max(c.epoch) FROM pages c"
                    " WHERE c.parent = pages.number AND c.live) WHERE kind = 'directory'"
                    " AND level = ?",
                    (level,),
                )
        return len(made)

    def follow(self, since: int) -> None:
        """Inside a transaction: show the pages and directories of what is the current line now. It
        and the one before differ from the seq `since` on."""
        written = "(SELECT e.seq FROM epochs e WHERE e.epoch = p.epoch)"
        moved = self._db.rows(
            f"SELECT p.kind, p.number, NOT p.live AS live FROM pages p WHERE {written} >= ?"
            f" AND p.live <> ({on_line(written)}) ORDER BY p.level",
            (since,),
        )
        self._db.write_many(
            "UPDATE pages SET live = ? WHERE kind = ? AND number = ?",
            [(row["live"], row["kind"], row["number"]) for row in moved],
        )
        for row in moved:
            if row["kind"] == "page":
                self._requeue(row["number"])
            elif row["live"]:
                made = self.directory(row["number"])
                assert made is not None
                self._db.write(
                    "UPDATE pages SET parent = ? WHERE live AND level = ? AND first_seq >= ?"
                    " AND last_seq <= ?",
                    (made.number, made.level - 1, made.first_seq, made.last_seq),
                )
            else:
                self._db.write(
                    "UPDATE pages SET parent = NULL WHERE live AND parent = ?", (row["number"],)
                )

    def _insert(self, page: Page, line: int, epoch: int) -> None:
        at = rfc3339(self._clock.now())
        words = json.dumps(page.keywords, ensure_ascii=False)
        self._db.write(
            "INSERT INTO pages (kind, number, id, line, parent, first_seq, last_seq, first_at,"
            " last_at, messages, tokens, gist, gist_author, keywords, trust, epoch, created_at,"
            " level) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                page.kind,
                page.number,
                self._clock.new_id(),
                line,
                page.parent,
                page.first_seq,
                page.last_seq,
                rfc3339(page.first_at),
                rfc3339(page.last_at),
                page.messages,
                page.tokens,
                page.gist,
                page.gist_author,
                words,
                page.trust,
                epoch,
                at,
                page.level,
            ),
        )
        self._db.write(
            "INSERT INTO gist_versions VALUES (?,?,1,?,?,?,?)",
            (page.kind, page.number, page.gist, words, at, page.gist_author),
        )

    def _requeue(self, number: int) -> None:
        """Search sees a page's gist when LanceDB has it."""
        self._db.write(
            "INSERT OR REPLACE INTO outbox (tier, key, op) VALUES ('pages', ?, 'put')", (number,)
        )

    # --- reading --------------------------------------------------------------------------------

    @property
    def last_number(self) -> int:
        """The number of the newest page; 0 before the first."""
        return self._db.number("SELECT max(number) FROM pages WHERE kind = 'page'")

    @property
    def last_directory(self) -> int:
        """The number of the directory that closed last; 0 before the first."""
        return self._db.number("SELECT max(number) FROM pages WHERE kind = 'directory'")

    def count(self) -> int:
        """How many pages there are. Directories are full: the tops alone say it."""
        rows = self._db.rows(
            "SELECT level, count(*) AS tops FROM pages WHERE parent IS NULL AND live GROUP BY level"
        )
        return sum(row["tops"] * FANOUT ** row["level"] for row in rows)

    def get(self, number: int) -> Page | None:
        return self._one("page", number)

    def directory(self, number: int) -> Page | None:
        return self._one("directory", number)

    def _one(self, kind: Kind, number: int) -> Page | None:
        row = self._db.one(
            "SELECT * FROM pages WHERE kind = ? AND number = ? AND live", (kind, number)
        )
        return page_of(row, self._turn) if row else None

    def ever(self, number: int) -> Page | None:
        """A page of any line."""
        row = self._db.one("SELECT * FROM pages WHERE kind = 'page' AND number = ?", (number,))
        return page_of(row, self._turn) if row else None

    def hidden(self) -> list[int]:
        """The numbers of pages of other lines."""
        rows = self._db.rows("SELECT number FROM pages WHERE kind = 'page' AND NOT live")
        return [row["number"] for row in rows]

    def tops(self) -> list[Page]:
        """What is in no directory yet, the oldest first: all else is below these."""
        return self._many(
            self._db.rows("SELECT * FROM pages WHERE parent IS NULL AND live ORDER BY first_seq")
        )

    def children(self, number: int) -> list[Page]:
        """What stands in a directory, the oldest first."""
        return self._many(
            self._db.rows(
                "SELECT * FROM pages WHERE parent = ? AND live ORDER BY first_seq", (number,)
            )
        )

    def directories(self) -> list[Page]:
        """All of them, in the order they closed."""
        return self._many(
            self._db.rows("SELECT * FROM pages WHERE kind = 'directory' AND live ORDER BY number")
        )

    def get_all(self, numbers: Sequence[int]) -> dict[int, Page]:
        """Those pages that exist, by number."""
        query = "SELECT * FROM pages WHERE kind = 'page' AND live AND number"
        turn = self._turn
        return {row["number"]: page_of(row, turn) for row in self._db.rows_in(query, numbers)}

    def newest(self, limit: int) -> list[Page]:
        """The newest pages, oldest of them first."""
        rows = self._db.rows(
            "SELECT * FROM pages WHERE kind = 'page' AND live ORDER BY number DESC LIMIT ?",
            (limit,),
        )
        return self._many(rows)[::-1]

    def all(self) -> list[Page]:
        return self.newest(1 << 31)

    def _many(self, rows: Sequence[Row]) -> list[Page]:
        turn = self._turn
        return [page_of(row, turn) for row in rows]

    def of(self, seqs: Sequence[int]) -> dict[int, int]:
        """The page number of each seq that was evicted."""
        found: dict[int, int] = {}
        for seq in seqs:
            number = self._db.number(
                "SELECT number FROM pages WHERE kind = 'page' AND live AND first_seq <= ?1"
                f" AND last_seq >= ?1 AND {on_line('?1')} ORDER BY first_seq DESC LIMIT 1",
                (seq,),
            )
            if number:
                found[seq] = number
        return found

    # --- heat -----------------------------------------------------------------------------------

    @property
    def _turn(self) -> int:
        return self._db.number("SELECT max(turn) FROM turns")

    def warm(self, number: int, by: float = HEAT_READ, kind: Kind = "page") -> None:
        """A page was read or found: it gets hotter. Heat decays by the turn."""
        page = self._one(kind, number)
        if page is not None:
            self._db.write(
                "UPDATE pages SET heat = ?, heat_turn = ? WHERE kind = ? AND number = ?",
                (page.heat + by, self._turn, kind, number),
            )

    def hot(self, limit: int) -> list[Page]:
        """What was read or found most of late, the hottest first."""
        rows = self._db.rows(
            "SELECT * FROM pages WHERE heat > 0 AND live ORDER BY heat_turn DESC LIMIT ?",
            (_RECENT,),
        )
        turn = self._turn
        warm = [row for row in rows if _heat(row, turn) >= HEAT_LEAST]
        warm.sort(key=lambda row: (-_heat(row, turn), -row["first_seq"]))
        return [page_of(row, turn) for row in warm[:limit]]  # most rows are cold

    # --- gists ----------------------------------------------------------------------------------

    def unwritten(self, limit: int) -> list[Page]:
        """Pages whose gist no model has looked at, the newest first."""
        return self._many(
            self._db.rows(
                "SELECT * FROM pages INDEXED BY pages_author WHERE gist_author = 'runtime'"
                " AND kind = 'page' AND live ORDER BY number DESC LIMIT ?",
                (limit,),
            )
        )

    def set_gist(self, number: int, gist: str, *, author: str) -> None:
        """A better gist of a page; the table shows it from the next flush on. Old ones are kept."""
        with self._db.transaction():
            self._db.write(
                "UPDATE pages SET gist = ?, gist_author = ? WHERE kind = 'page' AND number = ?",
                (gist, author, number),
            )
            self._db.write(
                "INSERT INTO gist_versions SELECT kind, number, (SELECT max(version) + 1 FROM"
                " gist_versions v WHERE v.kind = p.kind AND v.number = p.number), gist, keywords,"
                " ?, gist_author FROM pages p WHERE kind = 'page' AND number = ?",
                (rfc3339(self._clock.now()), number),
            )
            self._requeue(number)

    def settle_gist(self, number: int) -> None:
        """A model had nothing better to say of a page: it is not asked again."""
        self._db.write(
            "UPDATE pages SET gist_author = 'runtime, kept' WHERE kind = 'page' AND number = ?",
            (number,),
        )

    def gists(self, number: int) -> list[tuple[str, str]]:
        """Every gist a page has had, with its author; the oldest first."""
        rows = self._db.rows(
            "SELECT gist, author FROM gist_versions WHERE kind = 'page' AND number = ?"
            " ORDER BY version",
            (number,),
        )
        return [(row["gist"], row["author"]) for row in rows]

    # --- trust ------------------------------------------------------------------------------

    def follow_trust(self, numbers: Sequence[int]) -> None:
        """Pages are trusted as the least of their messages, and what holds them as the least of
        its pages."""
        db = self._db
        with db.transaction():
            for number in numbers:
                db.write(
                    "UPDATE pages SET trust = coalesce((SELECT min(m.trust) FROM messages m WHERE"
                    " m.seq BETWEEN pages.first_seq AND pages.last_seq"
                    " AND m.kind IN ('talk', 'observation')), 100)"
                    " WHERE kind = 'page' AND number = ?",
                    (number,),
                )
                self._requeue(number)
            for level in range(1, db.number("SELECT max(level) FROM pages") + 1):
                db.write(
                    "UPDATE pages SET trust = coalesce((SELECT min(c.trust) FROM pages c WHERE"
                    " c.parent = pages.number AND c.live), trust)"
                    " WHERE kind = 'directory' AND level = ?",
                    (level,),
                )
            db.write(
                "UPDATE segments SET trust = coalesce((SELECT min(p.trust) FROM segment_pages s"
                " JOIN pages p ON p.number = s.page WHERE p.kind = 'page'"
                " AND s.segment = segments.number), trust)"
            )

    def distrust_summary(self, since: int, trust: int) -> None:
        """Trust no more than this what was summarised of a message and of all that came after."""
        self._db.write(
            "UPDATE summaries SET trust = min(trust, ?) WHERE covers_last >= ?", (trust, since)
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
            row["trust"],
        )


def page_of(row: Row, turn: int) -> Page:
    """A pages row as a value, with its heat at this turn."""
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
        heat=_heat(row, turn),
        parent=row["parent"],
        level=row["level"],
    )


def _heat(row: Row, turn: int) -> float:
    """What is left of a page's heat at this turn."""
    return float(row["heat"] * HEAT_DECAY ** max(0, turn - row["heat_turn"]))
