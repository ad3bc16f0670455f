"""What the inputs of a task left in its ledger, one input at a time, in their order."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.state.database import Database

_INPUTS = 200  # read at once


@dataclass(frozen=True, slots=True)
class Left:
    """By one input that is done: the results of what was said, called and run for it, each with
    the place of its action."""

    label: str
    results: tuple[tuple[str, Any], ...]


class TaskResults:
    """Of all tasks of a home."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def of_inputs(self, task: str) -> Iterator[Left]:
        """Of one task; never more than a few in memory."""
        number = 0
        while rows := self._db.rows(
            "SELECT number, key, label FROM task_inputs"
            " WHERE task = ? AND status = 'done' AND number > ? ORDER BY number LIMIT ?",
            (task, number, _INPUTS),
        ):
            for row in rows:
                number = row["number"]
                found = self._db.rows(
                    "SELECT place, result FROM task_actions WHERE task = ? AND input = ?"
                    " AND status = 'done' AND kind IN ('say', 'call', 'sub')",
                    (task, row["key"]),
                )
                results = tuple((each["place"], json.loads(each["result"])) for each in found)
                yield Left(row["label"], results)
