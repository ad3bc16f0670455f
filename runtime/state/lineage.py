"""Lineage on disk: which derived thing came from which, by short ids.

m42 is a message, a7 a record, p17 a page, d3 a directory, s3 a summary, t12 a turn, seg4 a segment,
block:human a block. What a page or a summary covers, and which messages a turn has, stands in their
own tables: lineage_walk.py knows both.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.semantic_schema import LINEAGE_OF_OLD

# from: made out of it; evidence: an insight that rests on it; supersedes: took its place; merged:
# says what it said, too; promoted: lifted from the mid-term view.
How = Literal["from", "evidence", "supersedes", "merged", "promoted"]


@dataclass(frozen=True, slots=True)
class Edge:
    """One step of descent; `version` is that of the derived thing."""

    derived: str
    source: str
    how: How
    version: int
    seq: int
    at: datetime


class Lineage:
    """Of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def add(
        self, derived: str, sources: Iterable[str], how: How, *, seq: int, version: int = 1
    ) -> None:
        """These are sources of it; what is known already stays. What came from it is none of its
        sources: where one of two took the other's place, and is taken up again, it is the older."""
        at = rfc3339(self._clock.now())
        below = self._below(derived)
        self._db.write_many(
            "INSERT OR IGNORE INTO lineage VALUES (?,?,?,?,?,?)",
            [(derived, source, how, version, seq, at) for source in sources if source not in below],
        )

    def _below(self, id: str) -> set[str]:
        """It, and all that came from it, over any number of steps."""
        rows = self._db.rows(
            "WITH RECURSIVE below(id) AS (VALUES (?) UNION SELECT l.derived FROM lineage l"
            " JOIN below ON l.source = below.id) SELECT id FROM below",
            (id,),
        )
        return {row["id"] for row in rows}

    def fill(self) -> None:
        """What records of before this table say of their sources."""
        self._db.write(LINEAGE_OF_OLD)

    def sources_of(self, derived: str) -> list[Edge]:
        """What it came from, the oldest first."""
        return _edges(
            self._db.rows(
                "SELECT * FROM lineage WHERE derived = ? ORDER BY seq, version, source", (derived,)
            )
        )

    def records_from(self, sources: Iterable[str]) -> dict[str, list[int]]:
        """The numbers of the records that were made out of each of several sources."""
        found: dict[str, list[int]] = {}
        for row in self._db.rows(
            "SELECT DISTINCT source, derived FROM lineage WHERE how IN ('from', 'merged')"
            " AND derived GLOB 'a[0-9]*' AND source IN (SELECT value FROM json_each(?))",
            (json.dumps(list(sources)),),
        ):
            found.setdefault(row["source"], []).append(int(row["derived"][1:]))
        return found

    def messages_of(self, records: Iterable[str]) -> dict[int, list[int]]:
        """The seqs of the messages that each of several records was made out of, by its number."""
        found: dict[int, list[int]] = {}
        for row in self._db.rows(
            "SELECT DISTINCT derived, source FROM lineage WHERE how IN ('from', 'merged')"
            " AND source GLOB 'm[0-9]*' AND derived IN (SELECT value FROM json_each(?))",
            (json.dumps(list(records)),),
        ):
            found.setdefault(int(row["derived"][1:]), []).append(int(row["source"][1:]))
        return found

    def derived_of(self, source: str) -> list[Edge]:
        """What came from it, the oldest first."""
        return _edges(
            self._db.rows(
                "SELECT * FROM lineage WHERE source = ? ORDER BY seq, version, derived", (source,)
            )
        )

    def all_of(self, how: How) -> dict[str, list[str]]:
        """The sources of all that descends in one way, by what descends from them."""
        found: dict[str, list[str]] = {}
        for row in self._db.rows(
            "SELECT DISTINCT derived, source FROM lineage WHERE how = ? ORDER BY derived, source",
            (how,),
        ):
            found.setdefault(row["derived"], []).append(row["source"])
        return found


def _edges(rows: Iterable[Row]) -> list[Edge]:
    return [
        Edge(
            row["derived"],
            row["source"],
            row["how"],
            row["version"],
            row["seq"],
            parse_rfc3339(row["at"]),
        )
        for row in rows
    ]
