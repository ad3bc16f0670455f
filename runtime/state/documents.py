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
from pagemind.runtime.state.lines import NOW
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
        with self._db.transaction():
            self._db.write(
                "INSERT OR REPLACE INTO documents VALUES (?,?,?,?)",
                (source, sha256, json.dumps(list(numbers)), rfc3339(self._clock.now())),
            )
            self._keep_version(source)

    def remove(self, source: str) -> None:
        with self._db.transaction():
            self._db.write("DELETE FROM documents WHERE source = ?", (source,))
            self._keep_version(source)

    def _keep_version(self, source: str) -> None:
        self._db.write(
            f"INSERT OR REPLACE INTO document_versions SELECT ?1, {NOW}, d.sha256,"
            " coalesce(d.numbers, '[]'), coalesce(d.at, '')"
            " FROM (SELECT ?1 AS source) s LEFT JOIN documents d ON d.source = s.source",
            (source,),
        )

    def go_back(self, before: int) -> tuple[list[str], list[str]]:
        """Know the files that were known just before a message was given its seq, as they were;
        those that are another version now, and those that are unknown."""
        back: list[str] = []
        gone: list[str] = []
        with self._db.transaction():
            changed = self._db.rows(
                "SELECT DISTINCT source FROM document_versions WHERE seq >= ? ORDER BY source",
                (before,),
            )
            for source in [row["source"] for row in changed]:
                then = self._db.one(
                    "SELECT * FROM document_versions WHERE source = ? AND seq < ?"
                    " ORDER BY seq DESC LIMIT 1",
                    (source, before),
                )
                now = self.get(source)
                if then is None or then["sha256"] is None:
                    if now is not None:
                        self.remove(source)
                        gone.append(source)
                elif now is None or (now.sha256, list(now.numbers)) != (
                    then["sha256"],
                    json.loads(then["numbers"]),
                ):
                    self._db.write(
                        "INSERT OR REPLACE INTO documents VALUES (?,?,?,?)",
                        (source, then["sha256"], then["numbers"], then["at"]),
                    )
                    self._keep_version(source)
                    back.append(source)
        return back, gone

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
