"""What a function answered before, so that it need not be said twice: by the first line of its
result, which names what was read and what was in it."""

from collections.abc import Callable
from dataclasses import dataclass

from pagemind.runtime.fifo_queue import FifoQueue
from pagemind.runtime.state.state import State


@dataclass(frozen=True, slots=True)
class Before:
    """An earlier answer: its message (m45), and whether the model still sees all of it."""

    id: str
    in_view: bool


class Earlier:
    """Of one agent. `readable`: the model can read a message again that it does not see."""

    def __init__(self, state: State, queue: Callable[[], FifoQueue], *, readable: bool) -> None:
        self._state = state
        self._queue = queue
        self._readable = readable

    def find(self, name: str, first_line: str) -> Before | None:
        """The newest answer of a function that begins with this line, where the model can get at
        it."""
        for entry in reversed(list(self._queue())):
            message = entry.message
            if message.name == name and message.text.startswith(f"{first_line}\n"):
                if entry.view.form == "full":
                    return Before(message.short_id, in_view=True)
                break
        if not self._readable:
            return None
        found = self._state.journal.newest_result(name, first_line)
        return Before(f"m{found}", in_view=False) if found else None
