"""Shared blocks (home.db): the value of now and every version, each with its author and reason.

Versions of a block are linear: a change is made from the newest value, in one transaction, so that
of two processes that change it at once the second one changes what the first has made of it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import NotFound, SharedBlockExists
from pagemind.runtime.message import Origin
from pagemind.runtime.naming import nearest
from pagemind.runtime.state.audit_heads import HomeAudit
from pagemind.runtime.state.blocks import BlockVersion
from pagemind.runtime.state.database import Database, Row


@dataclass(frozen=True, slots=True)
class SharedBlock:
    """A shared block as it is now. `id` is another one for a block that was deleted and made
    anew; `newest` says who made the value, when and why, `origin` what kind of author, and `trust`
    how far it is trusted: as the least of what stands in it."""

    name: str
    id: str
    value: str
    limit: int
    description: str
    newest: BlockVersion
    origin: Origin
    trust: int

    @property
    def version(self) -> int:
        return self.newest.version


class SharedBlocks:
    """Those of one home. Names are labels: lower-case letters, digits, _ and -."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock
        self._audit = HomeAudit(database, clock)

    def all(self) -> list[SharedBlock]:
        """Every one, by name."""
        return [_block(row) for row in self._db.rows(f"{_NOW} ORDER BY b.name")]

    def get(self, name: str) -> SharedBlock | None:
        row = self._db.one(f"{_NOW} WHERE b.name = ?", (name,))
        return _block(row) if row is not None else None

    def find(self, name: str) -> SharedBlock:
        """Raises NotFound with the nearest names."""
        if found := self.get(name):
            return found
        hint = nearest(
            name,
            [each.name for each in self.all()],
            otherwise=f"`pagemind blocks new {name}` makes it",
        )
        raise NotFound(f"no shared block is called {name!r}", hint=hint)

    def make(
        self,
        name: str,
        value: str,
        *,
        limit: int,
        description: str,
        author: str,
        origin: Origin,
        trust: int = 100,
    ) -> SharedBlock:
        """Raises SharedBlockExists."""
        with self._db.transaction():
            if self.get(name) is not None:
                raise SharedBlockExists(
                    f"there is a shared block called {name!r} already",
                    hint=f"`pagemind blocks show {name}` shows it",
                )
            self._db.write(
                "INSERT INTO shared_blocks VALUES (?,?,?,?,?,?)",
                (name, self._clock.new_id(), 0, "", limit, description),
            )
            self._put(name, 1, value, author=author, reason="made", origin=origin, trust=trust)
            return self.find(name)

    def change(
        self,
        name: str,
        make: Callable[[SharedBlock], str],
        *,
        author: str,
        reason: str,
        origin: Origin,
        trust: int = 100,
        most: int | None = None,
    ) -> SharedBlock:
        """A new version, made of the newest; what `make` raises leaves the block as it is. An
        equal value is no version. `trust` is that of what is written, `most` that of what stays in
        it; None: as the version before. Raises NotFound."""
        with self._db.transaction():
            now = self.find(name)
            value = make(now)
            if value == now.value:
                return now
            stays = (now.trust if now.value else 100) if most is None else most
            self._put(
                name,
                now.version + 1,
                value,
                author=author,
                reason=reason,
                origin=origin,
                trust=min(trust, stays),
            )
            return self.find(name)

    def _put(
        self,
        name: str,
        version: int,
        value: str,
        *,
        author: str,
        reason: str,
        origin: Origin,
        trust: int,
    ) -> None:
        self._db.write(
            "UPDATE shared_blocks SET version = ?, value = ? WHERE name = ?", (version, value, name)
        )
        self._db.write(
            "INSERT INTO shared_block_versions VALUES (?,?,?,?,?,?,?,?)",
            (name, version, value, rfc3339(self._clock.now()), author, reason, origin, trust),
        )
        self._audit.add(
            "shared block written",
            f"block:{name}",
            version=version,
            by=author,
            trust=trust,
            text=value,
        )

    def describe(
        self, name: str, *, limit: int | None = None, description: str | None = None
    ) -> SharedBlock:
        """Another limit or description; what is None stays. It is no version of the value, which
        may be longer than a new limit until it is next written. Raises NotFound."""
        with self._db.transaction():
            now = self.find(name)
            self._db.write(
                "UPDATE shared_blocks SET char_limit = ?, description = ? WHERE name = ?",
                (
                    now.limit if limit is None else limit,
                    now.description if description is None else description,
                    name,
                ),
            )
            return self.find(name)

    def history(self, name: str) -> list[BlockVersion]:
        """Every version, the oldest first."""
        rows = self._db.rows(
            "SELECT * FROM shared_block_versions WHERE name = ? ORDER BY version", (name,)
        )
        return [_version(row) for row in rows]

    def trust_of(self, name: str, version: int) -> int:
        """How far a version is trusted."""
        return self._db.number(
            "SELECT trust FROM shared_block_versions WHERE name = ? AND version = ?",
            (name, version),
        )

    def set_trust(self, name: str, trust: int) -> None:
        """Trust what the block says now as far as a person says."""
        self._db.write(
            "UPDATE shared_block_versions SET trust = ? WHERE name = ? AND version ="
            " (SELECT version FROM shared_blocks b WHERE b.name = shared_block_versions.name)",
            (trust, name),
        )

    def delete(self, name: str) -> None:
        """With all its versions."""
        with self._db.transaction():
            self._db.write("DELETE FROM shared_blocks WHERE name = ?", (name,))
            self._db.write("DELETE FROM shared_block_versions WHERE name = ?", (name,))
            self._audit.add("shared block removed", f"block:{name}", by="user")


_NOW = (
    "SELECT b.id, b.char_limit, b.description, v.* FROM shared_blocks b"
    " JOIN shared_block_versions v ON v.name = b.name AND v.version = b.version"
)


def _version(row: Row) -> BlockVersion:
    at = parse_rfc3339(row["at"])
    return BlockVersion(row["version"], row["value"], at, row["author"], row["reason"])


def _block(row: Row) -> SharedBlock:
    return SharedBlock(
        row["name"],
        row["id"],
        row["value"],
        row["char_limit"],
        row["description"],
        _version(row),
        row["origin"],
        row["trust"],
    )
