"""Threads: an executor that starts a thread for each thing it is given.

Unlike those of a ThreadPoolExecutor they hold up nothing when the process ends: a person who
presses Ctrl-C twice need not wait for a model that does not answer. Whoever uses it bounds how much
runs at once (crew.py).
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class Threads(Executor):
    """Needs no end: a thread goes with the thing that it does."""

    def __init__(self, name: str) -> None:
        self._name = name

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, name=self._name, daemon=True).start()
        return future
