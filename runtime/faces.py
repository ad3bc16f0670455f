"""The thin faces of a synchronous turn: as an iterator of events, and for async code."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from queue import SimpleQueue
from typing import TypeVar

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.trace import TraceEvent

T = TypeVar("T")


def stream(send: Callable[..., object]) -> Iterator[TraceEvent]:
    """Run `send(observer=…, cancel=…)` in a thread and give its events as they happen.

    What it raises is raised here. Closing the iterator cancels it and waits for its end.
    """
    events: SimpleQueue[TraceEvent | BaseException | None] = SimpleQueue()
    cancel = CancelToken()

    def run() -> None:
        try:
            send(observer=events.put, cancel=cancel)
            events.put(None)
        except BaseException as error:
            events.put(error)

    thread = threading.Thread(target=run, name="turn", daemon=True)
    thread.start()
    try:
        while (event := events.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        cancel.cancel()
        thread.join()


async def in_thread(send: Callable[..., T]) -> T:
    """Run `send(cancel=…)` in a thread; cancelling the task cancels it."""
    cancel = CancelToken()
    try:
        return await asyncio.to_thread(send, cancel=cancel)
    except asyncio.CancelledError:
        cancel.cancel()
        raise


async def astream(events: Iterator[TraceEvent]) -> AsyncIterator[TraceEvent]:
    """A synchronous iterator of events for async code; closing it stops the turn."""
    try:
        while (event := await asyncio.to_thread(next, events, None)) is not None:
            yield event
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            await asyncio.to_thread(close)
