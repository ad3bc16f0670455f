"""What an increment carries: of each table nothing, the rows that were added, or all of them.

Since a message, or a time, the messages after it are carried and everything else is whole: nobody
knows what the reader has. Since a file, each table is compared with what that file says of its
own: an unchanged one is left out, of one that only grew the new rows are carried.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import UserError
from pagemind.runtime.portable.container import read_manifest
from pagemind.runtime.portable.manifest import Base, Manifest, Mode, TableState
from pagemind.runtime.portable.secrets import Secrets
from pagemind.runtime.portable.tables import (
    RowsDigest,
    Table,
    Values,
    exported,
    rows_of_table,
    table_of,
)
from pagemind.runtime.state.database import Database
from pagemind.runtime.when import parse_span

_SEQ = re.compile(r"m?(\d{1,18})")
_HASH = re.compile(r"[0-9a-f]{64}")  # of a text, in a column of its own or within JSON


@dataclass(frozen=True, slots=True)
class Part:
    """How one table is carried: rows after a key, or those with these keys."""

    mode: Mode = "whole"
    after: tuple[str | int, ...] | None = None
    keys: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Of every table its part, and the blobs that are there already; `base` is None for a whole
    export."""

    parts: dict[str, Part]
    base: Base | None = None
    blobs: frozenset[str] = frozenset()

    def of(self, table: str) -> Part:
        return self.parts.get(table, Part())


def plan(
    since: int | str | datetime | Path | None,
    database: Database,
    secrets: Secrets,
    *,
    agent_id: str,
    name: str,
    now: datetime,
) -> Plan:
    """What to carry. `since` is a message (42, "m42"), a time or a file. Raises UserError."""
    if since is None:
        return Plan({})
    last = database.number("SELECT max(seq) FROM messages")
    found = _base(since, database, now)
    if isinstance(found, Manifest):
        if found.agent.id != agent_id:
            raise UserError(
                f"{since} holds another agent ({found.agent.name}), or one of the same name",
                hint=f"give a file that was exported from {name}",
            )
        tables = {key: state.sha256 for key, state in found.tables.items()}
        base = Base(seq=found.seq, tables=tables)
        return Plan(_compared(found, database, secrets), base, frozenset(found.blobs))
    if not 0 <= found <= last:
        raise UserError(
            f"there is no m{found}: {name} ends at m{last}",
            hint="--since takes a message, a time or a file that was exported before",
        )
    return Plan({"messages": Part("added", after=(found,))}, Base(seq=found))


def _base(since: int | str | datetime | Path, database: Database, now: datetime) -> int | Manifest:
    if isinstance(since, int):
        return since
    if isinstance(since, datetime):
        return _before(database, since)
    text = str(since)
    if isinstance(since, Path) or text.endswith(".pmz") or Path(text).is_file():
        return read_manifest(Path(since))
    if match := _SEQ.fullmatch(text.strip()):
        return int(match[1])
    try:
        return _before(database, parse_span(text, now).start)
    except ValueError as error:
        raise UserError(
            f"--since: {error}", hint="or give a message such as m42, or a file exported before"
        ) from error


def _before(database: Database, at: datetime) -> int:
    """The last message that was recorded before a time; 0 if there is none."""
    return database.number("SELECT max(seq) FROM messages WHERE recorded_at < ?", (rfc3339(at),))


def _compared(base: Manifest, database: Database, secrets: Secrets) -> dict[str, Part]:
    parts: dict[str, Part] = {}
    for name in exported(database):
        if name in base.tables and name != "texts":
            parts[name] = _part(base.tables[name], table_of(database, name), database, secrets)
    if "texts" in base.tables:
        parts["texts"] = _texts(base.tables["texts"], parts, database, secrets)
    return parts


def _part(base: TableState, table: Table, database: Database, secrets: Secrets) -> Part:
    if list(table.names) != base.columns:
        return Part()
    digest = RowsDigest(table)
    before = ""
    for row in secrets.rows(table, rows_of_table(database, table)):
        if digest.rows == base.rows:
            before = digest.sha256
        digest.add(row)
    if digest.rows == base.rows:
        before = digest.sha256
    if before != base.sha256:
        return Part()  # rows were changed, or went
    if digest.rows == base.rows:
        return Part("same")
    return Part("added", after=tuple(base.last) if base.rows else None)


def _texts(base: TableState, parts: dict[str, Part], database: Database, secrets: Secrets) -> Part:
    """Texts stand in the order of their hashes, so new ones are told by who does not refer to
    them: what was there before. The guess is held against the sum: it is right, or all of them
    are carried."""
    table = table_of(database, "texts")
    if list(table.names) != base.columns:
        return Part()
    new = {row[0] for row in rows_of_table(database, table.only(["sha256"]))}
    for name in ("epochs", "steps"):
        part = parts.get(name, Part())
        if part.mode == "whole":
            return Part()
        of = table_of(database, name)
        for row in rows_of_table(database, of):
            if part.mode == "added" and (part.after is None or row[of.key[0]] > part.after[0]):
                break  # all further ones are new as well
            for cell in row:
                if isinstance(cell, str):
                    new.difference_update(_HASH.findall(cell))
    before = -1
    while new and len(new) != before:  # a text may refer to others
        before = len(new)
        for row in rows_of_table(database, table):
            if row[0] not in new:
                new.difference_update(_HASH.findall(row[1]))
    part = Part("added" if new else "same", keys=frozenset(new))
    digest, whole = RowsDigest(table, base.sha256, base.rows), RowsDigest(table)
    for row in rows_of_part(database, table, part, secrets, whole):
        digest.add(row)
    return part if (digest.sha256, digest.rows) == (whole.sha256, whole.rows) else Part()


def rows_of_part(
    database: Database, table: Table, part: Part, secrets: Secrets, digest: RowsDigest
) -> Iterator[Values]:
    """The rows that a part carries; once they are taken, `digest` has seen the whole table."""
    if part.mode == "whole":
        for row in secrets.rows(table, rows_of_table(database, table)):
            digest.add(row)
            yield row
        return
    for row in secrets.rows(table, rows_of_table(database, table)):
        digest.add(row)
    if part.mode == "added":
        rows = rows_of_table(database, table, after=part.after)
        if (keys := part.keys) is not None:
            rows = (row for row in rows if row[table.key[0]] in keys)
        yield from secrets.rows(table, rows)
