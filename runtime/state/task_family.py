"""Tasks inside tasks: which task runs as an action of which other, in home.db; and the texts of
the files that a task runs, as they were when it ran last."""

from collections.abc import Mapping
from dataclasses import dataclass

from pagemind.runtime.state.database import Database, Row


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task runs inside another: the parent's id, the key of its input, the place of the
    action, and what the input was then (its digest)."""

    parent: str
    input: str
    place: str
    digest: str


class TaskFamily:
    """Of all tasks of a home."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def adopt(self, task: str, at: Place) -> None:
        """The task of this id runs there."""
        self._db.write(
            "INSERT OR REPLACE INTO task_parents VALUES (?,?,?,?,?)",
            (task, at.parent, at.input, at.place, at.digest),
        )

    def place(self, task: str) -> Place | None:
        """Where it runs; None for a task of its own."""
        row = self._db.one("SELECT * FROM task_parents WHERE task = ?", (task,))
        return _place(row) if row else None

    def children(self, task: str) -> list[str]:
        """The ids of those that run inside it, in the order in which they were begun."""
        rows = self._db.rows(
            "SELECT task FROM task_parents WHERE parent = ? ORDER BY task", (task,)
        )
        return [row["task"] for row in rows]

    def at(self, place: Place) -> str | None:
        """The id of the task that was begun there for this very input."""
        row = self._db.one(
            "SELECT task FROM task_parents WHERE parent = ? AND input = ? AND place = ?"
            " AND digest = ?",
            (place.parent, place.input, place.place, place.digest),
        )
        return str(row["task"]) if row else None

    def written(self, task: str) -> dict[str, int]:
        """The files that a task inside another wrote, and how many bytes of each."""
        rows = self._db.rows(
            "SELECT json_extract(result, '$.path') AS path,"
            " SUM(json_extract(result, '$.bytes')) AS bytes FROM task_actions"
            " WHERE task = ? AND kind = 'save' AND status = 'done' GROUP BY path ORDER BY path",
            (task,),
        )
        return {row["path"]: row["bytes"] or 0 for row in rows}

    def made_beside(self, parent: str, agent: str) -> bool:
        """Whether a task inside that one made this agent."""
        return bool(
            self._db.number(
                "SELECT count(*) FROM task_inputs WHERE agent = ? AND task IN"
                " (SELECT task FROM task_parents WHERE parent = ?)",
                (agent, parent),
            )
        )

    def files(self, task: str) -> dict[str, str]:
        """The texts of the files that it runs, by their paths."""
        rows = self._db.rows("SELECT path, text FROM task_files WHERE task = ?", (task,))
        return {row["path"]: row["text"] for row in rows}

    def set_files(self, task: str, files: Mapping[str, str]) -> None:
        """In place of those before."""
        with self._db.transaction():
            self._db.write("DELETE FROM task_files WHERE task = ?", (task,))
            for path, text in files.items():
                self._db.write("INSERT INTO task_files VALUES (?,?,?)", (task, path, text))

    def forget(self, task: str) -> None:
        """As if the task had never run."""
        with self._db.transaction():
            for table in ("task_files", "task_parents"):
                self._db.write(f"DELETE FROM {table} WHERE task = ?", (task,))


def _place(row: Row) -> Place:
    return Place(row["parent"], row["input"], row["place"], row["digest"])
