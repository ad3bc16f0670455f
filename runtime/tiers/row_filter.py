"""RowFilter: which rows a search may return, as the SQL that is pushed down and as a predicate.

Both say the same of every row (a property test holds it). Values go through `quote` only:
LanceDB knows no parameters.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pagemind.runtime.message import clean_text
from pagemind.runtime.outbox import Tier
from pagemind.runtime.scope import ROOT
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.tiers.schema import (
    PRIVATE,
    TierRow,
    owner_tag,
    row_kind,
    scope_tag,
)

_LETTERS: Mapping[Tier, str] = {"recall": "m", "archival": "a", "pages": "p"}


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


def _within(ranges: Sequence[tuple[int, int]]) -> str:
    """A seq in one of the ranges: every undo adds one, and a flat chain of hundreds would be nested
    as deep."""
    if not ranges:
        return "false"
    if len(ranges) == 1:
        return f"(seq >= {ranges[0][0]:d} AND seq <= {ranges[0][1]:d})"
    half = len(ranges) // 2
    return f"({_within(ranges[:half])} OR {_within(ranges[half:])})"


def _single(value: float) -> float:
    """A number as the importance column holds it: 32 bits."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


@dataclass(frozen=True, slots=True)
class RowFilter:
    """All conditions hold. None, or no tags, means no restriction; an empty tuple of names,
    parents, statuses, origins or ranges matches nothing."""

    role: str | None = None
    speakers: tuple[str, ...] | None = None
    start: datetime | None = None  # inclusive
    end: datetime | None = None  # exclusive
    tags: tuple[str, ...] = ()  # all of them
    any_tags: tuple[str, ...] = ()  # at least one of them
    importance_from: float | None = None  # both included; a row without importance does not match
    importance_to: float | None = None
    origins: tuple[str, ...] | None = None
    parents: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    scopes: tuple[str, ...] = ()  # in one of these or below it; none: in any
    viewer: str | None = None  # sees what is private to it; None: all
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
            ("origin", self.origins),
            ("kind", self.kinds),
        ):
            if values is not None:
                terms.append(any_of(column, values))
        if self.start is not None:
            terms.append(f"said_at >= {moment(self.start)}")
        if self.end is not None:
            terms.append(f"said_at < {moment(self.end)}")
        terms.extend(f"array_has(tags, {quote(tag)})" for tag in self.tags)
        if self.any_tags:
            listed = ", ".join(quote(tag) for tag in self.any_tags)
            terms.append(f"array_has_any(tags, make_array({listed}))")
        if self.scopes:
            listed = ", ".join(quote(tag) for tag in map(scope_tag, self.scopes))
            terms.append(f"array_has_any(tags, make_array({listed}))")
        if self.viewer is not None:
            own = quote(owner_tag(self.viewer))
            terms.append(f"(NOT array_has(tags, {quote(PRIVATE)}) OR array_has(tags, {own}))")
        if self.importance_from is not None:
            terms.append(f"importance >= CAST({self.importance_from!r} AS FLOAT)")
        if self.importance_to is not None:
            terms.append(f"importance <= CAST({self.importance_to!r} AS FLOAT)")
        if self.seqs is not None:
            terms.append(_within(self.seqs))
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
            and (not self.any_tags or any(tag in row.tags for tag in self.any_tags))
            and (self.origins is None or row.origin in self.origins)
            and (self.kinds is None or row.kind in self.kinds)
            and (not self.scopes or any(scope_tag(each) in row.tags for each in self.scopes))
            and self._sees(row)
            and self._weighs(row.importance)
            and (self.seqs is None or any(low <= row.seq <= high for low, high in self.seqs))
            and (not self.first_parts or row.part == 1)
        )

    def _sees(self, row: TierRow) -> bool:
        public = self.viewer is None or PRIVATE not in row.tags
        return public or owner_tag(self.viewer or "") in row.tags

    def _weighs(self, importance: float | None) -> bool:
        low, high = self.importance_from, self.importance_to
        if low is None and high is None:
            return True
        if importance is None:
            return False
        held = _single(importance)
        return (low is None or held >= _single(low)) and (high is None or held <= _single(high))


def where_of(
    filters: SearchFilters,
    tier: Tier,
    *,
    speakers: Sequence[str] = (),
    live: Sequence[tuple[int, int]] | None = None,
    archive: str = "",
) -> RowFilter | None:
    """The rows of one tier that a search may return; None if nothing of it can match.

    `speakers` are all who have spoken and `live` the seq ranges of the current line, for messages
    and pages; `archive` is the shared archive that is searched, "" for the agent's own memory.
    """
    parents = names = None
    if filters.ids:
        parents = _parents(filters.ids, tier, archive)
        if not parents:
            return None
    asks = filters.kinds or filters.scopes or filters.standings != ("active",)
    if tier != "archival" and (asks or filters.as_of is not None):
        return None  # only passages have them
    if tier != "recall" and (filters.role is not None or filters.speaker is not None):
        return None  # only messages have them
    if filters.speaker is not None:
        wanted = clean_text(filters.speaker).strip().casefold()
        names = tuple(name for name in speakers if name.casefold() == wanted)
        if not names:
            return None
    return RowFilter(
        role=filters.role,
        speakers=names,
        start=filters.start,
        end=filters.end,
        tags=tuple(map(clean_text, filters.tags)),
        any_tags=tuple(map(clean_text, filters.any_tags)),
        importance_from=filters.importance_from,
        importance_to=filters.importance_to,
        origins=filters.origins or None,
        parents=parents,
        statuses=_standings(filters) if tier == "archival" else ("active",),
        kinds=tuple(map(row_kind, filters.kinds)) if filters.kinds else None,
        scopes=() if ROOT in filters.scopes else filters.scopes,
        viewer=filters.viewer if tier == "archival" else None,
        seqs=None if live is None or tier == "archival" else tuple(live),
    )


def _standings(filters: SearchFilters) -> tuple[str, ...]:
    """What was true once may not be any more."""
    past = filters.as_of is not None and "past" not in filters.standings
    return (*filters.standings, "past") if past else filters.standings


def _parents(ids: Sequence[str], tier: Tier, archive: str) -> tuple[str, ...]:
    """The short ids that are of this tier, without the name of the archive."""
    found = []
    for each in ids:
        home, _, short = each.rpartition(":")
        if home.casefold() == archive.casefold() and short[:1] == _LETTERS[tier]:
            found.append(short)
    return tuple(found)
