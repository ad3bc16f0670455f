"""What must be true of rows that came out of a file, before anything reads them as an agent.

SQLite has refused duplicates and missing values by now; here are the words and JSON that the rest
of pagemind takes for granted, then its own invariants.
"""

import json
import re
from collections.abc import Iterator

from pagemind.runtime.errors import BadExport
from pagemind.runtime.invariants import check_state
from pagemind.runtime.message import TRUST
from pagemind.runtime.passage import KINDS
from pagemind.runtime.portable.tables import Table, Values, exported, table_of
from pagemind.runtime.state.changes import OPS, STATES
from pagemind.runtime.state.database import Database
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
    "model": r"[^\x00-\x1f]{0,300}",
}
_TIME = re.compile(r"(?:^|_)at$|^last_accessed$|^last_visit$|^valid_(?:from|to)$")
_RFC3339 = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]*Z"
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
                if each.status == "wrong" and not each.repair
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


def _first(database: Database, table: str, condition: str, what: str) -> Iterator[str]:
    count = database.number(f"SELECT count(*) FROM {table} WHERE {condition}")
    if count:
        yield f"{table}: {what} ({count:,} times)"
