"""Patience: waits for a call only so long, whoever wrote what is called.

A call that does not come back cannot be stopped from outside; it is left to its thread, and until
it has come back no further one is made: who is asked again meanwhile hears so at once.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

from pagemind.runtime.errors import ModelTimeout

T = TypeVar("T")


class Patience:
    """Thread-safe. `who` is named in the errors."""

    def __init__(self, who: str, seconds: float) -> None:
        self._who = who
        self._seconds = seconds
        self._guard = threading.Lock()
        self._late: list[threading.Thread] = []

    def wait_for(self, call: Callable[[], T]) -> T:
        """What the call gives or raises. Raises ModelTimeout."""
        with self._guard:
            self._late = [thread for thread in self._late if thread.is_alive()]
            if self._late:
                raise ModelTimeout(f"{self._who} has not answered an earlier call yet")
        given: list[T] = []
        raised: list[BaseException] = []

        def run() -> None:
            try:
                given.append(call())
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=run, name="pagemind-embed", daemon=True)
        thread.start()
        thread.join(self._seconds)
        if raised:
            raise raised[0]
        if given:
            return given[0]
        with self._guard:
            self._late.append(thread)
        raise ModelTimeout(f"{self._who} did not answer within {self._seconds:g} s")
