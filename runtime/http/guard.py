"""The guard before every route: who may ask, and how much.

With a token: only who shows it. Without one, on loopback: only who calls this machine by its own
name (a page in a browser that had its name rebound does not), and no page of another origin. No
answer ever allows another origin to read it. Bodies are bounded in size and in time, and so is how
long a client may take to read.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagemind.runtime.http.address import is_loopback
from pagemind.runtime.http.faults import HttpFault, fault_of
from pagemind.runtime.http.token import Token
from pagemind.runtime.settings import SERVE_BODY_BYTES, SERVE_SILENCE_SECONDS

_log = logging.getLogger("pagemind.http")

OPEN = "/health"  # answers everybody, and tells nothing
_TOKEN_HINT = "send the header Authorization: Bearer TOKEN"


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp, token: Token | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not served")  # websockets are off
        try:
            headers = Headers(scope=scope)
            self._admit(headers, scope["path"])
            _measure(headers, scope["method"])
        except HttpFault as fault:
            who = (scope.get("client") or ("?",))[0]
            _log.warning("refused %s %r of %s: %s", scope["method"], scope["path"], who, fault)
            await fault_of(fault).response(scope["path"])(scope, receive, send)
            return
        with suppress(_DoesNotRead):
            await self._app(scope, _Bounded(receive), _patient(send))

    def _admit(self, headers: Mapping[str, str], path: str) -> None:
        if path == OPEN:
            return
        if self._token is not None:
            scheme, _, shown = headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not self._token.fits(shown.strip()):
                missing = "authorization" not in headers
                raise HttpFault(
                    401,
                    "no token was shown" if missing else "the token is wrong",
                    hint=_TOKEN_HINT,
                    code="invalid_api_key",
                    headers={"WWW-Authenticate": "Bearer"},
                )
            return
        host = _host_of(headers.get("host", ""))
        if not is_loopback(host):
            raise HttpFault(
                421,
                f"this server is not called {host!r}",
                hint="call it 127.0.0.1 or localhost, or start it with a token (--token-env)",
            )
        origin = headers.get("origin")
        if origin is not None and not is_loopback(_host_of(origin.partition("://")[2])):
            raise HttpFault(
                403,
                "pages of other origins are not served",
                hint="start it with a token (--token-env)",
            )


def _host_of(authority: str) -> str:
    """`[::1]:8080` → `::1`"""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.rpartition(":")[0] if authority.count(":") == 1 else authority


def _measure(headers: Mapping[str, str], method: str) -> None:
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > SERVE_BODY_BYTES:
        raise _too_large()
    if method in ("POST", "PUT", "PATCH") and (length != "0" or "transfer-encoding" in headers):
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # what a page may send anywhere unasked is not this
            raise HttpFault(
                415,
                f"the body is {kind or 'of no stated type'}",
                hint="send JSON with the header Content-Type: application/json",
            )


def _too_large() -> HttpFault:
    return HttpFault(
        413,
        f"the request has more than {SERVE_BODY_BYTES >> 20} MB",
        hint="send fewer or smaller images, or less of the history",
    )


class _DoesNotRead(OSError):
    """A client that takes nothing of its answer any more."""


def _patient(send: Send) -> Send:
    """What is sent waits for a client to read what came before, but not for ever."""

    async def sending(message: Message) -> None:
        try:
            await asyncio.wait_for(send(message), SERVE_SILENCE_SECONDS)
        except TimeoutError:
            raise _DoesNotRead from None

    return sending


class _Bounded:
    """What is received, while it is a body: not too much of it, and not too slowly."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()  # the client leaves, some time
        try:
            message = await asyncio.wait_for(self._receive(), SERVE_SILENCE_SECONDS)
        except TimeoutError:
            raise HttpFault(
                408, f"nothing of the body came for {SERVE_SILENCE_SECONDS:.0f} seconds"
            ) from None
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._bytes > SERVE_BODY_BYTES:
                raise _too_large()
        return message
