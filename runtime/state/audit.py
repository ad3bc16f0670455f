"""The audit log: append only, each row with the hash of the one before it, so that no row can be
changed, taken out, put in or moved without being found (`faults`).

add() writes one row in the transaction of the change that it tells of: there is a change and its
row, or neither. A row holds ids, words of ours, counts and hashes, never content; what a text said
is told by a keyed hash, and new_key() lets the old key go, so that a short text that was erased
cannot be guessed from its hash. restart() begins a chain anew in a copy that is not its agent.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.trust_schema import AUDIT_STATEMENTS

KEY: Final = "audit_key"  # of meta: of the hashes of texts
_ROWS = 500  # read at once

# Every op there is, and what a row of it tells.
OPS: Final[dict[str, str]] = {
    "begun": "the chain of an agent, an archive or the home begins",
    "key changed": "the hashes of texts before this row say nothing any more",
    "inserted": "a record was stored",
    "secret left out": "a secret in what a model wrote was not stored; its kind is told",
    "quarantined": "a record was stored, or set aside, until a person has seen it",
    "edited": "a record has a new version",
    "superseded": "another record took its place",
    "retired": "a record was deleted or forgotten; it can be restored",
    "restored": "a retired record is active again",
    "burst": "many records that say nearly the same came from one source, or in one turn",
    "released": "a person let a record out of quarantine",
    "taken back": "a move of the time machine gave a record another version",
    "block written": "a block has a new version",
    "change applied": "a planned change was made",
    "change rejected": "a planned change was refused",
    "change undone": "a planned change that was made was taken back",
    "linked": "two records were linked",
    "unlinked": "a link was taken away",
    "trust raised": "a person raised the trust of something",
    "trust lowered": "a person does not trust something any more, or what rests on it",
    "call approved": "a person consented to a call",
    "call refused": "a person refused a call",
    "tools accepted": "a person accepted what an MCP server says of its tools",
    "revoked": "what came from a source was taken back",
    "erased": "something was erased for good",
    "imported": "rows came out of a file",
    "forked": "this agent is a copy of another",
    "rewound": "the agent went back to an earlier message",
    "turns undone": "the newest turns were taken back",
    "brought back": "a line that was left is gone on with",
    "agent made": "an agent was made",
    "agent removed": "an agent was deleted, with its chain",
    "archive made": "a shared archive was made",
    "archive removed": "a shared archive was deleted, with its chain",
    "shared block written": "a shared block has a new version",
    "shared block removed": "a shared block was deleted",
}


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One row. `digest` is the keyed hash of what was written, "" for nothing."""

    number: int
    at: datetime
    op: str
    target: str
    version: int
    by: str
    trust: int
    digest: str
    detail: dict[str, Any]
    hash: str

    def as_json(self) -> dict[str, Any]:
        """An item of `audit show`."""
        return {
            "number": self.number,
            "at": rfc3339(self.at),
            "op": self.op,
            "target": self.target,
            "version": self.version,
            "by": self.by,
            "trust": self.trust,
            "digest": self.digest,
            "detail": self.detail,
            "hash": self.hash,
        }


@dataclass(frozen=True, slots=True)
class Head:
    """The newest row of a chain; 0 and "" of none."""

    number: int
    hash: str


NOTHING: Final = Head(0, "")


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first row at which a chain is not what it was, and what that means."""

    number: int
    what: str


class Audit:
    """The chain of one database. `owner` is the meta key of whose it is."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    @property
    def owner(self) -> str:
        """Whose chain it is: the id of an agent or archive, or "home"."""
        return self._db.meta("agent_id") or self._db.meta("archive_id") or "home"

    # --- writing --------------------------------------------------------------------------------

    def add(
        self,
        op: str,
        target: str,
        *,
        version: int = 0,
        by: str,
        trust: int = 100,
        text: str | None = None,
        **detail: Any,
    ) -> None:
        """One row. `text` is what was written, of which only a keyed hash is kept; `detail` is
        ids, counts and words of ours. Call it in the transaction of the change."""
        assert op in OPS, f"{op!r} is no op of the audit log: give it its line in OPS"
        with self._db.transaction():
            head = self.head()
            if head == NOTHING:
                head = self._append(NOTHING, "begun", self.owner, 0, "runtime", 100, "", {})
            digest = self.digest(text) if text is not None else ""
            self._append(head, op, target, version, by, trust, digest, detail)

    def _append(
        self,
        head: Head,
        op: str,
        target: str,
        version: int,
        by: str,
        trust: int,
        digest: str,
        detail: dict[str, Any],
    ) -> Head:
        said = json.dumps(detail, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        at = rfc3339(self._clock.now())
        values = (head.number + 1, at, op, target, version, by, trust, digest, said)
        hash = _hash(head.hash, values)
        self._db.write(
            "INSERT INTO audit VALUES (?,?,?,?,?,?,?,?,?,?,?)", (*values, head.hash, hash)
        )
        return Head(head.number + 1, hash)

    def digest(self, text: str) -> str:
        """The keyed hash of a text, by the key of now."""
        key = self._db.meta(KEY)
        if not key:
            key = secrets.token_hex(32)
            self._db.set_meta(KEY, key)
        return _keyed(key, text)

    def hashing(self) -> Callable[[str], str]:
        """digest(), for many texts of one instant."""
        return partial(_keyed, self._db.meta(KEY))

    def new_key(self, by: str) -> None:
        """After an erasure: nobody can say any more whether a guess is what a row tells of."""
        with self._db.transaction():
            self._db.set_meta(KEY, secrets.token_hex(32))
            self.add("key changed", self.owner, by=by)

    def restart(self, op: str, target: str, *, by: str, **detail: Any) -> None:
        """In a copy: a chain and a key of its own, whose second row says where it came from."""
        with self._db.transaction():
            self._db.write("DROP TABLE audit")
            for statement in AUDIT_STATEMENTS:
                self._db.write(statement)
            self._db.set_meta(KEY, "")
            self.add(op, target, by=by, **detail)

    # --- reading --------------------------------------------------------------------------------

    def head(self) -> Head:
        row = self._db.one("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1")
        return Head(row["number"], row["hash"]) if row is not None else NOTHING

    def hash_of(self, number: int) -> str:
        """The hash of a row; "" if there is none of that number."""
        row = self._db.one("SELECT hash FROM audit WHERE number = ?", (number,))
        return str(row["hash"]) if row is not None else ""

    def rows(
        self, *, after: int = 0, since: datetime | None = None, op: str = "", target: str = ""
    ) -> Iterator[AuditRow]:
        """In order, read as far as they are asked for."""
        for row in self._read(after):
            if op in ("", row["op"]) and target in ("", row["target"]):
                found = _row(row)
                if since is None or found.at >= since:
                    yield found

    def key_changed(self) -> int:
        """The number of the row since which the hashes of texts are of the key of now."""
        return self._db.number("SELECT max(number) FROM audit WHERE op = 'key changed'")

    def faults(self, head: Head = NOTHING) -> ChainFault | None:
        """The first row that is not what was written, None for a whole chain; `head` is the
        newest row that somebody else has noted of it."""
        before, number = "", 0
        for row in self._read(0):
            number += 1
            if row["number"] != number:
                return ChainFault(number, "it is missing: it was taken out, or its number changed")
            if row["previous"] != before:
                return ChainFault(number, "it does not follow the row before it: rows were moved")
            values = tuple(row)[: len(_COLUMNS)]
            if row["hash"] != _hash(before, values):
                return ChainFault(number, "it was changed after it was written")
            if number == 1 and (row["op"], row["target"]) != ("begun", self.owner):
                return ChainFault(1, "it is not how the chain of this one begins")
            if number == head.number and row["hash"] != head.hash:
                return ChainFault(number, "the home noted another row here: it was written anew")
            before = row["hash"]
        if number < head.number:
            return ChainFault(
                number + 1, f"the home noted {head.number:,} rows: the end of the chain was cut"
            )
        return None

    def _read(self, after: int) -> Iterator[Row]:
        while rows := self._db.rows(
            f"SELECT {', '.join(_COLUMNS)}, previous, hash FROM audit WHERE number > ?"
            f" ORDER BY number LIMIT {_ROWS}",
            (after,),
        ):
            yield from rows
            after = rows[-1]["number"]


_COLUMNS = ("number", "at", "op", "target", "version", "by", "trust", "digest", "detail")


def _keyed(key: str, text: str) -> str:
    return hmac.new(bytes.fromhex(key), text.encode("utf-8"), hashlib.sha256).hexdigest()


def _hash(previous: str, values: tuple[Any, ...]) -> str:
    """Of a row and, by the hash of the one before, of all that came before it."""
    said = json.dumps(values, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(f"{previous}\n{said}".encode("ascii")).hexdigest()


def _row(row: Row) -> AuditRow:
    return AuditRow(
        number=row["number"],
        at=parse_rfc3339(row["at"]),
        op=row["op"],
        target=row["target"],
        version=row["version"],
        by=row["by"],
        trust=row["trust"],
        digest=row["digest"],
        detail=json.loads(row["detail"]),
        hash=row["hash"],
    )
