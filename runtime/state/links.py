"""Links on disk: records that belong together, both ways (after A-MEM, arXiv 2502.12110). Both ends
exist; a link that was made on a line that was left is not seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import NotFound
from pagemind.runtime.state.audit import Audit
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.lines import on_line


@dataclass(frozen=True, slots=True)
class Link:
    """Between two records, by number; `low` is the smaller."""

    low: int
    high: int
    author: str
    why: str
    at: datetime
    seq: int

    def other(self, number: int) -> int:
        return self.high if number == self.low else self.low


class Links:
    """Of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock
        self._audit = Audit(database, clock)

    def add(self, one: int, other: int, *, author: str, why: str = "", seq: int) -> bool:
        """Link two records; whether that is new. Raises NotFound for one that is not there, or
        one and the same."""
        low, high = sorted((one, other))
        with self._db.transaction():
            there = self._db.number(
                "SELECT count(*) FROM passages WHERE number IN (?, ?) AND status <> 'retired'",
                (low, high),
            )
            if low == high or there < 2:
                raise NotFound(f"a{low} and a{high} are not two records that could be linked")
            known = self._db.one(
                f"SELECT 1 FROM links l WHERE low = ? AND high = ? AND {on_line('l.seq')}",
                (low, high),
            )
            if known is None:
                self._db.write(
                    "INSERT INTO links VALUES (?,?,?,?,?,?)",
                    (low, high, author, why, rfc3339(self._clock.now()), seq),
                )
                self._audit.add("linked", f"a{low}", by=author, to=f"a{high}", seq=seq)
        return known is None

    def remove(self, one: int, other: int, *, by: str = "user") -> None:
        low, high = sorted((one, other))
        with self._db.transaction():
            self._db.write("DELETE FROM links WHERE low = ? AND high = ?", (low, high))
            self._audit.add("unlinked", f"a{low}", by=by, to=f"a{high}")

    def of(self, numbers: Sequence[int]) -> dict[int, list[Link]]:
        """The links of each record to others that are not retired, the oldest first."""
        found: dict[int, list[Link]] = {}
        for column in ("low", "high"):
            rows = self._db.rows_in(
                "SELECT l.*, l." + column + " AS mine FROM links l JOIN passages a ON a.number ="
                " l.low JOIN passages b ON b.number = l.high WHERE a.status <> 'retired'"
                f" AND b.status <> 'retired' AND {on_line('l.seq')} AND l.{column}",
                numbers,
            )
            for row in rows:
                link = Link(
                    row["low"],
                    row["high"],
                    row["author"],
                    row["why"],
                    parse_rfc3339(row["at"]),
                    row["seq"],
                )
                found.setdefault(row["mine"], []).append(link)
        return {n: sorted(each, key=lambda link: link.at) for n, each in found.items()}
