"""What ties records together, beyond the laws of each table (record_laws.py): lineage that names
what is there, one item under a key, one value where only one can hold.

check_records() finds what breaks this; mend_records() takes out what points nowhere, here and by
those laws, and hides the older of two items under one key. No text is changed.
"""

from collections.abc import Iterator
from dataclasses import replace

from pagemind.runtime.finding import Finding, listed, wrong
from pagemind.runtime.relations import SINGLE
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.state import State

# Rows of tables that point nowhere.
_LOOSE = (
    (
        "links",
        "low NOT IN (SELECT number FROM passages) OR high NOT IN (SELECT number FROM passages)",
    ),
    ("entity_names", "entity NOT IN (SELECT number FROM entities)"),
    (
        "segment_pages",
        "segment NOT IN (SELECT number FROM segments)"
        " OR page NOT IN (SELECT number FROM pages WHERE kind = 'page')",
    ),
    ("tallies", "number NOT IN (SELECT number FROM passages)"),
)
_MEMBERS = "(SELECT count(*) FROM segment_pages p WHERE p.segment = segments.number)"
# What an id of lineage names: its letters, and where that stands.
_NAMED = (
    ("m", "SELECT 1 FROM messages WHERE seq = {}"),
    ("a", "SELECT 1 FROM passages WHERE number = {}"),
    ("p", "SELECT 1 FROM pages WHERE kind = 'page' AND number = {}"),
    ("d", "SELECT 1 FROM pages WHERE kind = 'directory' AND number = {}"),
    ("s", "SELECT 1 FROM summaries WHERE summary = {}"),
    ("t", "SELECT 1 FROM turns WHERE turn = {}"),
    ("seg", "SELECT 1 FROM segments WHERE number = {}"),
)
_CURRENT = "status = 'active' AND superseded_by IS NULL AND valid_to IS NULL AND cold = 0"


def check_records(state: State) -> Iterator[Finding]:
    """Within a transaction that reads."""
    db = state.database
    loose = _texts(
        db,
        "SELECT derived || ' ← ' || source AS what FROM lineage"
        f" WHERE {_nowhere('derived')} OR {_nowhere('source')}",
    )
    yield from wrong("lineage", "of or from what is not there", loose, "records")
    strays = "SELECT DISTINCT 'p' || page AS what FROM segment_pages WHERE segment NOT IN"
    loose = _texts(db, f"{strays} (SELECT number FROM segments)")
    yield from wrong("segments", "that are not there, of pages", loose, "records")
    twice = [f"{scope} {key}" for scope, key in _keys_twice(db)]
    yield from wrong("items", "several under one key", twice, "records")
    if rivals := _rivals(db):
        yield Finding(
            "facts",
            "note",
            f"several hold where one can: {listed(rivals)}",
            hint="`pagemind memory facts AGENT` shows them; `memory forget` hides one",
        )


def mend_records(state: State) -> int:
    """Take out what check_records() finds and can be mended; how many things that were."""
    db, done = state.database, 0
    with db.transaction():
        for table, condition in _LOOSE:
            done += _deleted(db, table, condition)
        db.write(f"UPDATE segments SET length = {_MEMBERS} WHERE length <> {_MEMBERS}")
        done += _deleted(db, "lineage", f"{_nowhere('derived')} OR {_nowhere('source')}")
        ends = f"({_superseded_by_none()}) OR ({_about_nobody()})"
        for row in list(db.rows(f"SELECT number FROM passages WHERE {ends}")):
            done += _without(state, row["number"])
        for scope, key in _keys_twice(db):
            rows = db.rows(
                f"SELECT number FROM passages WHERE kind = 'item' AND {_CURRENT}"
                " AND scope = ? AND key = ? ORDER BY number DESC",
                (scope, key),
            )
            for row in list(rows)[1:]:
                state.passages.set_status(
                    row["number"], "retired", author="runtime", reason="repaired", seq=_seq(state)
                )
                done += 1
    return done


def _nowhere(column: str) -> str:
    """Whether an id of lineage names what is not there; those of other archives are not ours."""
    terms = []
    for letters, found in _NAMED:
        number = f"CAST(substr({column}, {len(letters) + 1}) AS INTEGER)"
        glob = f"{column} GLOB '{letters}[0-9]*'"
        terms.append(f"({glob} AND NOT EXISTS ({found.format(number)}))")
    labels = "SELECT 1 FROM blocks WHERE 'block:' || label = lineage." + column
    terms.append(f"({column} GLOB 'block:*' AND NOT EXISTS ({labels}))")
    return f"({' OR '.join(terms)})"


def _superseded_by_none() -> str:
    return (
        "status <> 'retired' AND superseded_by IS NOT NULL"
        " AND superseded_by NOT IN (SELECT number FROM passages)"
    )


def _about_nobody() -> str:
    return (
        "status <> 'retired' AND (subject_entity IS NOT NULL"
        " AND subject_entity NOT IN (SELECT number FROM entities)"
        " OR object_entity IS NOT NULL"
        " AND object_entity NOT IN (SELECT number FROM entities))"
    )


def _keys_twice(db: Database) -> list[tuple[str, str]]:
    rows = db.rows(
        f"SELECT scope, key FROM passages WHERE kind = 'item' AND key <> '' AND {_CURRENT}"
        " GROUP BY scope, key, owner HAVING count(*) > 1"
    )
    return [(row["scope"], row["key"]) for row in rows]


def _rivals(db: Database) -> list[str]:
    """Facts of one subject, of a relation with one value at a time, that say different things."""
    single = ", ".join(f"'{each}'" for each in sorted(SINGLE))
    return _texts(
        db,
        "SELECT group_concat('a' || number, ' ') AS what FROM passages"
        f" WHERE kind = 'fact' AND subject_entity IS NOT NULL AND relation IN ({single})"
        f" AND {_CURRENT} GROUP BY subject_entity, relation, scope, owner"
        " HAVING count(DISTINCT coalesce(object_entity, lower(object))) > 1",
    )


def _texts(db: Database, sql: str) -> list[str]:
    return [str(row["what"]) for row in db.rows(sql)]


def _deleted(db: Database, table: str, condition: str) -> int:
    many = db.number(f"SELECT count(*) FROM {table} WHERE {condition}")
    if many:
        db.write(f"DELETE FROM {table} WHERE {condition}")
    return many


def _without(state: State, number: int) -> int:
    """The same record without the ends that point nowhere; those that are right are left alone."""
    facets = state.passages.get([number])[number].facets
    replaced = facets.superseded_by
    if replaced is not None and replaced not in state.passages.get([replaced]):
        replaced = None
    changed = replace(
        facets,
        superseded_by=replaced,
        subject_entity=_entity(state, facets.subject_entity),
        object_entity=_entity(state, facets.object_entity),
    )
    state.passages.edit(
        number, None, facets=changed, author="runtime", reason="repaired", seq=_seq(state)
    )
    return 1


def _entity(state: State, number: int | None) -> int | None:
    return number if number is not None and number in state.entities.get([number]) else None


def _seq(state: State) -> int:
    return state.journal.last_seq
