"""A turn that a client waits for: begun in the keeper, watched from the event loop, and stopped
when the client leaves.

    async with service.turn(begin) as running:
        async for event in running.events(): …       # TraceEvents, until the turn has ended
        result = await running.result()

`begin(observer, cancel)` is called in a thread; it submits the event and gives the future. At most
SERVE_TURNS are waited for at once.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterator
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
from pagemind.runtime.naming import folded, nearest
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
    """What every route works with. Made before the event loop; used in it. `only`: the names of
    agents that are served; None for all, also those that are made later."""

    def __init__(
        self, runtime: Runtime, keeper: Keeper, only: Collection[str] | None = None
    ) -> None:
        self.runtime = runtime
        self.keeper = keeper
        self._only = None if only is None else {runtime.home.find(name).id for name in only}
        self._turns = 0
        self.draining = False  # no turn begins any more
        self._limits: dict[str, CapacityLimiter] = {}

    def serves(self, agent_id: str) -> bool:
        return self._only is None or agent_id in self._only

    async def find(self, name: str) -> Registered:
        """An agent. Raises UnknownAgent, which tells nothing of this machine."""

        def look() -> Registered:
            served = [each for each in self.runtime.home.all() if self.serves(each.id)]
            for each in served:
                if folded(each.name) == folded(name.strip()):
                    return each
            names = [each.name for each in served]
            hint = nearest(name, names, otherwise="GET /agents has all of them")
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
            running = Running(lambda: self._begin(running, begin))
            try:
                await running.begin()
                yield running
            finally:
                running.stop()

    async def _begin(self, running: "Running", begin: Begin) -> None:
        limiter = self._limit("turn", SERVE_TURNS)
        starting = asyncio.ensure_future(
            to_thread.run_sync(lambda: begin(running.tell, running.cancel), limiter=limiter)
        )
        # What has begun must be known, also where the client leaves meanwhile.
        starting.add_done_callback(running.begun)
        await asyncio.shield(starting)


class Running:
    """One turn, waited for in the event loop that it was made in. `begin` submits it."""

    def __init__(self, begin: Callable[[], Awaitable[None]]) -> None:
        self.begin = begin
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
        result = await asyncio.wrap_future(self._future)
        if result.stop_reason == "interrupted" and not self.cancel.cancelled:
            # Another client waited for the same message, and left: for this one it goes on.
            await self.begin()
            result = await asyncio.wrap_future(self._future)
        return result

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
