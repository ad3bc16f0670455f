"""What is typed while a turn runs: shown in the last row of the terminal, kept for the next prompt.

Nothing is reserved until a key is pressed: an answer that nobody types into is printed as it always
was. From the first key on the answer scrolls above the last row, which is given back at the end.
A Ctrl-C that the terminal took for a letter is made a signal again.
"""

import codecs
import os
import re
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.cli.interrupt import without_interrupts
from pagemind.runtime.cli.render import visible
from pagemind.runtime.cli.wrapping import cells
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.settings import TYPING_PAUSE_SECONDS

_CTRL_C = b"\x03"
_SHOWN_BYTES = 4_000  # of all that was typed; no row is longer
_FEWEST_ROWS = 4
_LOOK_SECONDS = 0.2  # how soon a resize is seen
_KEYS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)?|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")
_PASTES_ON, _PASTES_OFF = "\x1b[?2004h", "\x1b[?2004l"
_SAVE, _RESTORE = "\x1b7", "\x1b8"


class TypedAhead:
    """`keys` is all that was typed. `writing` is held while the terminal is written to, here and
    wherever else that happens meanwhile."""

    def __init__(self, writing: AbstractContextManager[Any]) -> None:
        self._writing = writing
        self._size: tuple[int, int] | None = None  # of the terminal whose last row is taken
        self._source = sys.stdin.fileno()
        self._clock = SystemClock()
        self._typed_at = self._clock.monotonic() - TYPING_PAUSE_SECONDS
        self._pipe: tuple[int, int] | None = None  # what is written there ends the thread
        self.keys = b""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Keys are taken and shown."""
        try:
            self._begin()
            yield
        finally:
            with without_interrupts():  # a thread left behind would take every later key
                self._end()

    @contextmanager
    def aside(self, cancel: CancelToken) -> Iterator[None]:
        """Keys are for somebody else meanwhile, from a moment on in which nobody types: what comes
        before it stays here. Raises Cancelled."""
        while (left := self._typed_at + TYPING_PAUSE_SECONDS - self._clock.monotonic()) > 0:
            cancel.wait(left)
        with without_interrupts():
            self._end()
        try:
            yield
        finally:
            self._begin()

    def _begin(self) -> None:
        self._pipe = stop, _ = os.pipe()
        self._thread = threading.Thread(
            target=self._listen, args=(stop,), name="pagemind-typed-ahead", daemon=True
        )  # a terminal that hangs must not hold up the end
        self._write(_PASTES_ON)
        self._thread.start()

    def _end(self) -> None:
        if self._pipe is None:
            return
        stop, stopping = self._pipe
        os.write(stopping, b".")
        if self._thread.ident is not None:
            self._thread.join()
        os.close(stop)
        os.close(stopping)
        self._pipe = None
        self._give_back()

    # --- the thread -----------------------------------------------------------------------------

    def _listen(self, stop: int) -> None:
        while True:
            wait = _LOOK_SECONDS if self._size is not None else None
            ready, _, _ = select.select([stop, self._source], [], [], wait)
            if stop in ready:
                return
            if not ready:
                if _size() != self._size:
                    self._show()
                continue
            try:
                data = os.read(self._source, 65_536)
            except OSError:  # the terminal is gone
                return
            if not data:
                return
            if _CTRL_C in data:
                # Typed after Enter, before the prompt had let go of the terminal.
                data = data.replace(_CTRL_C, b"")
                main = threading.main_thread().ident
                assert main is not None
                signal.pthread_kill(main, signal.SIGINT)
            self.keys += data
            self._typed_at = self._clock.monotonic()
            if data:
                self._show()

    def _show(self) -> None:
        columns, rows = size = _size()
        line = typed(self.keys)
        if rows < _FEWEST_ROWS or (not line and self._size is None):
            return
        reserved = ""
        if size != self._size:
            # One row down and up again: on the last row the answer makes room. A terminal forgets
            # its margins when its size changes, and what stood in its last row is anywhere then.
            clear = "\x1b[J" if self._size is not None else ""
            reserved = f"{clear}\x1bD\x1b[A{_SAVE}\x1b[1;{rows - 1}r{_RESTORE}"
            self._size = size
        text = _tail(line, columns - 3)
        self._write(f"{reserved}{_SAVE}\x1b[{rows};1H\x1b[0m\x1b[K\x1b[2m› {text}\x1b[0m{_RESTORE}")

    # --- the terminal ---------------------------------------------------------------------------

    def _give_back(self) -> None:
        given = f"{_SAVE}\x1b[r{_RESTORE}\x1b[J" if self._size is not None else ""
        self._size = None
        self._write(given + _PASTES_OFF)

    def _write(self, text: str) -> None:
        with self._writing, suppress(OSError):
            sys.stdout.write(text)
            sys.stdout.flush()


def typed(keys: bytes) -> str:
    """What stands on the line after these keys, as far as that can be told without the editor: its
    end, in one line."""
    text = codecs.decode(keys[-_SHOWN_BYTES:], "utf-8", "ignore")
    line = ""
    for key in _KEYS.findall(text):
        if key in ("\r", "\n"):
            line += " ⏎ "
        elif key == "\t":
            line += " "
        elif key in ("\x7f", "\b"):
            line = line[:-1]
        elif key == "\x15":
            line = ""
        elif key == "\x17":
            line = "".join(line.rstrip().rpartition(" ")[:2])
        elif key[0] >= " ":
            line += key
    return visible(line)


def _tail(text: str, columns: int) -> str:
    """The end of it, in so many columns."""
    if cells(text) <= columns:
        return text
    text = text[-columns:]
    while cells(text) > columns - 1:
        text = text[1:]
    return f"…{text}"


def _size() -> tuple[int, int]:
    """Columns and rows."""
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return 80, 0
    return columns or 80, rows
