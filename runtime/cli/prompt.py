"""The prompt of a chat as the rest of the chat sees it; editor.py is the real one."""

from collections.abc import Callable
from typing import Protocol


class Closed(Exception):
    """The chat ended from elsewhere while a person was at the prompt."""


class Prompt(Protocol):
    """Where lines come from at a terminal."""

    def read(self) -> str:
        """Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C, Closed after close()."""

    def type_ahead(self, keys: bytes) -> None:
        """Keys that were pressed before the next read(), which begins with them."""

    def when_shown(self, call: Callable[[], None]) -> None:
        """Call once, when the prompt stands for the first time."""

    def resting(self) -> bool:
        """Whether nobody has typed for a moment."""

    @property
    def shows_status(self) -> bool:
        """Whether the line of status is seen while a person types."""

    def ask(self, question: str) -> str:
        """One line in answer; "" for none."""

    def put(self, question: str) -> str:
        """One line of what is typed from now on. Raises EOFError, KeyboardInterrupt."""

    def redraw(self) -> None:
        """The line of status has changed."""

    def hang_up(self) -> None:
        """End read() with EOFError."""

    def close(self) -> None:
        """End read(), unless something is typed already."""
