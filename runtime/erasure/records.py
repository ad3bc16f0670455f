"""Records that go, and records that stay with less than they said.

take_out() deletes records in every version, with all that is kept about them; keep_versions() gives
all versions of a record what one of them says.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.state import facet_columns
from pagemind.runtime.state.passages import digest
from pagemind.runtime.state.state import State


def take_out(state: State, numbers: Sequence[int]) -> None:
    """Inside a transaction. What one of them took the place of stays over."""
    db, listed = state.database, json.dumps(list(numbers))
    _free_the_superseded(state, set(numbers))
    for sql in (
        "DELETE FROM links WHERE low IN ({0}) OR high IN ({0})",
        "DELETE FROM tallies WHERE number IN ({0})",
        "DELETE FROM accesses WHERE tier = 'archival' AND key IN ({0})",
        "INSERT OR REPLACE INTO outbox (tier, key, op) SELECT 'archival', number, 'delete'"
        " FROM passages WHERE number IN ({0})",
        "DELETE FROM passage_versions WHERE number IN ({0})",
        "DELETE FROM passages WHERE number IN ({0})",
    ):
        db.write(sql.format("SELECT value FROM json_each(?1)"), (listed,))


def _free_the_superseded(state: State, gone: set[int]) -> None:
    """What a record took the place of must not point at nothing, nor hold again."""
    db, listed = state.database, json.dumps(sorted(gone))
    rows = db.rows(
        "SELECT number FROM passages WHERE superseded_by IN (SELECT value FROM json_each(?))",
        (listed,),
    )
    behind = {row["number"] for row in rows} - gone
    for row in list(
        db.rows(
            "SELECT number, version, at, facets FROM passage_versions WHERE"
            " json_extract(facets, '$.superseded_by') IN (SELECT value FROM json_each(?))",
            (listed,),
        )
    ):
        if row["number"] not in gone:
            facets = _ended(facet_columns.facets_from(row["facets"]), gone, row["at"])
            db.write(
                "UPDATE passage_versions SET facets = ? WHERE number = ? AND version = ?",
                (facet_columns.facets_json(facets), row["number"], row["version"]),
            )
    for number in sorted(behind):
        _take_over(state, number)


def _ended(facets: Facets, gone: set[int], at: str) -> Facets:
    """Without its successor; what said no end ended when that came."""
    if facets.superseded_by not in gone:
        return facets
    freed = replace(facets, superseded_by=None)
    if freed.valid_to is None:
        ends = facet_columns.facets_from(json.dumps({"valid_to": at})).valid_to
        starts = freed.valid_from
        freed = replace(freed, valid_to=max(ends, starts) if ends and starts else ends)
    return freed


def _take_over(state: State, number: int) -> None:
    """The record is what its newest version says."""
    row = state.database.one(
        "SELECT v.* FROM passage_versions v JOIN passages p ON p.number = v.number AND"
        " p.version = v.version WHERE v.number = ?",
        (number,),
    )
    assert row is not None
    facets = facet_columns.facets_from(row["facets"])
    state.database.write(
        "UPDATE passages SET text = ?, digest = ?, tags = ?, metadata = ?,"
        f" {', '.join(f'{name} = ?' for name in facet_columns.COLUMNS)} WHERE number = ?",
        (
            row["text"],
            digest(row["text"]),
            row["tags"],
            row["metadata"],
            *facet_columns.columns_of(facets),
            number,
        ),
    )
    op = "delete" if row["status"] == "retired" else "put"
    state.database.write(
        "INSERT OR REPLACE INTO outbox (tier, key, op) VALUES ('archival', ?, ?)", (number, op)
    )


def keep_versions(state: State, kept: Sequence[str]) -> None:
    """Inside a transaction: `a7@2` gives every version of a7 the words of version 2."""
    for each in kept:
        id, _, version = each.partition("@")
        number = int(id[1:])
        model = state.passages.version(number, int(version))
        if model is not None:
            _like(state, number, model)


def _like(state: State, number: int, model: Passage) -> None:
    """Standing, times and place stay each version's own."""
    db, said = state.database, model.facets
    for row in list(
        db.rows("SELECT version, facets FROM passage_versions WHERE number = ?", (number,))
    ):
        facets = replace(
            facet_columns.facets_from(row["facets"]),
            subject=said.subject,
            relation=said.relation,
            object=said.object,
            subject_entity=said.subject_entity,
            object_entity=said.object_entity,
            speaker=said.speaker,
            key=said.key,
        )
        db.write(
            "UPDATE passage_versions SET text = ?, tags = ?, metadata = ?, facets = ?,"
            " reason = CASE version WHEN ? THEN reason ELSE '' END"
            " WHERE number = ? AND version = ?",
            (
                model.text,
                json.dumps(model.tags, ensure_ascii=False),
                json.dumps(model.metadata, ensure_ascii=False),
                facet_columns.facets_json(facets),
                model.version,
                number,
                row["version"],
            ),
        )
    _take_over(state, number)
