"""What of a plan still stands in a state.db, told by ids: rows that should be gone, and messages
that should say nothing."""

from collections.abc import Iterator, Sequence

from pagemind.runtime.erasure.plan import Plan
from pagemind.runtime.state.state import State

_GONE = (
    ("passages", "number", "passages"),
    ("passage_versions", "number", "passages"),
    ("changes", "number", "changes"),
    ("inbox", "number", "inbox"),
)


def left_in_state(state: State, plan: Plan) -> list[str]:
    """A line for each table that still has some."""
    return list(_left(state, plan))


def _left(state: State, plan: Plan) -> Iterator[str]:
    for table, key, name in _GONE:
        rows = _count(state, table, key, getattr(plan, name))
        if rows:
            yield f"state.db: {table}, {rows} rows"
    said = [m for m in state.journal.get(plan.messages).values() if not m.erased]
    if said:
        yield f"state.db: messages, {len(said)} rows"
    blobs = [each for each in plan.blobs if (state.folder / "blobs" / each).exists()]
    if blobs:
        yield f"blobs, {len(blobs)} files"


def _count(state: State, table: str, key: str, chosen: Sequence[int] | Sequence[str]) -> int:
    sql = f"SELECT count(*) AS found FROM {table} WHERE {key}"
    return sum(row["found"] for row in state.database.rows_in(sql, chosen))
