"""One client of a server from its begin to its end, on the event loop: the library wants both in
one task."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagemind.runtime.mcp.http_transport import http_transport
from pagemind.runtime.mcp.library import quiet
from pagemind.runtime.mcp.process_transport import ProcessTransport
from pagemind.runtime.mcp_use import McpTerms
from pagemind.runtime.settings import MCP_START_SECONDS

if TYPE_CHECKING:
    from mcp import Client

_log = logging.getLogger("pagemind.mcp")
_END_SECONDS = 10.0  # a process takes two times MCP_END_SECONDS at most


class Life:
    """`folder` is where a command runs, `env` what it sees; `list_changed` is called when the
    server says so."""

    def __init__(
        self,
        terms: McpTerms,
        folder: Path,
        env: Mapping[str, str],
        list_changed: Callable[[], None],
    ) -> None:
        self._terms = terms
        self._env = env
        self._list_changed = list_changed
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.client: Client | None = None
        self.status = 0  # of the last answer over HTTP
        self.process: ProcessTransport | None = None
        if terms.url is None:
            self.process = ProcessTransport(terms.command, folder, env)

    @property
    def is_open(self) -> bool:
        """Whether the server is there to be spoken to."""
        return self.client is not None and not (self.process and self.process.ended)

    async def begin(self) -> None:
        """Start and greet it. Raises whatever goes wrong."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(opened))
        try:
            await opened
        except asyncio.CancelledError:
            self._task.cancel()  # it waits for a server that does not answer
            raise

    async def end(self) -> None:
        """Let it go; its process has ended when this returns."""
        self._stop.set()
        if self._task is None:
            return
        done, _ = await asyncio.wait([self._task], timeout=_END_SECONDS)
        if not done:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_END_SECONDS)

    async def _live(self, opened: "asyncio.Future[None]") -> None:
        from mcp import Client
        from mcp_types import Implementation

        quiet()
        client = Client(
            self.process or self._http(),
            client_info=Implementation(name="pagemind", version=_version()),
            message_handler=self._hear,
            cache=None,
        )
        try:
            async with client:
                self.client = client
                if not opened.done():
                    opened.set_result(None)
                await self._stop.wait()
        except BaseException as error:
            if opened.done():
                _log.debug("a server ended", exc_info=True)
            elif isinstance(error, Exception):
                if self.process is not None:
                    await self.process.ending(0.5)
                opened.set_exception(error)
            else:
                opened.cancel()
                raise

    def _http(self) -> Any:
        assert self._terms.url is not None
        token = self._env.get(self._terms.token_env or "")
        longest = max(self._terms.seconds, MCP_START_SECONDS)
        return http_transport(self._terms.url, token, longest, self._heard)

    def _heard(self, status: int) -> None:
        self.status = status

    async def _hear(self, message: Any) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._list_changed()


def _version() -> str:
    from importlib.metadata import version

    return version("pagemind")
