"""A turn that a client waits for: begun in the keeper, watched from the event loop, and stopped
when the client leaves.

    async with service.turn(begin) as running:
        async for event in running.events(): …       # TraceEvents, until the turn has ended
        result = await running.result()

`begin(observer, cancel)` is called in a thread; it submits the event and gives the future. At most
SERVE_TURNS are waited for at once.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request

from pagemind.runtime.awake.keeper import Keeper
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import Cancelled, UnknownAgent
from pagemind.runtime.http.events import left
from pagemind.runtime.http.faults import HttpFault
from pagemind.runtime.naming import nearest
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import SERVE_READS, SERVE_RETRY_SECONDS, SERVE_TURNS
from pagemind.runtime.state.home import Registered
from pagemind.runtime.trace import Observer, TraceEvent
from pagemind.runtime.turn import TurnResult

T = TypeVar("T")
Begin = Callable[[Observer, CancelToken], "Future[TurnResult]"]


class ClientLeft(Exception):
    """Nobody is there to be answered."""


class Service:
    """What every route works with. Made before the event loop; used in it."""

    def __init__(self, runtime: Runtime, keeper: Keeper) -> None:
        self.runtime = runtime
        self.keeper = keeper
        self._turns = 0
        self.draining = False  # no turn begins any more
        self._limits: dict[str, CapacityLimiter] = {}

    async def find(self, name: str) -> Registered:
        """An agent. Raises UnknownAgent, which tells nothing of this machine."""

        def look() -> Registered:
            home = self.runtime.home
            if home.exists(name):
                return home.find(name)
            hint = nearest(
                name, [each.name for each in home.all()], otherwise="GET /agents has all"
            )
            raise UnknownAgent(f"no agent is called {name!r}", hint=hint)

        return await self.read(look)

    async def read(self, function: Callable[[], T]) -> T:
        """What takes a moment, in a thread."""
        return await to_thread.run_sync(function, limiter=self._limit("read", SERVE_READS))

    async def write(self, function: Callable[[], T]) -> T:
        """What may wait for a turn that runs, in a thread. Raises HttpFault for one too many."""
        with self._place():
            limiter = self._limit("turn", SERVE_TURNS)
            return await to_thread.run_sync(function, limiter=limiter)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """One of those that may wait."""
        if self.draining:
            raise Cancelled("the server stops", hint="try again when it is back")
        if self._turns >= SERVE_TURNS:
            raise HttpFault(
                503,
                f"{SERVE_TURNS} turns are waited for already",
                hint="try again later",
                code="too_many_turns",
                headers={"Retry-After": str(SERVE_RETRY_SECONDS)},
            )
        self._turns += 1
        try:
            yield
        finally:
            self._turns -= 1

    def _limit(self, name: str, threads: int) -> CapacityLimiter:
        return self._limits.setdefault(name, CapacityLimiter(threads))

    @asynccontextmanager
    async def turn(self, begin: Begin) -> AsyncIterator["Running"]:
        """Leaving it stops the turn, if that still runs. Raises HttpFault for one too many, and
        what `begin` does."""
        with self._place():
            running = Running()
            try:
                limiter = self._limit("turn", SERVE_TURNS)
                # What has begun must be known here, also where the client leaves meanwhile.
                starting = asyncio.ensure_future(
                    to_thread.run_sync(lambda: begin(running.tell, running.cancel), limiter=limiter)
                )
                starting.add_done_callback(running.begun)
                await asyncio.shield(starting)
                yield running
            finally:
                running.stop()


class Running:
    """One turn, waited for in the event loop that it was made in."""

    def __init__(self) -> None:
        self.cancel = CancelToken()
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[TraceEvent | None] = asyncio.Queue()
        self._future: Future[TurnResult] | None = None
        self._stopped = False
        self._early: list[TraceEvent] = []  # waited for before anybody listened

    def tell(self, event: TraceEvent) -> None:
        """An observer, called in the turn's thread."""
        self._put(event)

    def _put(self, event: TraceEvent | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)

    def begun(self, starting: "asyncio.Future[Future[TurnResult]]") -> None:
        """It was submitted, or could not be."""
        if starting.cancelled() or starting.exception() is not None:
            return
        self._future = starting.result()
        self._future.add_done_callback(lambda _: self._put(None))
        if self._stopped:
            self.stop()

    def stop(self) -> None:
        """Take it back if it has not begun, cut it off if it runs."""
        self._stopped = True
        self.cancel.cancel()
        if self._future is not None:
            self._future.cancel()

    @property
    def ended(self) -> bool:
        """Whether there is a result, or an error."""
        return self._future is not None and self._future.done()

    async def events(self) -> AsyncIterator[TraceEvent]:
        """What happens, until it has ended."""
        for early in self._early:
            yield early
        while (event := await self._events.get()) is not None:
            yield event

    async def first(self, kinds: tuple[str, ...], seconds: float) -> None:
        """Wait for the first event of one of these kinds, the end, or a time. None is lost."""
        deadline = self._loop.time() + seconds
        while True:
            try:
                rest = max(0.0, deadline - self._loop.time())
                coming = await asyncio.wait_for(self._events.get(), rest)
            except TimeoutError:
                return
            if coming is None:
                self._events.put_nowait(None)
                return
            self._early.append(coming)
            if coming.kind in kinds:
                return

    async def result(self) -> TurnResult:
        """What it came to. Raises what it raised."""
        assert self._future is not None
        return await asyncio.wrap_future(self._future)

    async def result_for(self, request: Request) -> TurnResult:
        """The same while the client is there. Raises ClientLeft."""
        return await while_there(request, self.result())


async def while_there(request: Request, coming: Coroutine[Any, Any, T]) -> T:
    """What is waited for, unless the client leaves first. Raises ClientLeft."""
    leaving = asyncio.ensure_future(left(request.receive))
    waiting = asyncio.ensure_future(coming)
    try:
        await asyncio.wait((leaving, waiting), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            raise ClientLeft
        return waiting.result()
    finally:
        leaving.cancel()
        waiting.cancel()
