"""Passages on disk: the current text and every version, which the audit log tells of; deletion
retires, erasure deletes."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import RecordChanged
from pagemind.runtime.message import Provenance, Status
from pagemind.runtime.passage import Facets, Passage, RecordKind
from pagemind.runtime.settings import SUMMARY_TRUST
from pagemind.runtime.state import facet_columns
from pagemind.runtime.state.audit import Audit
from pagemind.runtime.state.blocks import BlockVersion
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.lineage import Lineage
from pagemind.runtime.state.provenance_columns import columns_of, provenance_of
from pagemind.runtime.state.screen import Screen

_NOTE = Facets()
_FOR_GOOD = "9999"  # later than any time to live


def digest(text: str) -> str:
    """What makes two passages the same: the text without the white space around it."""
    return hashlib.sha256(text.strip().encode("utf-8")).hexdigest()


class Passages:
    """Passages of one agent."""

    def __init__(self, database: Database, clock: Clock, screen: Screen | None = None) -> None:
        self._db = database
        self._clock = clock
        self._screen = screen or Screen()
        self._lineage = Lineage(database, clock)
        self._audit = Audit(database, clock)

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str],
        importance: float | None,
        metadata: Mapping[str, Any],
        seq: int,
        provenance: Provenance,
        author: str,
        id: str | None = None,
        created_at: datetime | None = None,
        facets: Facets = _NOTE,
        reason: str = "inserted",
    ) -> tuple[Passage, bool]:
        """The stored passage and True, or the active one that says the same and False: the same
        text of the same kind about the same subject, for the same scope and owner, that still
        holds, and is kept as long. What is over already is not the same as that, nor is what is
        untrusted the same as what is trusted.

        What comes out of a file has its time, and an id: the one with that id, retired or not, is
        the same. Its sources become its lineage. Secrets are kept out by the rule of the definition
        (screen.py), which may raise ToolFailed.
        """
        db = self._db
        look = self._screen.look(author, provenance.origin)
        text, facets = look.text(text), look.facets(facets)
        tags, metadata = look.json(tuple(tags), "tags"), look.json(metadata, "metadata")
        with db.transaction():
            same = db.one(
                "SELECT * FROM passages WHERE digest = ? AND status = 'active' AND kind = ?"
                " AND scope = ? AND owner = ? AND key = ? AND subject_entity IS ? AND relation = ?"
                " AND object = ? AND valid_to IS NULL AND superseded_by IS NULL AND cold = 0"
                " AND ? IS NULL AND (expires_at IS NULL OR expires_at >= ?) AND trust >= ?"
                " OR id = ? LIMIT 1",
                (
                    digest(text),
                    facets.kind,
                    facets.scope,
                    facets.owner,
                    facets.key,
                    facets.subject_entity,
                    facets.relation,
                    facets.object,
                    facets.superseded_by or (facets.valid_to and rfc3339(facets.valid_to)),
                    rfc3339(facets.expires_at) if facets.expires_at else _FOR_GOOD,
                    min(provenance.trust, SUMMARY_TRUST),
                    id or "",
                ),
            )
            if same:
                return passage_of(same), False
            now = self._clock.now()
            passage = Passage(
                number=0,
                id=id or self._clock.new_id(),
                text=text,
                tags=tuple(tags),
                importance=importance,
                metadata=dict(metadata),
                seq=seq,
                created_at=created_at or now,
                updated_at=now,
                provenance=provenance,
                facets=facets,
            )
            number = db.write(
                "INSERT INTO passages (id, text, digest, tags, importance, metadata, version, seq,"
                " created_at, updated_at, origin, origin_detail, trust, status, sources,"
                f" {', '.join(facet_columns.COLUMNS)})"
                f" VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?{',?' * len(facet_columns.COLUMNS)})",
                (
                    passage.id,
                    text,
                    digest(text),
                    json.dumps(passage.tags, ensure_ascii=False),
                    importance,
                    json.dumps(passage.metadata, ensure_ascii=False),
                    1,
                    seq,
                    rfc3339(created_at or now),
                    rfc3339(now),
                    *columns_of(provenance),
                    *facet_columns.columns_of(facets),
                ),
            )
            passage = replace(passage, number=number)
            waits = passage.provenance.status == "pending"
            op = "quarantined" if waits else "inserted"
            self._keep_version(passage, author, reason, seq, op)
            self._lineage.add(passage.short_id, provenance.sources, "from", seq=seq)
            self._note(passage, author, look.kinds, seq)
        return passage, True

    def waiting(self, text: str, facets: Facets) -> Passage | None:
        """The record that waits for a person and says the same, of the same kind, for the same
        scope and owner."""
        row = self._db.one(
            "SELECT * FROM passages WHERE digest = ? AND status = 'pending' AND kind = ?"
            " AND scope = ? AND owner = ? AND relation = ? ORDER BY number LIMIT 1",
            (digest(text), facets.kind, facets.scope, facets.owner, facets.relation),
        )
        return passage_of(row) if row else None

    def said(self, text: str, facets: Facets) -> Passage | None:
        """The active record that says the same, of the same kind, for the same scope and owner."""
        row = self._db.one(
            "SELECT * FROM passages WHERE digest = ? AND status = 'active' AND kind = ?"
            " AND scope = ? AND owner = ? AND superseded_by IS NULL AND valid_to IS NULL"
            " AND cold = 0 LIMIT 1",
            (digest(text), facets.kind, facets.scope, facets.owner),
        )
        return passage_of(row) if row else None

    def was_active(self, number: int) -> bool:
        """Whether it ever was: what a person has not let in was not."""
        return (
            self._db.one(
                "SELECT 1 FROM passage_versions WHERE number = ? AND status = 'active' LIMIT 1",
                (number,),
            )
            is not None
        )

    def all_waiting(self) -> list[Passage]:
        """The records that wait for a person, the oldest first."""
        rows = self._db.rows("SELECT * FROM passages WHERE status = 'pending' ORDER BY number")
        return [passage_of(row) for row in rows]

    def newest_waiting(self, count: int) -> list[Passage]:
        """The newest of them, the oldest of these first."""
        rows = self._db.rows(
            "SELECT * FROM passages WHERE status = 'pending' ORDER BY number DESC LIMIT ?", (count,)
        )
        return [passage_of(row) for row in reversed(rows)]

    def edit(
        self,
        number: int,
        text: str | None,
        *,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        no_importance: bool = False,
        metadata: Mapping[str, Any] | None = None,
        facets: Facets | None = None,
        base: int | None = None,
        trust: int | None = None,
        author: str,
        reason: str,
        seq: int,
    ) -> Passage | None:
        """A new version, in which what is None stays as it was (`no_importance` takes that away);
        None if there is no active passage of that number. `trust` is that of what the new words
        were made of: where it is less, the record is trusted no more from then on. Raises
        RecordChanged if it is not of the version `base` any more."""
        with self._db.transaction():
            found = self.get([number]).get(number)
            if found is None or found.provenance.status == "retired":
                return None
            _check_base(found, base)
            look = self._screen.look(author)
            text = None if text is None else look.text(text)
            metadata = None if metadata is None else look.json(metadata, "metadata")
            facets = None if facets is None else look.facets(facets)
            changed = replace(
                found,
                text=found.text if text is None else text,
                tags=found.tags if tags is None else tuple(tags),
                importance=found.importance
                if importance is None and not no_importance
                else importance,
                metadata=found.metadata if metadata is None else dict(metadata),
                facets=found.facets if facets is None else facets,
                version=found.version + 1,
                updated_at=self._clock.now(),
                provenance=found.provenance if trust is None else found.provenance.at_most(trust),
            )
            self._update(changed)
            self._keep_version(changed, author, reason, seq, _what_edit(found, changed))
            self._note(changed, author, look.kinds, seq)
        return changed

    def _note(self, passage: Passage, by: str, kinds: Collection[str], seq: int) -> None:
        """Tell in the audit log which kinds of secrets were taken out of a record."""
        if kinds:
            self._audit.add(
                "secret left out",
                passage.short_id,
                version=passage.version,
                by=by,
                kinds=sorted(kinds),
                seq=seq,
            )

    def set_status(
        self,
        number: int,
        status: Status,
        *,
        base: int | None = None,
        author: str,
        reason: str,
        seq: int,
    ) -> Passage | None:
        """Retire a passage, or bring it back; None if there is none of that number. Raises
        RecordChanged as edit()."""
        with self._db.transaction():
            found = self.get([number]).get(number)
            if found is None or found.provenance.status == status:
                return None
            _check_base(found, base)
            changed = replace(
                found,
                version=found.version + 1,
                updated_at=self._clock.now(),
                provenance=replace(found.provenance, status=status),
            )
            self._update(changed)
            waited = found.provenance.status == "pending"
            op = {"retired": "retired", "pending": "quarantined"}.get(
                status, "released" if waited else "restored"
            )
            self._keep_version(changed, author, reason, seq, op)
        return changed

    def set_trust(self, number: int, trust: int, *, by: str = "user") -> None:
        """Trust a record as far as a person says; no new version, since it says the same."""
        with self._db.transaction():
            found = self.get([number]).get(number)
            if found is None or found.provenance.trust == trust:
                return
            was = found.provenance.trust
            op = "trust raised" if trust > was else "trust lowered"
            self._audit.add(op, f"a{number}", version=found.version, by=by, trust=trust, was=was)
            self._db.write("UPDATE passages SET trust = ? WHERE number = ?", (trust, number))
            self._db.write(
                "INSERT OR REPLACE INTO outbox (tier, key, op) SELECT 'archival', number,"
                " CASE status WHEN 'retired' THEN 'delete' ELSE 'put' END FROM passages"
                " WHERE number = ?",
                (number,),
            )

    def changed_since(self, seq: int) -> list[int]:
        """The numbers of passages that have a version made when the newest seq was this one, or
        later."""
        rows = self._db.rows(
            "SELECT DISTINCT number FROM passage_versions WHERE seq >= ? ORDER BY number", (seq,)
        )
        return [row["number"] for row in rows]

    def go_back(
        self, number: int, before: int, *, author: str, reason: str, seq: int
    ) -> tuple[Passage, Passage, str] | None:
        """Make a passage what it was just before a message was given its seq, as a new version;
        retired, if there was none. What it was until now, what it is, and who had made the first
        of the changes that this takes back; None if it is that already."""
        with self._db.transaction():
            now = self.get([number])[number]
            row = self._db.one(
                "SELECT * FROM passage_versions WHERE number = ? AND seq < ?"
                " ORDER BY version DESC LIMIT 1",
                (number, before),
            )
            then = replace(now, provenance=replace(now.provenance, status="retired"))
            if row is not None:
                then = as_version(now, row)
            if replace(then, version=now.version, updated_at=now.updated_at) == now:
                return None
            then = replace(then, version=now.version + 1, updated_at=self._clock.now())
            by = self._db.one(
                "SELECT author FROM passage_versions WHERE number = ? AND seq >= ?"
                " ORDER BY version LIMIT 1",
                (number, before),
            )
            self._update(then)
            self._keep_version(then, author, reason, seq, "taken back")
        return now, then, str(by["author"]) if by else ""

    def _update(self, passage: Passage) -> None:
        assert passage.updated_at is not None
        self._db.write(
            "UPDATE passages SET text = ?, digest = ?, tags = ?, importance = ?, metadata = ?,"
            " version = ?, updated_at = ?, status = ?, trust = ?,"
            f" {', '.join(f'{name} = ?' for name in facet_columns.COLUMNS)} WHERE number = ?",
            (
                passage.text,
                digest(passage.text),
                json.dumps(passage.tags, ensure_ascii=False),
                passage.importance,
                json.dumps(passage.metadata, ensure_ascii=False),
                passage.version,
                rfc3339(passage.updated_at),
                passage.provenance.status,
                passage.provenance.trust,
                *facet_columns.columns_of(passage.facets),
                passage.number,
            ),
        )

    def _keep_version(self, passage: Passage, author: str, reason: str, seq: int, op: str) -> None:
        assert passage.updated_at is not None
        self._db.write(
            "INSERT INTO passage_versions VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                passage.number,
                passage.version,
                passage.text,
                json.dumps(passage.tags, ensure_ascii=False),
                passage.importance,
                json.dumps(passage.metadata, ensure_ascii=False),
                passage.provenance.status,
                rfc3339(passage.updated_at),
                author,
                reason,
                seq,
                facet_columns.facets_json(passage.facets),
            ),
        )
        to_do = "delete" if passage.provenance.status == "retired" else "put"
        self._db.write(
            "INSERT OR REPLACE INTO outbox (tier, key, op) VALUES ('archival', ?, ?)",
            (passage.number, to_do),
        )
        told = dict[str, Any]()
        if passage.facets.kind != "note":
            told["kind"] = passage.facets.kind
        if op == "superseded":
            told["by_record"] = f"a{passage.facets.superseded_by}"
        self._audit.add(
            op,
            passage.short_id,
            version=passage.version,
            by=author,
            trust=passage.provenance.trust,
            text=passage.text,
            seq=seq,
            status=passage.provenance.status,
            **told,
        )

    def get(self, numbers: Sequence[int]) -> dict[int, Passage]:
        """Those passages that exist, retired ones too, by number."""
        found: dict[int, Passage] = {}
        for row in self._db.rows_in("SELECT * FROM passages WHERE number", numbers):
            found[row["number"]] = passage_of(row)
        return found

    def newest(
        self, limit: int, *, before: int | None = None, kind: RecordKind | None = None
    ) -> list[Passage]:
        """Active passages, of one kind or all, newest first; those that no longer hold among
        them."""
        rows = self._db.rows(
            f"SELECT * FROM passages WHERE status = 'active' AND number < ? AND {_of(kind)}"
            " ORDER BY number DESC LIMIT ?",
            (before if before is not None else 1 << 62, kind, limit),
        )
        return [passage_of(row) for row in rows]

    def of_kind(self, kind: RecordKind) -> list[Passage]:
        """All of a kind, whatever became of them, the oldest first."""
        rows = self._db.rows(f"SELECT * FROM passages WHERE {_of(kind)} ORDER BY number", (kind,))
        return [passage_of(row) for row in rows]

    def named(self, kind: RecordKind, scope: str, key: str) -> Passage | None:
        """The active record of a key in a scope that still holds."""
        row = self._db.one(
            "SELECT * FROM passages WHERE kind = ? AND scope = ? AND key = ? AND key <> ''"
            " AND status <> 'retired' AND valid_to IS NULL AND superseded_by IS NULL"
            " ORDER BY number DESC LIMIT 1",
            (kind, scope, key),
        )
        return passage_of(row) if row else None

    def superseded_by(self, number: int) -> list[Passage]:
        """The records whose place this one took."""
        rows = self._db.rows(
            "SELECT * FROM passages WHERE superseded_by = ? ORDER BY number", (number,)
        )
        return [passage_of(row) for row in rows]

    def version(self, number: int, version: int) -> Passage | None:
        """A record as one of its versions has it."""
        row = self._db.one(
            "SELECT * FROM passage_versions WHERE number = ? AND version = ?", (number, version)
        )
        now = self.get([number]).get(number)
        return as_version(now, row) if row is not None and now is not None else None

    def as_known(self, number: int, at: datetime) -> Passage | None:
        """A record as it was believed at a time: the newest version of then; None if there was
        none, or it was retired."""
        row = self._db.one(
            "SELECT * FROM passage_versions WHERE number = ? AND at <= ?"
            " ORDER BY version DESC LIMIT 1",
            (number, rfc3339(at)),
        )
        now = self.get([number]).get(number)
        if row is None or now is None or row["status"] == "retired":
            return None
        return as_version(now, row)

    def after(self, number: int, limit: int) -> list[Passage]:
        """Active passages that follow a number, oldest first."""
        rows = self._db.rows(
            "SELECT * FROM passages WHERE status = 'active' AND number > ? ORDER BY number LIMIT ?",
            (number, limit),
        )
        return [passage_of(row) for row in rows]

    @property
    def last_number(self) -> int:
        """The number of the newest passage ever; 0 before the first."""
        return self._db.number("SELECT coalesce(max(number), 0) FROM passages")

    def old(self, kind: RecordKind, before: datetime, after: int, limit: int) -> list[Passage]:
        """Active records of a kind from before a time that are not cold and may go cold, and
        follow a number; the oldest number first."""
        rows = self._db.rows(
            f"SELECT * FROM passages WHERE status = 'active' AND {_of(kind)} AND created_at < ?"
            " AND number > ? AND cold = 0 AND evergreen = 0 AND superseded_by IS NULL"
            " ORDER BY number LIMIT ?",
            (kind, rfc3339(before), after, limit),
        )
        return [passage_of(row) for row in rows]

    def unrated(self, after: int, limit: int) -> list[Passage]:
        """Active records that follow a number and have no importance, the oldest first; without
        pieces of documents."""
        rows = self._db.rows(
            "SELECT * FROM passages WHERE status = 'active' AND importance IS NULL AND number > ?"
            " AND cold = 0 AND superseded_by IS NULL AND kind NOT IN ('skill', 'item')"
            " AND origin <> 'document' ORDER BY number LIMIT ?",
            (after, limit),
        )
        return [passage_of(row) for row in rows]

    def kept(self) -> Iterator[Passage]:
        """All that are not retired, those that wait among them, in order."""
        after = 0
        while rows := self._db.rows(
            "SELECT * FROM passages WHERE status <> 'retired' AND number > ? ORDER BY number"
            " LIMIT 1000",
            (after,),
        ):
            yield from map(passage_of, rows)
            after = rows[-1]["number"]

    def retired(self) -> list[int]:
        """The numbers of passages that are deleted, and of none that waits."""
        rows = self._db.rows("SELECT number FROM passages WHERE status = 'retired'")
        return [row["number"] for row in rows]

    def version_count(self) -> int:
        """Grows with every change of any passage."""
        return self._db.number("SELECT count(*) FROM passage_versions")

    def count(self) -> int:
        return self._db.number("SELECT count(*) FROM passages WHERE status = 'active'")

    def searched(self) -> int:
        """How many a search looks through that asks for nothing special: what has a shelf of its
        own is left out."""
        shelved = self._db.number(
            "SELECT count(*) FROM passages WHERE status = 'active'"
            " AND kind IN ('episode', 'skill', 'item') AND kind <> 'note'"
        )
        return self.count() - shelved

    def scopes(self) -> list[str]:
        """Every scope below the root that something active stands in, by name."""
        rows = self._db.rows(
            "SELECT DISTINCT scope FROM passages WHERE scope <> '/' AND status = 'active'"
            " ORDER BY scope"
        )
        return [row["scope"] for row in rows]

    def any_private(self) -> bool:
        """Whether any is private to somebody; an index says so at once."""
        return self._db.one("SELECT 1 FROM passages WHERE owner <> '' LIMIT 1") is not None

    def history(self, number: int) -> list[BlockVersion]:
        """Every version, oldest first."""
        return [
            BlockVersion(
                row["version"], row["text"], parse_rfc3339(row["at"]), row["author"], row["reason"]
            )
            for row in self._db.rows(
                "SELECT * FROM passage_versions WHERE number = ? ORDER BY version", (number,)
            )
        ]


def _what_edit(before: Passage, after: Passage) -> str:
    """What an edit is to the audit log."""
    taken = after.facets.superseded_by not in (None, before.facets.superseded_by)
    return "superseded" if taken else "edited"


def _of(kind: RecordKind | None) -> str:
    """Whether a record is of a kind (?), None for any; by the index of kinds, which has no
    notes."""
    if kind is None:
        return "? IS NULL"
    return "kind = ?" if kind == "note" else "kind = ? AND kind <> 'note'"


def passage_of(row: Row) -> Passage:
    """A passages row as a value."""
    return Passage(
        number=row["number"],
        id=row["id"],
        text=row["text"],
        tags=tuple(json.loads(row["tags"])),
        importance=row["importance"],
        metadata=json.loads(row["metadata"]),
        version=row["version"],
        seq=row["seq"],
        created_at=parse_rfc3339(row["created_at"]),
        updated_at=parse_rfc3339(row["updated_at"]),
        last_accessed=parse_rfc3339(row["last_accessed"]) if row["last_accessed"] else None,
        provenance=provenance_of(row),
        facets=facet_columns.facets_of(row),
    )


def as_version(passage: Passage, row: Row, prefix: str = "") -> Passage:
    """A passage as one of its versions has it: a row of passage_versions, whose columns may have a
    prefix."""
    return replace(
        passage,
        text=row[f"{prefix}text"],
        tags=tuple(json.loads(row[f"{prefix}tags"])),
        importance=row[f"{prefix}importance"],
        metadata=json.loads(row[f"{prefix}metadata"]),
        version=row[f"{prefix}version"],
        updated_at=parse_rfc3339(row[f"{prefix}at"]),
        provenance=replace(passage.provenance, status=row[f"{prefix}status"]),
        facets=facet_columns.facets_from(row[f"{prefix}facets"]),
    )


def _check_base(passage: Passage, base: int | None) -> None:
    if base is not None and passage.version != base:
        raise RecordChanged(
            f"{passage.short_id} is version {passage.version} now; the change was planned on"
            f" version {base}"
        )
