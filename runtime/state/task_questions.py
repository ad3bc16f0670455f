"""What a task asks a person: one question at most for each of its inputs, in home.db, where it
waits for its answer through anything that happens to the process."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.state.database import Database, Row

About = Literal["failed", "unknown", "approval"]
_INSIDE = (
    "WITH RECURSIVE family (task) AS (VALUES (?) UNION SELECT p.task FROM task_parents p"
    " JOIN family f ON p.parent = f.task)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """`task` is the name of the task that asks, `input` the label of its input. `about`: an action
    that failed, a call that may have happened, a call that wants consent. `answer` is one of the
    `choices`, or "" as long as nobody gave one."""

    id: tuple[str, str]
    task: str
    input: str
    place: str
    about: str
    text: str
    choices: tuple[str, ...]
    answer: str
    asked_at: datetime


class TaskQuestions:
    """Of all tasks of a home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def ask(
        self, task: str, key: str, place: str, about: About, text: str, choices: Sequence[str]
    ) -> None:
        """Of a task by its id, about the input of this key: from now on it waits."""
        self._db.write(
            "INSERT OR REPLACE INTO task_questions VALUES (?,?,?,?,?,?,'',?)",
            (task, key, place, about, text, json.dumps(choices), rfc3339(self._clock.now())),
        )

    def of(self, task: str, key: str) -> Question | None:
        """The one of an input."""
        found = self._select("q.task = ? AND q.input = ?", (task, key))
        return found[0] if found else None

    def open(self, task: str) -> list[Question]:
        """Those of a task and of the tasks inside it, in the order in which they were asked."""
        return self._select("q.task IN (SELECT task FROM family)", (), within=task)

    def ready_inside(self, task: str, key: str) -> bool:
        """Whether a question of an input, or of a task that runs for it, has its answer; a consent
        may also have been given to the agent itself."""
        child = "SELECT task FROM task_parents WHERE parent = ? AND input = ?"
        rows = self._db.rows(child, (task, key))
        found = [self.of(task, key), *(q for row in rows for q in self.open(row["task"]))]
        return any(q is not None and (q.answer or q.about == "approval") for q in found)

    def answer(self, question: Question, answer: str) -> None:
        self._db.write(
            "UPDATE task_questions SET answer = ? WHERE task = ? AND input = ?",
            (answer, *question.id),
        )

    def forget(self, task: str, key: str | None = None) -> None:
        """It does not wait any more."""
        which, values = "task = ? AND (? IS NULL OR input = ?)", (task, key, key)
        # Hardly an input ever asks, and every write waits for the disk.
        if self._db.number(f"SELECT count(*) FROM task_questions WHERE {which}", values):
            self._db.write(f"DELETE FROM task_questions WHERE {which}", values)

    def _select(
        self, where: str, values: Sequence[str], within: str | None = None
    ) -> list[Question]:
        rows = self._db.rows(
            f"{_INSIDE if within is not None else ''} SELECT q.*, t.name, i.label"
            " FROM task_questions q JOIN tasks t ON t.id = q.task"
            " JOIN task_inputs i ON i.task = q.task AND i.key = q.input"
            f" WHERE {where} ORDER BY q.asked_at, q.task, q.input",
            (*([within] if within is not None else []), *values),
        )
        return [_question(row) for row in rows]


def _question(row: Row) -> Question:
    return Question(
        (row["task"], row["input"]),
        row["name"],
        row["label"],
        row["place"],
        row["kind"],
        row["text"],
        tuple(json.loads(row["choices"])),
        row["answer"],
        parse_rfc3339(row["asked_at"]),
    )
