"""Ctrl-C while a turn runs: the first asks it to stop, the next one insists. And while it must not
come in between."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pagemind.runtime.cancel import CancelToken


@contextmanager
def stop_on_interrupt() -> Iterator[CancelToken]:
    """The token that Ctrl-C sets. Pressed again, it raises KeyboardInterrupt."""
    cancel = CancelToken()
    if threading.current_thread() is not threading.main_thread():
        yield cancel  # signals go to the main thread alone
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        if cancel.cancelled:
            raise KeyboardInterrupt
        cancel.cancel()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Ctrl-C waits until the end of this."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[FrameType | None] = []
    before = signal.signal(signal.SIGINT, lambda signum, frame: pressed.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed and callable(before):
            before(signal.SIGINT, pressed[0])
