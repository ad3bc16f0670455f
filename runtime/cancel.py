"""The cancel token: set by Ctrl-C, read between chunks and steps, never raised in a transaction."""

import threading

from pagemind.runtime.errors import Cancelled


class CancelToken:
    """One turn's stop signal; safe to set from a signal handler or another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise Cancelled if the token is set."""
        if self._event.is_set():
            raise Cancelled("stopped")

    def wait(self, seconds: float) -> None:
        """Sleep, but wake and raise Cancelled as soon as the token is set."""
        if self._event.wait(seconds):
            raise Cancelled("stopped")
