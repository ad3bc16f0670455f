"""An errand: one input, given to whoever works elsewhere, and what is brought back of it.

Everything in it is a plain value, so that it goes through any executor; models and functions of
your own go by name, and must be importable there. What is brought is all or nothing: the ledger and
the files are written by the one who sent it (sending.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pagemind.runtime.model import Model
from pagemind.runtime.state.ledger import ActionRow
from pagemind.runtime.tasks.events import TaskEvent
from pagemind.runtime.tasks.inputs import Input
from pagemind.runtime.tasks.parts import Bounds, OnUnknown
from pagemind.runtime.tasks.task_file import Task
from pagemind.runtime.tool import Tool

# failed: given up by its policy; stopped: the task must end; cancelled: a person ended it;
# broken: it could not be worked on there at all.
End = Literal["done", "failed", "stopped", "cancelled", "broken"]


@dataclass(frozen=True)
class Errand:
    """`id` is of this going, no two alike. `known` are calls on the world that came back in an
    earlier one; with `lost`, others may have happened in one that did not. `left` is what the
    task's budget allows, `home` where the worker keeps its home, `stop` a file that ends it."""

    id: str
    version: str
    job: str
    task: Task
    definition: str
    one: Input
    number: int
    scope: Mapping[str, Any]
    known: tuple[ActionRow, ...]
    lost: bool
    left: Bounds
    on_unknown: OnUnknown
    model: str | Model | None
    tools: tuple[Tool | Callable[..., str], ...]
    home: str | None
    stop: str
    keep_agent: bool


@dataclass(frozen=True, slots=True)
class Write:
    """What goes to the end of a file."""

    path: str
    data: bytes


@dataclass(frozen=True)
class Brought:
    """What came of an errand. `agent` is its export, where it was asked for."""

    errand: str
    end: End
    reason: str = ""
    hint: str = ""
    limit: bool = False
    skipped: int = 0
    actions: tuple[ActionRow, ...] = ()
    writes: tuple[Write, ...] = ()
    events: tuple[TaskEvent, ...] = ()
    agent: bytes | None = None


def own_version() -> str:
    """Of pagemind here: an errand is understood by the same one alone."""
    from importlib.metadata import version

    return version("pagemind")
