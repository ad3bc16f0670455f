"""The person at the terminal of a task. What the task itself asks is answered with one of its
words, or the beginning of one; all else is as in a chat."""

import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.cli.consent_view import exact
from pagemind.runtime.cli.terminal_person import TerminalPerson


class TaskPerson(TerminalPerson):
    """`aside` gives the terminal free for as long as something is asked; Ctrl-C sets `cancel`."""

    def __init__(
        self,
        cancel: CancelToken,
        aside: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        super().__init__(_put, aside, lambda: shutil.get_terminal_size().columns, cancel)

    def choose(self, question: str, choices: Sequence[str]) -> str | None:
        """What is done, in a word of the choices."""
        words = f"{', '.join(choices[:-1])} or {choices[-1]}"
        with self._aside():
            self._show([f"? {exact(line)}" for line in question.splitlines()])
            return self._read(f"  {words}: ")


def somebody(*, as_json: bool = False) -> bool:
    """Whether a person sees what is asked, and can answer."""
    return not as_json and sys.stdin.isatty() and sys.stdout.isatty()


def _put(question: str) -> str:
    with _interrupted():
        print(question, end="", flush=True)
        line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


@contextmanager
def _interrupted() -> Iterator[None]:
    """Ctrl-C ends the asking at once, where it asks the task to stop at other times."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
