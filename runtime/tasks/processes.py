"""Processes: an executor of so many processes on this machine, each replaced when it dies.

Each is a pool of its own, so that a process that dies takes nothing else with it: its future tells
BrokenExecutor, and the next thing it is given goes to a new one. They begin afresh (spawn), leave
Ctrl-C to the process that made them, and end when that one does.
"""

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from queue import SimpleQueue
from typing import Any


class Processes(Executor):
    """submit() waits for one that is free."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._lock = threading.Lock()
        self._pools: set[ProcessPoolExecutor] = set()
        self._free: SimpleQueue[ProcessPoolExecutor | None] = SimpleQueue()
        for _ in range(number):
            self._free.put(None)  # made when it is needed

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        pool = self._free.get() or self._made()
        try:
            future = pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:  # it died while it had nothing to do
            self._drop(pool)
            pool = self._made()
            future = pool.submit(fn, *args, **kwargs)
        future.add_done_callback(partial(self._back, pool))
        return future

    def _made(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin)
        with self._lock:
            self._pools.add(pool)
        return pool

    def _drop(self, pool: ProcessPoolExecutor) -> None:
        with self._lock:
            self._pools.discard(pool)
        pool.shutdown(wait=False)

    def _back(self, pool: ProcessPoolExecutor, future: "Future[Any]") -> None:
        if not future.cancelled() and isinstance(future.exception(), BrokenExecutor):
            self._drop(pool)
            self._free.put(None)
        else:
            self._free.put(pool)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Without `wait` what still runs is ended at once."""
        with self._lock:
            pools, self._pools = self._pools, set()
        for pool in pools:
            running = list((pool._processes or {}).values())
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)
            if not wait:
                for process in running:
                    process.terminate()


def _begin() -> None:
    """In each process, before anything else."""
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="end with parent", daemon=True).start()


def _end_with_parent() -> None:
    """A pool's process does not see that the one it works for was killed."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
