"""The HTTP server: listens in a thread of its own, beside the keeper whose agents it serves.

    server = HttpServer(runtime, keeper, parse_address("127.0.0.1:8080"), token)
    server.start()          # listens when this returns; server.address has the real port
    server.drain()          # nothing new is taken in; then the keeper is stopped
    server.stop()           # what is on its way is sent, and it ends

Importing this needs no library: they are an extra.
"""

import logging
import socket
from collections.abc import Collection
from threading import Thread
from typing import TYPE_CHECKING

from pagemind.runtime.errors import MissingExtra, UserError
from pagemind.runtime.http.address import Address
from pagemind.runtime.http.token import Token
from pagemind.runtime.settings import (
    SERVE_CONNECTIONS,
    SERVE_HEAD_BYTES,
    SERVE_IDLE_SECONDS,
    SERVE_STOP_SECONDS,
)

if TYPE_CHECKING:
    from pagemind.runtime.awake.keeper import Keeper
    from pagemind.runtime.runtime import Runtime

_log = logging.getLogger("pagemind.http")


def check_extra() -> None:
    """Raises MissingExtra."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "starlette and uvicorn are not installed", hint="pip install 'pagemind[http]'"
        ) from None


class HttpServer:
    """Made at rest; `only` names the agents that are served, by default all. Raises MissingExtra,
    UserError where nobody can listen there."""

    def __init__(
        self,
        runtime: "Runtime",
        keeper: "Keeper",
        address: Address,
        token: Token | None,
        only: Collection[str] | None = None,
    ) -> None:
        check_extra()
        if token is None and not address.loopback:
            raise UserError(f"{address.host} is not served without a token")
        import uvicorn

        from pagemind.runtime.http.app import make_app
        from pagemind.runtime.http.patience import PatientProtocol
        from pagemind.runtime.http.running import Service

        self._socket = bound(address)
        self.address = Address(address.host, self._socket.getsockname()[1])
        self._service = Service(runtime, keeper, only)
        self._server = uvicorn.Server(
            uvicorn.Config(
                make_app(self._service, token),
                http=PatientProtocol,
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=SERVE_CONNECTIONS,
                timeout_keep_alive=SERVE_IDLE_SECONDS,
                timeout_graceful_shutdown=SERVE_STOP_SECONDS,
                h11_max_incomplete_event_size=SERVE_HEAD_BYTES,
            )
        )
        # What it has to say of connections stands in our own log, and on nobody's screen.
        logging.getLogger("uvicorn.error").parent = _log
        self._thread = Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        """Connections are taken from now on."""
        self._thread.start()

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        except Exception:
            _log.exception("the HTTP server ended")

    def drain(self) -> None:
        """No new turn begins: who asks for one is told to come back."""
        self._service.draining = True

    def stop(self) -> None:
        """Idempotent."""
        self.drain()
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(SERVE_STOP_SECONDS * 3)
        self._socket.close()


def bound(address: Address) -> socket.socket:
    """A socket that listens there: from now on connections wait, and are not refused."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=128)
    except OSError as error:
        raise UserError(
            f"nobody can listen at {address.url}: {error.strerror or error}",
            hint="is another one running? choose another port, or 0 for any that is free",
        ) from error
