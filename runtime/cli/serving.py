"""The agents of `pagemind up` over HTTP, beside the keeper that runs their turns."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagemind.runtime.awake.events import Tell
    from pagemind.runtime.awake.keeper import Keeper
    from pagemind.runtime.clock import Clock
    from pagemind.runtime.http.server import HttpServer
    from pagemind.runtime.runtime import Runtime


class Serving:
    """A server that says where it is. start() once the home is awake; drain() before the keeper is
    stopped, stop() after it."""

    def __init__(self, server: "HttpServer", clock: "Clock", tell: "Tell", *, token: bool) -> None:
        self._server = server
        self._clock = clock
        self._tell = tell
        self._token = token
        self.drain = server.drain
        self.stop = server.stop

    def start(self) -> None:
        from pagemind.runtime.awake.events import AwakeEvent
        from pagemind.runtime.clock import rfc3339

        self._server.start()
        told = {"url": self._server.address.url, "token": self._token}
        self._tell(AwakeEvent("listening", rfc3339(self._clock.now()), told))


@contextmanager
def serving(
    runtime: "Runtime",
    keeper: "Keeper",
    address: str | None,
    token_env: str | None,
    only: Collection[str] | None,
    tell: "Tell",
) -> Iterator[Serving | None]:
    """The address is taken from now on, and let go at the end; None without one. Raises UserError,
    MissingExtra."""
    from pagemind.runtime.errors import UserError

    if address is None:
        if token_env is not None:
            raise UserError("--token-env is of --http", hint="say --http 127.0.0.1:8080, too")
        yield None
        return
    from pagemind.runtime.http.address import parse_address
    from pagemind.runtime.http.server import HttpServer, check_extra
    from pagemind.runtime.http.token import find_token

    check_extra()
    where = parse_address(address)
    token = find_token(runtime.home.path, token_env, where)
    server = HttpServer(runtime, keeper, where, token, only)
    try:
        yield Serving(server, runtime.clock, tell, token=token is not None)
    finally:
        server.stop()
