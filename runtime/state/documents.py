"""Files that were read into passages: what a later run compares with, and who holds a passage.

A row without a hash is a file whose reading was begun and not ended: its numbers are those of all
passages that may be its own, the former version's among them.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.passages import digest


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """`source` is the file's path; `numbers` are those of its passages, in order."""

    source: str
    sha256: str
    numbers: tuple[int, ...]
    at: datetime


class Documents:
    """The table `documents` of one state database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def get(self, source: str) -> StoredDocument | None:
        row = self._db.one("SELECT * FROM documents WHERE source = ?", (source,))
        return _of(row) if row else None

    def put(self, source: str, sha256: str, numbers: Sequence[int]) -> None:
        """Enter a file; an empty hash while it is being read."""
        self._db.write(
            "INSERT OR REPLACE INTO documents VALUES (?,?,?,?)",
            (source, sha256, json.dumps(list(numbers)), rfc3339(self._clock.now())),
        )

    def remove(self, source: str) -> None:
        self._db.write("DELETE FROM documents WHERE source = ?", (source,))

    def all(self) -> Iterator[StoredDocument]:
        """Every file, in order of its path."""
        last = ""
        while rows := self._db.rows(
            "SELECT * FROM documents WHERE source > ? ORDER BY source LIMIT 100", (last,)
        ):
            yield from map(_of, rows)
            last = rows[-1]["source"]

    def sources(self) -> list[str]:
        """The paths of all files."""
        return [row[0] for row in self._db.rows("SELECT source FROM documents ORDER BY source")]

    def held(self, numbers: Sequence[int], *, beside: str) -> set[int]:
        """Those of the passages that another file than `beside` holds too."""
        found: set[int] = set()
        some = json.dumps(list(numbers))
        for row in self._db.rows(
            "SELECT DISTINCT held.value FROM documents, json_each(documents.numbers) AS held"
            " WHERE source <> ? AND held.value IN (SELECT value FROM json_each(?))",
            (beside, some),
        ):
            found.add(row[0])
        return found

    def as_read(self, numbers: Sequence[int]) -> dict[str, int]:
        """Those passages by the digest of the text with which they came in, whatever an edit or a
        deletion has made of them since."""
        rows = self._db.rows_in(
            "SELECT number, text FROM passage_versions WHERE version = 1 AND number", numbers
        )
        return {digest(row["text"]): row["number"] for row in rows}


def _of(row: Row) -> StoredDocument:
    return StoredDocument(
        row["source"],
        row["sha256"],
        tuple(json.loads(row["numbers"])),
        parse_rfc3339(row["at"]),
    )
