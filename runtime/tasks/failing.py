"""How an action fails, and how a task ends before its inputs do."""

from dataclasses import dataclass
from typing import Any, Literal

STOPS = "on_error says stop; the next run goes on there"  # the hint of what stopped a task
Status = Literal["done", "partial", "failed", "cancelled"]


@dataclass
class ActionFailed(Exception):
    """An attempt failed. `again`: the next one tells the model why; `resumes`: the next one takes
    the same turn up again; `waits`: it may work later; `fatal`: nothing else would work either."""

    reason: str
    result: Any = None
    again: bool = False
    resumes: bool = False
    waits: bool = False
    fatal: bool = False
    hint: str = ""


@dataclass
class GivenUp(Exception):
    """All attempts at an action failed: its input is given up."""

    reason: str


@dataclass
class Waits(Exception):
    """Nobody is there to answer a question: its input waits. `ends`: so does the whole task."""

    question: str
    ends: bool = False
    untouched: bool = True  # nothing was done yet that would have to be asked about


@dataclass
class TaskStopped(Exception):
    """The task ends here. `limit`: its budget is spent; `fatal`: nothing else would work either;
    `waits`: for the answer to a question."""

    reason: str
    hint: str = ""
    waits: bool = False
    limit: bool = False
    cancelled: bool = False
    fatal: bool = False
