"""A terminal's input that takes a large paste in one piece."""

from typing import Any

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress

_START, _END = "\x1b[200~", "\x1b[201~"


class PasteInput(Vt100Input):
    """The library looks through all that was pasted so far with each kilobyte that arrives: ten
    megabytes would take it minutes.
    """

    def __init__(self, stdin: Any) -> None:
        super().__init__(stdin)
        self._pieces: list[str] = []  # of a paste that has begun
        self._tail = ""  # what may be the first half of its end

    def read_keys(self) -> list[KeyPress]:
        data = self.stdin_reader.read()
        if not self._pieces and _START not in data:
            self.vt100_parser.feed(data)
        else:
            self._pieces.append(data)
            seen = self._tail + data
            self._tail = seen[1 - len(_END) :]
            if _END in seen:
                self.vt100_parser.feed("".join(self._pieces))
                self._pieces.clear()
                self._tail = ""
        found = self._buffer
        self._buffer = []
        return found
