"""Server-sent events: how they are written, and the response that sends them.

The response ends its turn when the client leaves, and sends a comment now and then while there is
nothing to say, so that nothing in between takes it for dead.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pagemind.runtime.settings import SERVE_PING_SECONDS

_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would keep it until it is whole
}
PING = b": ping\n\n"


def event(data: Mapping[str, Any] | str, name: str = "") -> bytes:
    """One event. Line ends in JSON are escaped, so that it is one line."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode("utf-8", "replace")


class EventStream(Response):
    """Sends what `events` gives. `held` is let go when the client leaves, or when all is sent."""

    def __init__(
        self, events: AsyncGenerator[bytes], headers: Mapping[str, str], held: AsyncExitStack
    ) -> None:
        super().__init__(None, 200, {**_HEADERS, **headers})
        del self.headers["content-length"]
        self._events = events
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.ensure_future(self._send(send))
        leaving = asyncio.ensure_future(left(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    await task
            await self._held.aclose()

    async def _send(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async with aclosing(self._events), aclosing(with_pings(self._events)) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def left(receive: Receive) -> None:
    """Returns when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def with_pings(events: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The same, with a comment wherever nothing came for a while."""
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait((coming,), timeout=SERVE_PING_SECONDS)
            if not done:
                yield PING
                continue
            piece = coming.result()
            if piece is None:
                return
            yield piece
            coming = asyncio.ensure_future(anext(events, None))
    finally:
        coming.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await coming
