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


async def astream(send: Callable[..., object]) -> AsyncIterator[TraceEvent]:
    """`stream` for async code. Leaving it early, or cancelling its task, stops the turn."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[TraceEvent | None] = asyncio.Queue()
    cancel = CancelToken()

    def observer(event: TraceEvent) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    turn = asyncio.ensure_future(asyncio.to_thread(send, observer=observer, cancel=cancel))
    turn.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        await turn
    finally:
        cancel.cancel()
        await asyncio.wait([turn])
        if not turn.cancelled():
            turn.exception()  # whoever left early does not want what it raised; it is seen to
