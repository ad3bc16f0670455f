"""RowFilter: which rows a search may return, as the SQL that is pushed down and as a predicate.

Both say the same of every row (a property test holds it). Values go through `quote` only:
LanceDB knows no parameters.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from pagemind.runtime.tiers.schema import TierRow


def quote(value: str) -> str:
    """A text as an SQL literal. Backslash, % and _ mean nothing in it; only ' is doubled."""
    return "'" + value.replace("'", "''") + "'"


def moment(at: datetime) -> str:
    """A time as an SQL literal, exact to the microsecond."""
    return f"TIMESTAMP '{at.astimezone(UTC).isoformat(timespec='microseconds')}'"


def any_of(column: str, values: Iterable[str]) -> str:
    """`column IN (…)`; false for no values."""
    listed = ", ".join(quote(value) for value in values)
    return f"{column} IN ({listed})" if listed else "false"


@dataclass(frozen=True, slots=True)
class RowFilter:
    """All conditions hold. None, or no tags, means no restriction; an empty tuple of names,
    parents, statuses or ranges matches nothing."""

    role: str | None = None
    speakers: tuple[str, ...] | None = None
    start: datetime | None = None  # inclusive
    end: datetime | None = None  # exclusive
    tags: tuple[str, ...] = ()  # all of them
    parents: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None
    seqs: tuple[tuple[int, int], ...] | None = None  # ranges, both ends included
    first_parts: bool = False

    def sql(self) -> str | None:
        """The condition, or None if every row is meant."""
        terms = []
        if self.role is not None:
            terms.append(f"role = {quote(self.role)}")
        for column, values in (
            ("speaker", self.speakers),
            ("parent", self.parents),
            ("id", self.ids),
            ("status", self.statuses),
        ):
            if values is not None:
                terms.append(any_of(column, values))
        if self.start is not None:
            terms.append(f"said_at >= {moment(self.start)}")
        if self.end is not None:
            terms.append(f"said_at < {moment(self.end)}")
        terms.extend(f"array_has(tags, {quote(tag)})" for tag in self.tags)
        if self.seqs is not None:
            ranges = " OR ".join(f"(seq >= {low:d} AND seq <= {high:d})" for low, high in self.seqs)
            terms.append(f"({ranges})" if ranges else "false")
        if self.first_parts:
            terms.append("part = 1")
        return " AND ".join(terms) or None

    def matches(self, row: TierRow) -> bool:
        """The same, in Python: for rows that are not written yet."""
        return (
            (self.role is None or row.role == self.role)
            and (self.speakers is None or row.speaker in self.speakers)
            and (self.parents is None or row.parent in self.parents)
            and (self.ids is None or row.id in self.ids)
            and (self.statuses is None or row.status in self.statuses)
            and (self.start is None or (row.said_at is not None and row.said_at >= self.start))
            and (self.end is None or (row.said_at is not None and row.said_at < self.end))
            and all(tag in row.tags for tag in self.tags)
            and (self.seqs is None or any(low <= row.seq <= high for low, high in self.seqs))
            and (not self.first_parts or row.part == 1)
        )
