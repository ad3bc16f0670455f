"""A thread with an event loop of its own: the library is asynchronous, the runtime is not.

It starts at the first use and ends with close().
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import Any, TypeVar

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import SystemClock

_LOOK_SECONDS = 0.05
T = TypeVar("T")


class LoopThread:
    """Of one agent's servers."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Begin it."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name=self._name, daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(
        self, work: Coroutine[Any, Any, T], seconds: float, cancel: CancelToken | None = None
    ) -> T:
        """What it gives or raises. Raises TimeoutError when the time is over, Cancelled when the
        token is set; it is cancelled then."""
        future = self.start(work)
        clock = SystemClock()
        end = clock.monotonic() + seconds
        try:
            while True:
                left = end - clock.monotonic()
                try:
                    return future.result(max(0.0, min(_LOOK_SECONDS, left)))
                except NotYet:
                    if future.done():
                        raise  # its own
                    if left <= 0:
                        raise TimeoutError from None
                if cancel is not None:
                    cancel.check()
        finally:
            future.cancel()

    def close(self) -> None:
        """End the thread; what still runs in it is cancelled."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end(), loop)
        thread.join(3.0)
        if not thread.is_alive():
            loop.close()


async def _end() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=2.0)
    loop = asyncio.get_running_loop()
    loop.call_soon(loop.stop)  # when this one is done, too
