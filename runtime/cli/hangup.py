"""A terminal that goes away (SIGHUP): the turn is stopped and kept, the program ends in order."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_hangup(call: Callable[[], None]) -> Iterator[None]:
    """Call once the terminal is gone. What is printed from then on goes nowhere."""
    if not hasattr(signal, "SIGHUP"):  # Windows has none
        yield
        return

    def gone(signum: int, frame: FrameType | None) -> None:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        call()

    before = signal.signal(signal.SIGHUP, gone)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
