"""AuditLog: the audit log as a person asks for it. show() gives its rows; verify() finds what was
done to it, or to the memory that it tells of, behind its back.

verify() walks the chains of the home, of every agent and of every archive, holds each against what
the home has noted of it, and holds against the rows: the texts of records and blocks, the trust of
records, the receipts of erasures. An agent that is in use is verified as it is at this instant.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pagemind.runtime.clock import Clock
from pagemind.runtime.errors import PagemindError, StorageError
from pagemind.runtime.naming import checked_name
from pagemind.runtime.state.archives import ArchiveRegistry
from pagemind.runtime.state.audit import Audit, AuditRow, Head
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.home import Home
from pagemind.runtime.state.state import State

RECEIPTS = "receipts"  # the folder of the home with what erasures have proved, a JSON file each
Kind = Literal["home", "agent", "archive", "receipt"]
# Rows that say how far a record is trusted from then on.
_TRUSTED = frozenset(
    [
        *("inserted", "quarantined", "edited", "superseded", "retired", "restored", "released"),
        *("taken back", "trust raised", "trust lowered"),
    ]
)
_RECORD = re.compile(r"a(\d+)")


@dataclass(frozen=True, slots=True)
class Verified:
    """One chain, or one receipt. `fault` is "" where all is as it was written; else `row` is the
    first row that is not (0: of none). `head` is the newest row's hash: note it elsewhere, and
    nobody who has all of the home can write another chain unseen."""

    kind: Kind
    name: str
    rows: int = 0
    head: str = ""
    texts: int = 0  # that were held against their hashes
    row: int = 0
    fault: str = ""
    read: bool = True  # whether it could be

    def as_json(self) -> dict[str, Any]:
        """An item of `audit verify`."""
        return {
            "kind": self.kind,
            "name": self.name,
            "ok": not self.fault,
            "rows": self.rows,
            "head": self.head,
            "texts": self.texts,
            "row": self.row or None,
            "fault": self.fault,
        }


class AuditLog:
    """Of one home."""

    def __init__(self, home: Home, archives: ArchiveRegistry, clock: Clock) -> None:
        self._home = home
        self._archives = archives
        self._clock = clock

    def show(
        self, agent: str | None = None, *, since: datetime | None = None, op: str = ""
    ) -> list[AuditRow]:
        """The rows of an agent, or those of the home, in order. Raises UnknownAgent, StorageError
        where a row cannot even be read."""
        if agent is None:
            return _readable(self._home.audit, "the home", since, op)
        registered = self._home.find(checked_name(agent))
        with closing(self._state(self._home.folder(registered.id))) as state:
            return _readable(state.audit, registered.name, since, op)

    def verify(self, agent: str | None = None) -> list[Verified]:
        """Every chain and receipt, or the chain of one agent. What is whole is noted in the home.
        Raises UnknownAgent."""
        if agent is not None:
            registered = self._home.find(checked_name(agent))
            folder = self._home.folder(registered.id)
            return [self._chain("agent", registered.name, registered.id, folder)]
        try:
            found = [self._home_chain()]
        except PagemindError as error:
            return [Verified("home", "home", fault=_unread(error), read=False)]
        for each in sorted(self._home.all(), key=lambda each: each.name):
            folder = self._home.folder(each.id)
            found.append(self._chain("agent", each.name, each.id, folder))
        for archive in self._archives.all():
            folder = self._archives.folder(archive.id)
            found.append(self._chain("archive", archive.name, archive.id, folder))
        return found + list(self._receipts())

    def _state(self, folder: Path) -> State:
        return State(folder, self._clock, read_only=True)

    # --- chains ---------------------------------------------------------------------------------

    def _chain(self, kind: Kind, name: str, id: str, folder: Path) -> Verified:
        noted = self._home.audit_heads.get(id)  # before the chain is read: it may only grow
        try:
            with closing(self._state(folder)) as state, state.database.reading():
                found = _verified(kind, name, state.audit, noted)
                if not found.fault:
                    found = _held(found, state)
        except PagemindError as error:
            return Verified(kind, name, fault=_unread(error), read=False)
        if not found.fault:
            self._home.audit_heads.note(id, Head(found.rows, found.head))
        return found

    def _home_chain(self) -> Verified:
        """The home's own, and whether every agent that it was made with is accounted for."""
        found = _verified("home", "home", self._home.audit, self._home.audit_heads.get("home"))
        if found.fault:
            return found
        made: dict[str, int] = {}
        for row in self._home.audit.rows():
            if row.op in ("agent made", "archive made"):
                made[row.target] = row.number
            elif row.op in ("agent removed", "archive removed"):
                made.pop(row.target, None)
        there = {each.id for each in self._home.all()} | {each.id for each in self._archives.all()}
        for id, number in made.items():
            if id not in there:
                fault = f"what it made ({id}) is gone from the registry, and no row tells of it"
                return _faulty(found, number, fault)
        return self._blocks(found)

    def _blocks(self, found: Verified) -> Verified:
        """Whether shared blocks say what they were given."""
        audit, told = self._home.audit, dict[tuple[str, int], AuditRow]()
        for row in audit.rows(after=audit.key_changed()):
            if row.op == "shared block removed":  # a name may be given again
                told = {key: each for key, each in told.items() if key[0] != row.target}
            elif row.op == "shared block written":
                told[row.target, row.version] = row
        digest = audit.hashing()
        for (target, version), row in told.items():
            name = target.removeprefix("block:")
            text = self._home.database.one(
                "SELECT value FROM shared_block_versions WHERE name = ? AND version = ?",
                (name, version),
            )
            if text is None:
                return _faulty(found, row.number, f"{name}@{version}, which it tells of, is gone")
            if digest(text["value"]) != row.digest:
                return _faulty(
                    found, row.number, f"{name}@{version} says another text than it was given"
                )
        return replace(found, texts=len(told))

    # --- receipts -------------------------------------------------------------------------------

    def _receipts(self) -> Iterator[Verified]:
        """Each file of the folder of receipts. One that was taken away is no fault: it is the
        person's."""
        known = {
            str(row.detail["receipt"]): row.number
            for row in self._home.audit.rows(op="erased")
            if row.detail.get("receipt")
        }
        for path in sorted((self._home.path / RECEIPTS).glob("*.json")):
            try:
                sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError as error:
                yield Verified("receipt", path.name, fault=f"it cannot be read: {error.strerror}")
                continue
            fault = "" if sha256 in known else "the home's log has no erasure that gave it as it is"
            yield Verified("receipt", path.name, known.get(sha256, 0), sha256, fault=fault)


def _unread(error: PagemindError) -> str:
    return f"it cannot be read: {error.message}"


def _readable(audit: Audit, name: str, since: datetime | None, op: str) -> list[AuditRow]:
    try:
        return list(audit.rows(since=since, op=op))
    except (ValueError, TypeError) as error:
        raise StorageError(
            f"the audit log of {name} has a row that cannot be read: {error}",
            hint="`pagemind audit verify` says which",
        ) from error


def _verified(kind: Kind, name: str, audit: Audit, noted: Head) -> Verified:
    head = audit.head()
    found = Verified(kind, name, head.number, head.hash)
    fault = audit.faults(noted)
    return found if fault is None else _faulty(found, fault.number, fault.what)


def _faulty(found: Verified, row: int, fault: str) -> Verified:
    return Verified(found.kind, found.name, found.rows, found.head, found.texts, row, fault)


# --- what the rows tell of ------------------------------------------------------------------------

_ROWS = 500  # read at once
_TEXTS = """
SELECT a.number, a.target, a.version, a.digest, v.text AS text FROM audit a
LEFT JOIN passage_versions v ON v.number = CAST(substr(a.target, 2) AS INTEGER)
AND v.version = a.version
WHERE a.number > ? AND a.number <= ? AND a.digest <> '' AND a.target GLOB 'a[0-9]*'
UNION ALL
SELECT a.number, a.target, a.version, a.digest, v.value FROM audit a
LEFT JOIN block_versions v ON v.label = substr(a.target, 7) AND v.version = a.version
WHERE a.number > ? AND a.number <= ? AND a.digest <> '' AND a.target GLOB 'block:*'
ORDER BY 1
"""


def _held(found: Verified, state: State) -> Verified:
    """Whether the memory is what the rows say was written."""
    digest, texts = state.audit.hashing(), 0
    for row in _told_texts(state.database, state.audit.key_changed(), found.rows):
        what = f"{row['target'].removeprefix('block:')}@{row['version']}"
        if row["text"] is None:
            return _faulty(found, row["number"], f"{what}, which it tells of, is not there")
        if digest(row["text"]) != row["digest"]:
            return _faulty(found, row["number"], f"{what} says another text than it was given")
        texts += 1
    if fault := _raised(state):
        return _faulty(found, *fault)
    return Verified(found.kind, found.name, found.rows, found.head, texts)


def _told_texts(database: Database, after: int, last: int) -> Iterator[Row]:
    """The rows that have the hash of a text, each with the text of that version now."""
    for start in range(after, last, _ROWS):
        some = (start, start + _ROWS)
        yield from database.rows(_TEXTS, (*some, *some))


def _raised(state: State) -> tuple[int, str] | None:
    """The first record that is trusted more than the newest row about it says. What came out of a
    file since is not told of record by record."""
    most: dict[int, tuple[int, int]] = {}
    for row in state.audit.rows():
        if row.op == "imported":
            most.clear()
        elif row.op in _TRUSTED and (match := _RECORD.fullmatch(row.target)):
            most[int(match[1])] = (row.number, row.trust)
    sql = "SELECT number, trust FROM passages WHERE number"
    for each in state.database.rows_in(sql, sorted(most)):
        row_number, trust = most[each["number"]]
        if each["trust"] > trust:
            return row_number, (
                f"a{each['number']} is trusted {each['trust']}, and no row says that it was raised"
                f" above {trust}"
            )
    return None
