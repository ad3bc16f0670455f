"""The texts of a state.db that an erasure takes out, and those that stay: what tell-tales are made
of, and what they must not say. Read as they are before the scrub."""

import json
from collections.abc import Collection, Iterator
from typing import Any

from pagemind.runtime.erasure import told
from pagemind.runtime.erasure.plan import Plan, hashed
from pagemind.runtime.erasure.seeds import messages
from pagemind.runtime.function_names import tells_new
from pagemind.runtime.message import Message
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.state import State

_ROWS = 500
# Where else than in messages somebody's own words stand: the table, its key, the columns, the field
# of the plan.
_TABLES = (
    ("passages", "number", ("text", "object", "metadata"), "passages"),
    ("passage_versions", "version", ("text", "metadata", "facets"), "passages"),
    ("changes", "number", ("body", "why"), "changes"),
    ("inbox", "number", ("body",), "inbox"),
)


def erased_texts(state: State, plan: Plan) -> Iterator[str]:
    """Everything in words that goes, once or more often. Results that only show what stands
    elsewhere do not count: they run one's words into another's."""
    gone = frozenset(plan.messages)
    for message in messages(state):
        if (plan.everything or message.seq in gone) and _tells(message):
            yield message.text
            for call in message.tool_calls:
                yield from strings_of(call.parsed())
    database = state.database
    yield from _of_tables(database, plan, erased=True)
    lines = set(plan.lines)
    for line in _block_lines(database):
        if plan.everything or hashed(line) in lines:
            yield line


def remaining_texts(state: State, plan: Plan) -> Iterator[str]:
    """Everything in words that stays with good reason, as tables and requests show it, with what
    the agent is made of."""
    if plan.everything:
        return
    database = state.database
    yield from leaves(database.meta("definition"))
    gone = frozenset(plan.messages)
    for message in messages(state):
        if message.seq not in gone:
            yield f"{message.speaker}: {told.of_message(message)}"
            yield f"{message.role}: {message.text}"
    yield from _of_tables(database, plan, erased=False)
    lines = set(plan.lines)
    yield from (line for line in _block_lines(database) if hashed(line) not in lines)
    rewritten = set(plan.texts)
    for row in database.rows("SELECT sha256, text FROM texts"):
        if row["sha256"] not in rewritten:
            yield from leaves(row["text"])


def _tells(message: Message) -> bool:
    if message.kind in ("notice", "reading"):
        return False
    return message.role != "tool" or tells_new(message.name)


def leaves(text: str) -> Iterator[str]:
    """A text, or those in a JSON value."""
    if text[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except ValueError:
            yield text
        else:
            yield from strings_of(value)
    elif text:
        yield text


def strings_of(value: Any) -> Iterator[str]:
    """Every text in a value, also in JSON that stands in one of its texts."""
    if isinstance(value, str):
        yield from leaves(value)
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_of(each)


def _of_tables(database: Database, plan: Plan, *, erased: bool) -> Iterator[str]:
    for table, key, columns, field in _TABLES:
        chosen: Collection[int] = frozenset(getattr(plan, field))
        if erased and not (chosen or plan.everything):
            continue
        for row in _rows(database, table, key):
            if (plan.everything or row[0] in chosen) is erased:
                for column in columns:
                    yield from leaves(row[column] or "")


def _rows(database: Database, table: str, key: str) -> Iterator[Any]:
    """The first column is what a plan names a row by."""
    if key == "version":  # all versions of a passage, by its number and then theirs
        last = (0, 0)
        while True:
            rows = database.rows(
                f"SELECT number, version, * FROM {table} WHERE (number, version) > (?, ?)"
                " ORDER BY number, version LIMIT ?",
                (*last, _ROWS),
            )
            yield from rows
            if len(rows) < _ROWS:
                return
            last = (rows[-1][0], rows[-1][1])
    after = -1
    while True:
        rows = database.rows(
            f"SELECT {key}, * FROM {table} WHERE {key} > ? ORDER BY {key} LIMIT ?", (after, _ROWS)
        )
        yield from rows
        if len(rows) < _ROWS:
            return
        after = rows[-1][0]


def _block_lines(database: Database) -> Iterator[str]:
    for row in database.rows("SELECT value FROM block_versions UNION SELECT value FROM blocks"):
        yield from (line for line in row["value"].splitlines() if line.strip())
