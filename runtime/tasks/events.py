"""TaskEvent: what a task tells whoever watches it, and its log file.

task_started             task, total, done, failed, tokens, cost (from the ledger)
├── input_started        number, label
│   ├── action_started   place, action, attempt
│   ├── action_done      place, action, tokens, cost
│   ├── timer_fired      timer, due: in a `wait`
│   └── action_failed    place, action, attempt, reason
├── input_waits          question
├── input_done
├── input_failed         reason
├── warning              input, reason: its worker was lost, and another one has it; or an event
│                        that came in a `wait` and can never be handled
└── task_ended           status, why
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal[
    "task_started",
    "input_started",
    "action_started",
    "action_done",
    "action_failed",
    "input_done",
    "input_failed",
    "input_waits",
    "timer_fired",
    "warning",
    "task_ended",
]

_log = logging.getLogger("pagemind.tasks")


@dataclass(frozen=True, slots=True)
class TaskEvent:
    """One thing that happened; `data` holds plain JSON values."""

    kind: Kind
    at: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"event": self.kind, "at": self.at, **self.data}


Watch = Callable[[TaskEvent], None]


def ignore(event: TaskEvent) -> None:
    """Watches nothing."""


class TaskLog:
    """Events as lines of JSON, appended; the last may be cut off where a process was killed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mine = False  # the last line is whole: this process wrote it

    def __call__(self, event: TaskEvent) -> None:
        line = json.dumps(event.as_json(), ensure_ascii=False) + "\n"
        try:
            with self.path.open("ab") as file:
                if not self._mine and file.tell() and not self._whole():
                    line = f"\n{line}"
                file.write(line.encode("utf-8", "replace"))
            self._mine = True
        except OSError as error:  # a log is worth no failure
            self._mine = False
            _log.warning("%s: %s", self.path, error)

    def _whole(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def newest_run(self) -> int:
        """Where the newest run begins, in bytes."""
        begun = before = 0
        for event, end in self.told_from(0):
            if event.kind == "task_started":
                begun = before
            before = end
        return begun

    def told_from(self, place: int) -> Iterator[tuple[TaskEvent, int]]:
        """Every event that is whole from a place on, each with the place behind it. One at a time:
        the log of a long task is larger than memory."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(place)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # it is being written
                place += len(line)
                try:
                    body = json.loads(line.decode("utf-8", "replace"))
                    yield TaskEvent(body.pop("event"), body.pop("at"), body), place
                except (ValueError, KeyError, AttributeError):
                    continue
