"""Items on disk: passages of the kind `item`, by scope and key."""

from collections.abc import Iterator
from datetime import datetime

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.passage import Passage
from pagemind.runtime.scope import ROOT
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.facet_columns import facets_json
from pagemind.runtime.state.passages import passage_of

_ROWS = 500
_THERE = (
    "kind = 'item' AND key <> '' AND status = 'active' AND superseded_by IS NULL"
    " AND valid_to IS NULL AND cold = 0"
)


class Items:
    """Of one state database."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def version(self, scope: str, key: str) -> int:
        """How often what stands under a key was changed: what was deleted counts on, so that no
        version comes twice."""
        return self._db.number(
            "SELECT coalesce(sum(version), 0) FROM passages"
            " WHERE kind = 'item' AND scope = ? AND key = ?",
            (scope, key),
        )

    def within(self, scope: str) -> Iterator[Passage]:
        """The active items in a scope and below it, by scope and key."""
        # All scopes below /app lie between /app/ and /app0, its neighbour in order.
        head = "" if scope == ROOT else scope
        last = ("", "")
        while True:
            rows = self._db.rows(
                f"SELECT * FROM passages WHERE {_THERE} AND (scope = ? OR scope >= ? AND scope < ?)"
                " AND (scope, key) > (?, ?) ORDER BY scope, key LIMIT ?",
                (scope, f"{head}/", f"{head}0", *last, _ROWS),
            )
            for row in rows:
                yield passage_of(row)
            if len(rows) < _ROWS:
                return
            last = (rows[-1]["scope"], rows[-1]["key"])

    def expire_at(self, number: int, at: datetime) -> None:
        """Put the end of an item's time off. It was read, not changed: that is no version."""
        with self._db.transaction():
            self._db.write(
                "UPDATE passages SET expires_at = ? WHERE number = ?", (rfc3339(at), number)
            )
            row = self._db.one("SELECT * FROM passages WHERE number = ?", (number,))
            assert row is not None
            passage = passage_of(row)
            self._db.write(
                "UPDATE passage_versions SET facets = ? WHERE number = ? AND version = ?",
                (facets_json(passage.facets), number, passage.version),
            )
