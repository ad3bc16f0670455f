"""The signals that end a program which serves: SIGTERM and SIGHUP in order, SIGINT as Ctrl-C.

The first lets what runs end, the second cuts it off soundly, the third leaves at once: what is on
disk is sound at any instant.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_CODES = {"SIGINT": 130}


class Stop:
    """`event` is set by the first signal; `why` and `code` say which it was."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.signal = ""
        self.times = 0

    @property
    def why(self) -> str:
        return self.signal

    @property
    def code(self) -> int:
        return _CODES.get(self.signal, 0)

    def leave_at_once(self) -> None:
        """A turn does not end: it must not hold the process up."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(self.code)


@contextmanager
def stop_signals(insists: Callable[[], object]) -> Iterator[Stop]:
    """Until it is left, signals come here; `insists` is called, in a thread, for the second."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # signals go to the main thread alone
        return

    def come(signum: int, frame: FrameType | None) -> None:
        stop.times += 1
        stop.signal = stop.signal or signal.Signals(signum).name
        # In threads: the main thread may hold the very lock that these need.
        if stop.times == 1:
            threading.Thread(target=stop.event.set, daemon=True).start()
        elif stop.times == 2:
            threading.Thread(target=insists, daemon=True).start()
        else:
            stop.leave_at_once()

    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), come) for name in names}
    try:
        yield stop
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
