"""A SQLite file as it lies on disk: every cell of every table, whatever it means, for who looks for
what must not be there."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

MAGIC = b"SQLite format 3\0"
_ROWS = 200


def is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def cells(path: Path) -> Iterator[tuple[str, int, str]]:
    """Table, number of the row in reading, and its texts and bytes as text, row by row. Read beside
    whoever has the file open, as of one instant."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("BEGIN")
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall()
        for (table,) in tables:
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            number = 0
            while rows := cursor.fetchmany(_ROWS):
                for row in rows:
                    number += 1
                    texts = (_text(value) for value in row)
                    yield table, number, "\n".join(text for text in texts if text)
    finally:
        connection.close()


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "ignore") if isinstance(value, bytes) else ""
