"""first_from(): the first row from which on a column is at least a value, in a table whose rows
were written in that order. It needs no index: about twenty rows are read of a million.

Times are such a column while the clock goes forward. Where it was set back, one of the moments at
which it showed the time asked for is found.
"""

from pagemind.runtime.state.database import Database

# (table, key, column): what is in order of its key.
ORDERED = {
    ("steps", "step", "last_seq"),
    ("steps", "step", "at"),
    ("messages", "seq", "recorded_at"),
    ("turns", "turn", "first_seq"),
    ("epochs", "epoch", "seq"),
}


def first_from(database: Database, table: str, key: str, column: str, value: int | str) -> int:
    """The key of the first row whose column is at least the value; one past the last if none is."""
    assert (table, key, column) in ORDERED
    low = 1
    high = database.number(f"SELECT max({key}) FROM {table}") + 1
    while low < high:
        middle = (low + high) // 2
        row = database.one(
            f"SELECT {key}, {column} FROM {table} WHERE {key} >= ? ORDER BY {key} LIMIT 1",
            (middle,),
        )
        if row is None or row[0] >= high or row[1] >= value:  # erased: nothing lies between
            high = middle
        else:
            low = row[0] + 1
    row = database.one(f"SELECT {key} FROM {table} WHERE {key} >= ? ORDER BY {key} LIMIT 1", (low,))
    return int(row[0]) if row is not None else low
