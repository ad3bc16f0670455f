"""Facts on disk: records found by whom they are about, now or as they were once known.

A view over passages: nothing of its own is stored but what the definition says of relations.
"""

import json
from collections.abc import Iterable
from datetime import datetime

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.message import Status
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import SUCCESSION_LONGEST, SUMMARY_TRUST
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.passages import as_version, passage_of

_SINGLE = "facts.single"  # of meta
_FACT = "kind = 'fact' AND kind <> 'note'"  # as the index of kinds has it: notes are not in it


class Facts:
    """Of one agent. "Of a subject" and "of an object" are the two sides of a fact."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @property
    def single(self) -> tuple[str, ...]:
        """Further relations of one value at a time, as the agent's definition names them."""
        return tuple(json.loads(self._db.meta(_SINGLE, "[]")))

    def set_single(self, relations: Iterable[str]) -> None:
        named = json.dumps(list(relations), ensure_ascii=False)
        if named != self._db.meta(_SINGLE, "[]"):
            self._db.set_meta(_SINGLE, named)

    def of_subject(
        self,
        entity: int,
        relation: str | None = None,
        limit: int = 1 << 31,
        status: Status = "active",
    ) -> list[Passage]:
        """Active facts about an entity, those that no longer hold among them, the newest first."""
        return self._of("subject_entity", entity, relation, limit, status)

    def of_object(
        self, entity: int, relation: str | None = None, limit: int = 1 << 31
    ) -> list[Passage]:
        """Active facts whose object it is."""
        return self._of("object_entity", entity, relation, limit, "active")

    def _of(
        self, side: str, entity: int, relation: str | None, limit: int, status: Status
    ) -> list[Passage]:
        rows = self._db.rows(
            f"SELECT * FROM passages WHERE {side} = ? AND (? IS NULL OR relation = ?)"
            " AND kind = 'fact' AND status = ? ORDER BY number DESC LIMIT ?",
            (entity, relation, relation, status, limit),
        )
        return [passage_of(row) for row in rows]

    def as_known(
        self, entity: int, relation: str | None, at: datetime, limit: int = 1 << 31
    ) -> list[Passage]:
        """The facts on either side of an entity as they were believed at a time, what was taken
        back or deleted since among them; the newest first."""
        rows = self._db.rows(
            "SELECT p.*, v.text v_text, v.tags v_tags, v.importance v_importance,"
            " v.metadata v_metadata, v.version v_version, v.at v_at, v.status v_status,"
            " v.facets v_facets FROM passages p JOIN passage_versions v ON v.number = p.number"
            " WHERE (p.subject_entity = ? OR p.object_entity = ?) AND p.kind = 'fact'"
            " AND (? IS NULL OR p.relation = ?) AND v.version = (SELECT max(w.version) FROM"
            " passage_versions w WHERE w.number = p.number AND w.at <= ?)"
            " AND v.status = 'active' ORDER BY p.number DESC LIMIT ?",
            (entity, entity, relation, relation, rfc3339(at), limit),
        )
        return [as_version(passage_of(row), row, "v_") for row in rows]

    def numbers_about(self, entities: Iterable[int], limit: int) -> list[int]:
        """Of the facts about some entities, the newest."""
        rows = self._db.rows_in(
            "SELECT number FROM passages WHERE kind = 'fact' AND status = 'active'"
            " AND subject_entity",
            list(entities),
        )
        return sorted((row["number"] for row in rows), reverse=True)[:limit]

    def successors(self, numbers: Iterable[int]) -> dict[int, int]:
        """For records that something took the place of: what has it now, over all steps."""
        rows = self._db.rows(
            "WITH RECURSIVE chain (first, at, steps) AS ("
            " SELECT value, value, 0 FROM json_each(?) UNION"
            " SELECT c.first, s.number, c.steps + 1 FROM chain c"
            " JOIN passages p ON p.number = c.at JOIN passages s ON s.number = p.superseded_by"
            " WHERE s.status = 'active' AND c.steps < ?)"
            " SELECT first, at FROM chain WHERE steps > 0 ORDER BY steps",
            (json.dumps(list(numbers)), SUCCESSION_LONGEST),
        )
        return {row["first"]: row["at"] for row in rows}

    def any(self) -> bool:
        """Whether there are facts at all."""
        return self._db.one(f"SELECT 1 FROM passages WHERE {_FACT} LIMIT 1") is not None

    def relations(self) -> list[str]:
        """Of active facts that are trusted, each once."""
        rows = self._db.rows(
            f"SELECT DISTINCT relation FROM passages WHERE {_FACT} AND status = 'active'"
            f" AND relation <> '' AND trust >= {SUMMARY_TRUST} ORDER BY relation"
        )
        return [row["relation"] for row in rows]

    def relations_of(self, entities: Iterable[int]) -> list[str]:
        """Those that anything is known of for some subjects."""
        rows = self._db.rows_in(
            "SELECT relation, subject_entity FROM passages WHERE kind = 'fact' AND"
            " status = 'active' AND subject_entity",
            list(entities),
        )
        return sorted({row["relation"] for row in rows if row["relation"]})

    def turnover(self, relation: str) -> tuple[int, int]:
        """How often a value of a relation took the place of another, and how many subjects have
        several at once; what is untrusted teaches nothing."""
        replaced = self._db.number(
            "SELECT count(*) FROM passages old JOIN passages new ON new.number = old.superseded_by"
            " WHERE old.kind = 'fact' AND old.status = 'active' AND old.relation = ?"
            " AND new.relation = old.relation AND new.subject_entity = old.subject_entity"
            f" AND new.object <> old.object AND new.trust >= {SUMMARY_TRUST}",
            (relation,),
        )
        beside = self._db.number(
            f"SELECT count(*) FROM (SELECT 1 FROM passages WHERE {_FACT} AND relation = ?"
            " AND status = 'active' AND valid_to IS NULL AND superseded_by IS NULL AND cold = 0"
            f" AND trust >= {SUMMARY_TRUST}"
            " GROUP BY subject_entity HAVING count(DISTINCT object) > 1)",
            (relation,),
        )
        return replaced, beside

    def rivals(self) -> list[tuple[Passage, ...]]:
        """Active, trusted facts that no other took the place of, of the same subject, relation,
        scope and owner, where they say different things: each such matter's, the oldest first."""
        rows = self._db.rows(
            "SELECT group_concat(number) AS numbers FROM passages"
            f" WHERE {_FACT} AND relation <> '' AND status = 'active' AND cold = 0"
            " AND subject_entity IS NOT NULL AND valid_to IS NULL AND superseded_by IS NULL"
            f" AND trust >= {SUMMARY_TRUST} GROUP BY subject_entity, relation, scope, owner"
            " HAVING count(DISTINCT coalesce(object_entity, lower(object))) > 1"
        )
        wanted = [[int(each) for each in row["numbers"].split(",")] for row in rows]
        found = {
            row["number"]: passage_of(row)
            for row in self._db.rows_in(
                "SELECT * FROM passages WHERE number", [n for each in wanted for n in each]
            )
        }
        return [tuple(found[n] for n in sorted(each)) for each in wanted]

    def entities(self) -> list[tuple[int, int]]:
        """Whom facts are about, with how many: the most first."""
        rows = self._db.rows(
            f"SELECT subject_entity, count(*) n FROM passages WHERE {_FACT}"
            " AND status = 'active' AND subject_entity IS NOT NULL"
            " GROUP BY subject_entity ORDER BY n DESC, subject_entity"
        )
        return [(row["subject_entity"], row["n"]) for row in rows]
