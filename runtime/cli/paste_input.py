"""A terminal's input that takes a large paste in one piece, and keys that were read elsewhere."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

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
        return self._pressed(self.stdin_reader.read())

    def cooked_mode(self) -> AbstractContextManager[None]:
        """While something is printed above the prompt, keys stay keys: the library would let the
        terminal echo and interpret those that are pressed meanwhile."""
        return nullcontext()

    def type_ahead(self, keys: bytes) -> None:
        """The next prompt begins with these keys."""
        found = self._pressed(keys.decode("utf-8", "surrogateescape"))
        if not self._pieces:
            found += self.flush_keys()  # an Escape that nothing followed
        store_typeahead(self, found)

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        """What was typed ahead stays out of a prompt that runs meanwhile."""
        waiting = get_typeahead(self)
        try:
            yield
        finally:
            store_typeahead(self, [*waiting, *get_typeahead(self)])

    def takes_back(self, key: Keys) -> bool:
        """Whether that key was typed ahead. What was typed before it is dropped with it."""
        waiting = get_typeahead(self)
        last = max((at for at, each in enumerate(waiting) if each.key == key), default=-1)
        store_typeahead(self, waiting[last + 1 :])
        return last >= 0

    def _pressed(self, data: str) -> list[KeyPress]:
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
