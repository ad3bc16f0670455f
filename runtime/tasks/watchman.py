"""Looks, while a task runs, whether it was asked elsewhere to stop."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.settings import TASK_CANCEL_SECONDS

_log = logging.getLogger("pagemind.tasks")


@contextmanager
def watch_for(asked: Callable[[], bool], cancel: CancelToken, what: str) -> Iterator[None]:
    """Until this is left, the token is set as soon as that was asked."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(TASK_CANCEL_SECONDS):
            try:
                if asked():
                    cancel.cancel()
                    return
            except (PagemindError, OSError) as error:
                _log.warning("%s", error)  # the run itself will meet it

    thread = threading.Thread(target=look, name=f"cancel of {what}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
