"""Looks, while a task runs, whether `tasks cancel` was said elsewhere."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.settings import TASK_CANCEL_SECONDS
from pagemind.runtime.state.ledger import Ledger

_log = logging.getLogger("pagemind.tasks")


@contextmanager
def watch_for_cancel(ledger: Ledger, task: str, cancel: CancelToken) -> Iterator[None]:
    """Until this is left, the token is set as soon as somebody asks for it in the ledger."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(TASK_CANCEL_SECONDS):
            try:
                if ledger.asked_to_cancel(task):
                    cancel.cancel()
                    return
            except PagemindError as error:
                _log.warning("%s", error)  # the run itself will meet it

    thread = threading.Thread(target=look, name=f"cancel of task {task}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
