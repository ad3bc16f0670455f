"""What always holds of records and what hangs on them: facets, lineage, links, entities, segments.

Part of invariants.py, which asks for it; each finding is what is checked, what is wrong, and where.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from pagemind.runtime.finding import Repair
from pagemind.runtime.state.facet_columns import COLUMNS, facets_from, facets_of
from pagemind.runtime.state.state import State

_Id = TypeVar("_Id", str, int)
Fault = tuple[str, str, list[str], Repair]
# Each query gives the names of what breaks the law; some of it semantic_invariants.py mends.
_QUERIES: tuple[tuple[str, str, str, Repair], ...] = (
    (
        "records",
        "superseded by one that is not there",
        "SELECT 'a' || number FROM passages WHERE superseded_by IS NOT NULL"
        " AND superseded_by NOT IN (SELECT number FROM passages) AND status <> 'retired'",
        "records",
    ),
    (
        "records",
        "about somebody who is not there",
        "SELECT 'a' || number FROM passages WHERE status <> 'retired' AND ((subject_entity IS NOT"
        " NULL AND subject_entity NOT IN (SELECT number FROM entities)) OR (object_entity IS NOT"
        " NULL AND object_entity NOT IN (SELECT number FROM entities)))",
        "records",
    ),
    (
        "records",
        "over before they begin",
        "SELECT 'a' || number FROM passages WHERE valid_from > valid_to",
        "",
    ),
    (
        "names",
        "of somebody who is not there",
        "SELECT name FROM entity_names WHERE entity NOT IN (SELECT number FROM entities)",
        "records",
    ),
    (
        "links",
        "between records that are not there",
        "SELECT 'a' || low || ' a' || high FROM links WHERE low NOT IN (SELECT number FROM"
        " passages) OR high NOT IN (SELECT number FROM passages)",
        "records",
    ),
    (
        "segments",
        "of pages that are not there",
        "SELECT 'p' || page FROM segment_pages WHERE page NOT IN"
        " (SELECT number FROM pages WHERE kind = 'page')",
        "records",
    ),
    (
        "segments",
        "not as many pages as they say",
        "SELECT 'seg' || number FROM segments s WHERE length <>"
        " (SELECT count(*) FROM segment_pages p WHERE p.segment = s.number)",
        "records",
    ),
    (
        "tallies",
        "of records that are not there",
        "SELECT 'a' || number FROM tallies WHERE number NOT IN (SELECT number FROM passages)",
        "records",
    ),
    (
        "changes",
        "settled, and never",
        "SELECT 'c' || number FROM changes WHERE"
        " state IN ('applied', 'noop', 'rejected', 'stale', 'dead') AND decided_seq IS NULL",
        "",
    ),
)


def faults(state: State) -> Iterator[Fault]:
    """What is wrong, by kind."""
    database = state.database
    for check, what, sql, repair in _QUERIES:
        yield check, what, [str(row[0]) for row in database.rows(sql)], repair
    yield "records", "not what the newest version says", _unlike(state), ""
    after = {
        row["number"]: (row["superseded_by"],)
        for row in database.rows(
            "SELECT number, superseded_by FROM passages WHERE superseded_by IS NOT NULL"
        )
    }
    yield "records", "superseded in a circle", [f"a{number}" for number in in_circles(after)], ""
    sources: dict[str, list[str]] = {}
    for row in database.rows("SELECT DISTINCT derived, source FROM lineage"):
        sources.setdefault(row["derived"], []).append(row["source"])
    yield "lineage", "of itself, by some way", in_circles(sources), ""


def _unlike(state: State) -> list[str]:
    """Records whose facets are not those of their newest version."""
    found: list[str] = []
    rows = state.database.rows(
        f"SELECT p.number, {', '.join(f'p.{name}' for name in COLUMNS)}, v.facets FROM passages p"
        " JOIN passage_versions v ON v.number = p.number AND v.version = p.version"
    )
    for row in rows:
        try:
            same = facets_of(row) == facets_from(row["facets"])
        except (ValueError, TypeError, AttributeError):
            same = False
        if not same:
            found.append(f"a{row['number']}")
    return found


def in_circles(ways: Mapping[_Id, Sequence[_Id]]) -> list[_Id]:
    """What leads back to itself. Takes away what leads nowhere, until nothing is left or only
    circles, and what leads into them, are."""
    left: dict[_Id, set[_Id]] = {one: set(others) for one, others in ways.items()}
    into: dict[_Id, list[_Id]] = {}
    for one, others in left.items():
        for other in others:
            into.setdefault(other, []).append(one)
    ends = [other for other in into if other not in left]
    while ends:
        end = ends.pop()
        for one in into.get(end, ()):
            if one in left:
                left[one].discard(end)
                if not left[one]:
                    del left[one]
                    ends.append(one)
    return sorted(left)
