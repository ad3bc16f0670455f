"""Blocks of core memory on disk: the current value and every version with author and reason, each
with its row in the audit log."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.core_memory import Block
from pagemind.runtime.message import TRUST, Origin
from pagemind.runtime.state.audit import Audit
from pagemind.runtime.state.database import Database

_NONE_SHOWN: Mapping[str, int] = {}
SHARED = "shared_blocks"  # the meta key: which blocks are copies of a version of a shared one


@dataclass(frozen=True, slots=True)
class BlockVersion:
    """One version of a block's value."""

    version: int
    value: str
    at: datetime
    author: str
    reason: str


class Blocks:
    """Blocks of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock
        self._audit = Audit(database, clock)

    def all(self) -> list[Block]:
        return [
            Block(
                row["label"],
                row["value"],
                row["char_limit"],
                row["description"],
                bool(row["read_only"]),
                row["version"],
            )
            for row in self._db.rows("SELECT * FROM blocks ORDER BY position")
        ]

    def shared(self) -> dict[str, tuple[str, int]]:
        """The blocks that are copies: of which shared block, and of which version of it."""
        stored = json.loads(self._db.meta(SHARED, "{}"))
        return {label: (str(id), int(version)) for label, (id, version) in stored.items()}

    def note_shared(self, label: str, id: str, version: int) -> None:
        """A block is a copy of that version."""
        self._db.set_meta(SHARED, json.dumps({**self.shared(), label: (id, version)}))

    def at(self, versions: Mapping[str, int]) -> list[Block]:
        """The blocks as they were in these versions; one that is not named is left out."""
        values = {
            (row["label"], row["version"]): str(row["value"])
            for row in self._db.rows("SELECT label, version, value FROM block_versions")
        }
        found = []
        for block in self.all():
            version = versions.get(block.label, 0)
            if (value := values.get((block.label, version))) is not None:
                found.append(replace(block, value=value, version=version))
        return found

    def values(self, versions: Mapping[str, int]) -> dict[str, tuple[str, int]]:
        """The value of each block in the version that is named, and that version."""
        found = {}
        for label, version in versions.items():
            row = self._db.one(
                "SELECT value FROM block_versions WHERE label = ? AND version = ?", (label, version)
            )
            if row is not None:
                found[label] = (str(row["value"]), version)
        return found

    def save(
        self, block: Block, *, author: str, reason: str, seq: int, origin: Origin, trust: int | None
    ) -> None:
        """Store a new version. `block.version` must be the next one: a lost update is a fault."""
        trust = TRUST[origin] if trust is None else trust
        with self._db.transaction():
            found = self._db.number("SELECT version FROM blocks WHERE label = ?", (block.label,))
            assert block.version == found + 1, f"{block.label}: {found} -> {block.version}"
            position = self._db.number("SELECT count(*) FROM blocks")
            self._db.write(
                "INSERT INTO blocks VALUES (?,?,?,?,?,?,?) ON CONFLICT (label) DO UPDATE SET"
                " value = excluded.value, char_limit = excluded.char_limit,"
                " description = excluded.description, read_only = excluded.read_only,"
                " version = excluded.version",
                (
                    block.label,
                    position,
                    block.value,
                    block.limit,
                    block.description,
                    block.read_only,
                    block.version,
                ),
            )
            self._db.write(
                "INSERT INTO block_versions VALUES (?,?,?,?,?,?,?,?,?)",
                (
                    block.label,
                    block.version,
                    block.value,
                    rfc3339(self._clock.now()),
                    author,
                    reason,
                    seq,
                    origin,
                    trust,
                ),
            )
            self._audit.add(
                "block written",
                f"block:{block.label}",
                version=block.version,
                by=author,
                trust=trust,
                text=block.value,
                seq=seq,
            )

    def least_trust(self, shown: Mapping[str, int] = _NONE_SHOWN) -> int:
        """The lowest trust of any block as it is now, or in the version that is still `shown`; an
        empty one says nothing."""
        rows = self._db.rows(
            "SELECT v.label, v.version, v.trust, v.version = b.version AS newest"
            " FROM block_versions v JOIN blocks b ON b.label = v.label WHERE v.value <> ''"
            " AND (v.version = b.version OR v.version IN (SELECT value FROM json_each(?)))",
            (json.dumps(sorted(set(shown.values()))),),
        )
        seen = [r["trust"] for r in rows if r["newest"] or shown.get(r["label"]) == r["version"]]
        return min(seen, default=100)

    def trust_of(self, label: str, version: int | None = None) -> int:
        """How far a block is trusted, in a version or as it is now; fully if it is empty."""
        row = self._db.one(
            "SELECT v.trust FROM block_versions v JOIN blocks b ON b.label = v.label"
            " WHERE v.label = ? AND v.version = coalesce(?, b.version) AND v.value <> ''",
            (label, version),
        )
        return int(row["trust"]) if row is not None else 100

    def set_trust(self, label: str, trust: int) -> None:
        """Trust a block as it is now as far as a person says. What is less trusted now was so in
        earlier versions that may still be shown."""
        self._db.write(
            "UPDATE block_versions SET trust = CASE WHEN version = (SELECT b.version FROM blocks b"
            " WHERE b.label = block_versions.label) THEN ?1 ELSE min(trust, ?1) END"
            " WHERE label = ?2",
            (trust, label),
        )

    def trusts(self) -> dict[str, int]:
        """The trust of each block as it is now, in their order; an empty one says nothing."""
        rows = self._db.rows(
            "SELECT b.label, v.trust FROM block_versions v JOIN blocks b"
            " ON b.label = v.label AND b.version = v.version WHERE b.value <> ''"
            " ORDER BY b.position"
        )
        return {row["label"]: int(row["trust"]) for row in rows if row["trust"] is not None}

    def versions_before(self, seq: int) -> dict[str, int]:
        """The version of each block just before a message was given its seq; a block that came
        later is left out."""
        rows = self._db.rows(
            "SELECT label, max(version) AS version FROM block_versions WHERE seq < ?"
            " GROUP BY label",
            (seq,),
        )
        return {row["label"]: row["version"] for row in rows}

    def go_back(
        self, label: str, version: int, *, author: str, reason: str, seq: int
    ) -> tuple[str, str, str] | None:
        """Give a block the value of an earlier version, as a new one with the provenance of that.
        The value until now, the value, and who had made the first of the changes that this takes
        back; None if it has that value already."""
        with self._db.transaction():
            now = next(block for block in self.all() if block.label == label)
            then = self._db.one(
                "SELECT * FROM block_versions WHERE label = ? AND version = ?", (label, version)
            )
            if then is None or then["value"] == now.value:
                return None
            after = self._db.one(
                "SELECT author FROM block_versions WHERE label = ? AND version = ?",
                (label, version + 1),
            )
            self.save(
                replace(now, value=then["value"], version=now.version + 1),
                author=author,
                reason=reason,
                seq=seq,
                origin=then["origin"],
                trust=then["trust"],
            )
        return now.value, str(then["value"]), str(after["author"]) if after else ""

    def version(self, label: str, version: int) -> BlockVersion | None:
        """One version; None if there is none of that number."""
        row = self._db.one(
            "SELECT * FROM block_versions WHERE label = ? AND version = ?", (label, version)
        )
        if row is None:
            return None
        at = parse_rfc3339(row["at"])
        return BlockVersion(version, row["value"], at, row["author"], row["reason"])

    def history(self, label: str) -> list[BlockVersion]:
        """Every version, oldest first."""
        return [
            BlockVersion(
                row["version"], row["value"], parse_rfc3339(row["at"]), row["author"], row["reason"]
            )
            for row in self._db.rows(
                "SELECT * FROM block_versions WHERE label = ? ORDER BY version", (label,)
            )
        ]
