"""Decay: which records are over, and how those that may go cold were used; for the job `expire`."""

from collections.abc import Iterator
from datetime import datetime

from pagemind.runtime.clock import parse_rfc3339, rfc3339
from pagemind.runtime.importance import importance_of
from pagemind.runtime.passage import EVERGREEN, ORDINARY
from pagemind.runtime.record_heat import Use
from pagemind.runtime.scope import ROOT
from pagemind.runtime.state.database import Database, Row

_KINDS = ", ".join(f"'{kind}'" for kind in ORDINARY)
# Pieces of documents are as their files are: they neither count nor go cold.
_STANDS = (
    f"p.status = 'active' AND p.cold = 0 AND p.kind IN ({_KINDS}) AND p.superseded_by IS NULL"
    " AND p.valid_to IS NULL AND p.origin <> 'document'"
)
_IN_SCOPE = "(? = '/' OR p.scope = ? OR p.scope >= ? AND p.scope < ?)"
_MAY_GO = (
    " AND p.evergreen = 0 AND NOT EXISTS"
    f" (SELECT 1 FROM json_each(p.tags) t WHERE lower(t.value) = '{EVERGREEN}')"
)


class Decay:
    """Of one state database."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def expired(self, now: datetime, limit: int) -> list[int]:
        """Records whose time to live is over, and that are still there."""
        rows = self._db.rows(
            "SELECT number FROM passages WHERE expires_at IS NOT NULL AND expires_at <= ?"
            " AND status <> 'retired' AND cold = 0 ORDER BY number LIMIT ?",
            (rfc3339(now), limit),
        )
        return [row["number"] for row in rows]

    def over(self, now: datetime, limit: int) -> list[int]:
        """Facts that have ceased to be true since they were last changed."""
        rows = self._db.rows(
            "SELECT number FROM passages WHERE kind IN ('fact', 'insight', 'digest')"
            " AND kind <> 'note' AND valid_to IS NOT NULL"
            " AND valid_to <= ? AND valid_to > updated_at AND superseded_by IS NULL"
            " AND status = 'active' AND cold = 0 ORDER BY number LIMIT ?",
            (rfc3339(now), limit),
        )
        return [row["number"] for row in rows]

    def standing(self, scope: str) -> int:
        """How many records stand in a scope and below it."""
        return self._db.number(
            f"SELECT count(*) FROM passages p WHERE {_STANDS} AND {_IN_SCOPE}", _bounds(scope)
        )

    def uses(self, scope: str, *, before: datetime | None = None) -> Iterator[Use]:
        """Those of them that may go cold; `before`: not used since then."""
        since = ""
        bounds: tuple[str, ...] = _bounds(scope)
        if before is not None:
            since = " AND p.updated_at < ? AND coalesce(a.at, p.updated_at) < ?"
            bounds = (*bounds, rfc3339(before), rfc3339(before))
        rows = self._db.rows(
            "SELECT p.number, p.importance, p.text, p.updated_at, a.at, a.visits FROM passages p"
            " LEFT JOIN accesses a ON a.tier = 'archival' AND a.key = p.number"
            f" WHERE {_STANDS} AND {_IN_SCOPE}{_MAY_GO}{since} ORDER BY p.number",
            bounds,
        )
        return map(_use, rows)


def _use(row: Row) -> Use:
    rated = row["importance"]
    return Use(
        row["number"],
        importance_of(row["text"]) if rated is None else rated,
        row["visits"] or 0,
        parse_rfc3339(max(row["at"] or "", row["updated_at"])),
    )


def _bounds(scope: str) -> tuple[str, ...]:
    head = "" if scope == ROOT else scope
    return (scope, scope, f"{head}/", f"{head}0")
