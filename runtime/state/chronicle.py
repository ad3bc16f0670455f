"""All that an agent's state tells, in order and in batches, for who reads all of it: memory stays
flat, whatever the history's length. Read it inside `Database.reading()` for one instant."""

from collections.abc import Iterator, Sequence

from pagemind.runtime.message import Message
from pagemind.runtime.settings import CHRONICLE_ROWS
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.journal import message_of


class Chronicle:
    """The tables of one agent, row by row."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def messages(self) -> Iterator[tuple[Message, int]]:
        """Every message with its tokens, the runtime's own notices and readings among them."""
        for row in self._walk("SELECT * FROM messages", ("seq",)):
            yield message_of(row), row["tokens"]

    def turns(self) -> Iterator[Row]:
        return self._walk("SELECT * FROM turns", ("turn",))

    def steps(self) -> Iterator[Row]:
        return self._walk("SELECT * FROM steps", ("step",))

    def epochs(self) -> Iterator[Row]:
        return self._walk("SELECT * FROM epochs", ("epoch",))

    def summaries(self) -> Iterator[Row]:
        return self._walk("SELECT * FROM summaries", ("summary",))

    def pages(self) -> Iterator[Row]:
        """Directories first, then pages."""
        return self._walk("SELECT * FROM pages", ("kind", "number"))

    def gists(self) -> Iterator[Row]:
        """Every gist of a page but its first, which the runtime made."""
        return self._walk(
            "SELECT * FROM gist_versions WHERE version > 1", ("kind", "number", "version")
        )

    def blocks(self) -> Iterator[Row]:
        """Every version of every block, the oldest of each first."""
        return self._walk("SELECT * FROM block_versions", ("label", "version"))

    def passages(self) -> Iterator[Row]:
        return self._walk("SELECT * FROM passages", ("number",))

    def passage_versions(self) -> Iterator[Row]:
        return self._walk("SELECT * FROM passage_versions", ("number", "version"))

    def _walk(self, select: str, key: Sequence[str]) -> Iterator[Row]:
        """All rows in order of a unique key. None is below "" or 0, so that is where it starts."""
        columns, marks = ", ".join(key), ", ".join("?" * len(key))
        joined = "AND" if " WHERE " in select else "WHERE"
        query = f"{select} {joined} ({columns}) > ({marks}) ORDER BY {columns} LIMIT ?"
        last: list[object] = ["" if name in ("kind", "label") else -1 for name in key]
        while rows := self._db.rows(query, (*last, CHRONICLE_ROWS)):
            yield from rows
            if len(rows) < CHRONICLE_ROWS:
                return
            last = [rows[-1][name] for name in key]
