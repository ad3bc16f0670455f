"""within(): a call that may hang gets so many seconds, and is given up then.

A thread cannot be stopped from outside: what is given up goes on until it ends by itself, and its
answer is dropped. What must really end runs in a process (tools/process.py).
"""

import threading
from collections.abc import Callable
from typing import TypeVar

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import ToolFailed, ToolHung

_LOOK_SECONDS = 0.05
T = TypeVar("T")


def within(
    seconds: float, call: Callable[[], T], what: str, cancel: CancelToken | None = None
) -> T:
    """What the call gives or raises. Raises ToolHung when the time is over, Cancelled when the
    token is set meanwhile."""
    answers: list[T] = []
    raised: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            answers.append(call())
        except BaseException as error:  # whatever it is, it is raised where it was called
            raised.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name=f"call of {what}", daemon=True).start()
    left = seconds
    while not done.wait(min(_LOOK_SECONDS, max(left, 0.0))):
        left -= _LOOK_SECONDS
        if cancel is not None:
            cancel.check()
        if left <= 0:
            raise ToolHung(
                f"{what} did not answer within {seconds:g} seconds and was given up; it may still"
                " be at work"
            )
    if raised and isinstance(raised[0], KeyboardInterrupt):  # nobody pressed it: signals go to
        raise ToolFailed(f"{what} failed: KeyboardInterrupt")  # the main thread
    if raised:
        raise raised[0]
    return answers[0]
