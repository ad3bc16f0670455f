"""The server's protocol with a bound on how long a client may take to say what it wants.

uvicorn bounds the pause between two requests, but not the head of one: a client that sends it byte
by byte, or nothing at all, would hold its connection for ever.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pagemind.runtime.settings import SERVE_HEAD_SECONDS


class PatientProtocol(H11Protocol):
    """Closes a connection whose next head is not whole in time."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)  # uvicorn narrows the type as well
        self._wait()

    def data_received(self, data: bytes) -> None:
        idle = self.conn.their_state is h11.IDLE
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._come()
        elif idle and self._waiting is None:  # the first bytes of the next request
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._come()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(SERVE_HEAD_SECONDS, self._give_up)

    def _come(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self, *_: Any) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.close()
