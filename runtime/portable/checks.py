"""What must be true of rows that came out of a file, before anything reads them as an agent.

SQLite has refused duplicates and missing values by now; here are the words and JSON that the rest
of pagemind takes for granted, then its own invariants.
"""

import json
import math
import re
from collections.abc import Iterator

from pagemind.runtime.errors import BadExport, UserError
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import TRUST
from pagemind.runtime.passage import KINDS
from pagemind.runtime.portable.tables import Table, Values, exported, table_of
from pagemind.runtime.scope import scope_of
from pagemind.runtime.state.changes import OPS, STATES
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.facet_columns import facets_from
from pagemind.runtime.state.state import State

# Columns that hold JSON, and what it is.
_JSON = {
    "messages": {"content": "object", "sources": "array"},
    "turns": {"reasons": "array", "reply_seqs": "array", "result": "object"},
    "epochs": {"blocks": "object", "pins": "array object"},
    "steps": {"settings": "object"},
    "passages": {"tags": "array", "metadata": "object", "sources": "array"},
    "passage_versions": {"tags": "array", "metadata": "object", "facets": "object"},
    "changes": {"body": "object", "sources": "array"},
    "segments": {"keywords": "array"},
    "pages": {"keywords": "array"},
    "gist_versions": {"keywords": "array"},
    "documents": {"numbers": "array"},
}
_WORDS = {
    ("messages", "role"): ("user", "assistant", "tool"),
    ("messages", "kind"): ("talk", "observation", "notice", "reading"),
    ("messages", "status"): ("active", "pending", "retired"),
    ("messages", "origin"): tuple(TRUST),
    ("block_versions", "origin"): tuple(TRUST),
    ("passages", "origin"): tuple(TRUST),
    ("passages", "status"): ("active", "pending", "retired"),
    ("passages", "kind"): KINDS,
    ("changes", "origin"): tuple(TRUST),
    ("changes", "state"): STATES,
    ("changes", "op"): OPS,
    ("changes", "born"): STATES,
    ("lineage", "how"): ("from", "evidence", "supersedes", "merged", "promoted"),
    ("passage_versions", "status"): ("active", "pending", "retired"),
    ("pages", "kind"): ("page", "directory"),
}
# What meta says, by key; what is not here is read with care.
_META = {
    "line": r"[1-9]\d{0,8}",
    "conversation": r"\d{1,9}",
    "conversations": r"\d{1,9}",
    "window": r"\d{1,9} \d{1,9} [^\x00-\x1f]{1,200}",
    "protocol": "default|heartbeat|guided",
    "near": r"none|-?\d{1,3}\.\d{1,9}",
    "part_tokens": r"\d{1,9}",
    "questions": r"\d{1,9} \d{1,9}",
    "fences": r"-|[0-9a-f]{64}",
    "model": r"[^\x00-\x1f]{0,300}",
    "episodes": r"\{\"turn\": \d{1,9}, \"again\": \[(?:\d{1,9}(?:, )?)*\]\}",
    "skill_failures": r"\{(?:\"\d{1,18}\": \d{1,9}(?:, )?)*\}",
}
_TIME = re.compile(r"(?:^|_)at$|^last_accessed$|^last_visit$|^valid_(?:from|to)$")
_RFC3339 = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*Z"
_MOST_MARKS = 1_000_000  # characters of meta that say where jobs are
_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}|\\u[dD][c-fC-F][0-9a-fA-F]{2}")


def sound_texts(table: Table, rows: list[Values], where: str) -> list[Values]:
    """The rows as they came. Raises BadExport for halves of characters."""
    places = [at for at, c in enumerate(table.columns) if c.name in _JSON.get(table.name, ())]
    for row in rows:
        for at in places:
            cell = row[at]
            if isinstance(cell, str) and "\\u" in cell and _HALF.search(cell):
                _whole(cell, f"{where}: {table.columns[at].name}")
    return rows


def _whole(cell: str, where: str) -> None:
    try:
        json.dumps(json.loads(cell), ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadExport(f"{where} holds half a character (a lone surrogate)") from None
    except (ValueError, RecursionError):
        raise BadExport(f"{where} is not JSON") from None


def check(state: State, path: str) -> None:
    """Raises BadExport with the first few things that are wrong."""
    wrong = list(_faults(state.database))
    if not wrong:
        try:
            found = check_state(state)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            wrong = [f"it cannot be read ({type(error).__name__}: {error})"]
        else:  # what opening an agent mends is no reason to refuse it
            wrong = [
                f"{each.check}: {each.detail}"
                for each in found
                if each.status == "wrong" and each.repair in ("", "records")
            ]
    if wrong:
        more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise BadExport(
            f"{path} holds what no agent is: {'; '.join(wrong[:3])}{more}",
            hint="`pagemind doctor --deep` where it was exported says more; nothing was imported",
        )


def _faults(database: Database) -> Iterator[str]:
    for row in database.rows("SELECT key, value FROM meta"):
        pattern = (
            "none|[0-9.e+-]{1,20}" if row["key"].startswith("near ") else _META.get(row["key"])
        )
        if pattern is not None and not re.fullmatch(pattern, row["value"]):
            yield f"meta: {row['key'][:40]} is {row['value'][:40]!r}"
    if not database.number(
        "SELECT count(*) FROM lines WHERE line ="
        " coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'line'), 1)"
    ):
        yield "lines: the current one is not there"
    for (table, column), words in _WORDS.items():
        listed = ", ".join(f"'{word}'" for word in words)
        yield from _first(
            database,
            table,
            f"{column} NOT IN ({listed})",
            f"a {column} that is none of {', '.join(words)}",
        )
    yield from _first(database, "passages", "scope NOT GLOB '/*'", "a scope that is no path")
    for table, columns in _JSON.items():
        for column, kind in columns.items():
            kinds = ", ".join(f"'{each}'" for each in kind.split())
            condition = (
                f"CASE WHEN json_valid({column}) THEN json_type({column}) NOT IN ({kinds}) ELSE 1"
                " END"
            )
            what = f"{column} is no JSON {' or '.join(kind.split())}"
            yield from _first(database, table, condition, what)
    for name in exported(database):
        for each in table_of(database, name).columns:
            if each.kind == "text" and _TIME.search(each.name):
                condition = f"{each.name} NOT GLOB '{_RFC3339}'"
                yield from _first(database, name, condition, f"{each.name} is no time")

    yield from _records(database)
    yield from _jobs(database)


def _records(database: Database) -> Iterator[str]:
    """Facets that no record has, in any version; ids that lead nowhere a lineage can."""
    for row in database.rows("SELECT DISTINCT scope FROM passages WHERE scope <> '/'"):
        if not _is_scope(row["scope"]):
            yield f"passages: the scope {row['scope'][:40]!r}"
    odd = "evergreen NOT IN (0, 1) OR cold NOT IN (0, 1) OR level NOT BETWEEN 0 AND 1000"
    yield from _first(database, "passages", odd, "an odd evergreen, cold or level")
    wrong = 0
    for row in database.rows("SELECT facets FROM passage_versions WHERE facets <> '{}'"):
        try:
            facets = facets_from(row["facets"])
            texts = (facets.subject, facets.relation, facets.object, facets.owner, facets.key)
            numbers = (facets.subject_entity, facets.object_entity, facets.superseded_by)
            wrong += not (
                facets.kind in KINDS
                and _is_scope(facets.scope)
                and all(isinstance(each, str) for each in (*texts, facets.speaker))
                and all(each is None or type(each) is int for each in numbers)
                and type(facets.level) is int
            )
        except (ValueError, TypeError, AttributeError, RecursionError):
            wrong += 1
    if wrong:
        yield f"passage_versions: facets that no record has ({wrong:,} times)"
    for column in ("derived", "source"):
        yield from _first(
            database,
            "lineage",
            f"NOT ({column} GLOB '[mapdst][0-9]*' OR {column} GLOB 'seg[0-9]*'"
            f" OR {column} GLOB 'block:?*') OR length({column}) > 200",
            f"a {column} that is no id",
        )
    yield from _first(
        database, "changes", "target <> '' AND length(target) > 200", "a target that is no id"
    )


def _is_scope(written: str) -> bool:
    try:
        return scope_of(written) == written
    except (UserError, AttributeError):
        return False


def _jobs(database: Database) -> Iterator[str]:
    """Where the worker's jobs are: job → [seq, value], …"""
    stored = database.meta("sleep", "{}")
    try:
        jobs = json.loads(stored)
        sound = all(
            type(mark[0]) is int and len(mark) == 2 and _is_place(mark[1])
            for marks in jobs.values()
            for mark in marks
        )
    except (ValueError, TypeError, AttributeError, IndexError, KeyError, RecursionError):
        sound = False
    if not sound or len(stored) > _MOST_MARKS:
        yield f"meta: sleep is {stored[:40]!r}"


def _is_place(value: object, depth: int = 0) -> bool:
    """What a job may keep of where it is: numbers and times, in lists and by names."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list) and depth < 4:
        return all(_is_place(each, depth + 1) for each in value)
    if isinstance(value, str):
        return value == "" or re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{8,20}Z", value) is not None
    if isinstance(value, bool):
        return False
    return value is None or (isinstance(value, int | float) and math.isfinite(value))


def _first(database: Database, table: str, condition: str, what: str) -> Iterator[str]:
    count = database.number(f"SELECT count(*) FROM {table} WHERE {condition}")
    if count:
        yield f"{table}: {what} ({count:,} times)"
