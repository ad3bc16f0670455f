"""One server, spoken to: started when it is first needed, and again when it is needed after it
ended, after a pause that grows with each failure.
"""

import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import SystemClock
from pagemind.runtime.errors import Cancelled, ToolFailed
from pagemind.runtime.mcp.life import Life
from pagemind.runtime.mcp.loop_thread import LoopThread
from pagemind.runtime.mcp.offered import Offered
from pagemind.runtime.mcp.plain_schema import clean
from pagemind.runtime.mcp_use import ServerUse
from pagemind.runtime.settings import (
    MCP_BACKOFF_MAX_SECONDS,
    MCP_BACKOFF_SECONDS,
    MCP_DESCRIPTION_CHARS,
    MCP_START_SECONDS,
    MCP_TIMEOUTS,
    MCP_TOOLS,
)
from pagemind.runtime.written_path import expanded

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, ReadResourceResult, RequestParamsMeta

T = TypeVar("T")
_CLOSE_SECONDS = 25.0
_UNKNOWN = " Whether it was done is not known."
_PAGES = 100  # of one list; a server may say for ever that there is more


class Connection:
    """Of one agent to one server. `folder` is where its command runs."""

    def __init__(self, use: ServerUse, folder: Path, loop: LoopThread) -> None:
        self.use = use
        self._folder = folder / expanded(use.terms.folder)
        self._loop = loop
        self._clock = SystemClock()
        self._life: Life | None = None
        self._failures = 0  # in a row
        self._not_before = 0.0
        self._timeouts = 0
        self.changed = False  # it said that its list has changed

    @property
    def is_open(self) -> bool:
        """Whether it is there to be spoken to."""
        return self._life is not None and self._life.is_open

    @property
    def pid(self) -> int | None:
        """Of its process."""
        process = self._life.process if self._life is not None else None
        return process.pid if process is not None else None

    @property
    def told(self) -> str:
        """What it calls itself."""
        client = self._life.client if self._life is not None else None
        info = client.server_info if client is not None else None
        return clean(f"{info.name} {info.version}", 100) if info is not None else ""

    def open(self, cancel: CancelToken | None = None) -> None:
        """Start it, if it does not run. Raises ToolFailed."""
        if self.is_open:
            return
        left = self._not_before - self._clock.monotonic()
        if left > 0:
            raise ToolFailed(
                f"the server {self.use.name} failed {self._failures} times in a row and is started"
                f" again in {left:.0f} seconds at the earliest"
            )
        self.close()
        env = self._environment()
        try:
            self._loop.run(self._begin(env), MCP_START_SECONDS, cancel)
        except Cancelled:
            self.close()
            raise
        except Exception as error:
            self._failed()
            why = f"no answer within {MCP_START_SECONDS:g} seconds"
            if (told := self._told()) or not isinstance(error, TimeoutError):
                why = told or self._why(error)
            self.close()
            raise ToolFailed(
                f"the server {self.use.name} ({self.use.shown}) cannot be reached: {why}"
            ) from None

    def offered(self, cancel: CancelToken | None = None) -> list[Offered]:
        """Its tools, sorted by name: a server may name them in any order. Raises ToolFailed."""
        end = self._clock.monotonic() + MCP_START_SECONDS
        self.open(cancel)
        left = max(1.0, end - self._clock.monotonic())  # starting and listing share the time
        try:
            found = self._loop.run(self._list(), left, cancel)
        except Cancelled:
            raise
        except Exception as error:
            self._fail("does not say what it offers", error, MCP_START_SECONDS)
        self.changed = False
        if len(found) > MCP_TOOLS:
            wanted = [tool for tool in found if self.use.wants(tool.name)]
            if len(wanted) > MCP_TOOLS:
                raise ToolFailed(
                    f"the server {self.use.name} has {len(found):,} tools, and at most"
                    f" {MCP_TOOLS} are taken; name those that are wanted under allow"
                )
            found = wanted
        return sorted(found, key=lambda tool: tool.name)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        id: str,
        cancel: CancelToken | None = None,
    ) -> "CallToolResult":
        """What the server answers; `id` is the same for a call that is made again. Raises
        ToolFailed where what it did cannot be known, too."""
        meta = cast("RequestParamsMeta", {"pagemind/call": id})  # keys of one's own are allowed
        return self._ask(
            lambda client: client.call_tool(tool, dict(arguments), meta=meta),
            f"did not answer {tool}",
            seconds,
            cancel,
        )

    def read(
        self, uri: str, *, seconds: float, cancel: CancelToken | None = None
    ) -> "ReadResourceResult":
        """A resource. Raises ToolFailed."""
        what = f"did not give {uri[:200]}"
        return self._ask(lambda client: client.read_resource(uri), what, seconds, cancel)

    def _ask(
        self,
        ask: "Callable[[Client], Coroutine[Any, Any, T]]",
        what: str,
        seconds: float,
        cancel: CancelToken | None,
    ) -> T:
        self.open(cancel)
        try:
            answer = self._loop.run(ask(self._client()), seconds, cancel)
        except Cancelled:  # the server is told, and lives on
            raise
        except Exception as error:
            self._fail(what, error, seconds, _UNKNOWN)
        self._failures = self._timeouts = 0
        return answer

    def close(self) -> None:
        """End it. Idempotent."""
        life, self._life = self._life, None
        if life is not None:
            with suppress(Exception):
                self._loop.run(life.end(), _CLOSE_SECONDS)

    def _environment(self) -> dict[str, str]:
        names = [*self.use.terms.env, *([self.use.terms.token_env] if self.use.terms.url else [])]
        for name in names:
            if name and name not in os.environ:
                raise ToolFailed(
                    f"the server {self.use.name} needs the variable {name}, which is not set; a"
                    " person has to set it"
                )
        return {name: os.environ[name] for name in names if name}

    async def _begin(self, env: Mapping[str, str]) -> None:
        self._life = Life(self.use.terms, self._folder, env, self._list_changed)
        await self._life.begin()

    def _list_changed(self) -> None:
        self.changed = True

    def _client(self) -> "Client":
        assert self._life is not None
        assert self._life.client is not None
        return self._life.client

    async def _list(self) -> list[Offered]:
        client = self._client()
        found: dict[str, Offered] = {}
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                description = clean(tool.description or tool.title or "", MCP_DESCRIPTION_CHARS)
                schema = dict(tool.input_schema)
                found.setdefault(tool.name, Offered(tool.name, description, schema))
            cursor = page.next_cursor
            if not cursor:
                break
        return list(found.values())

    def _failed(self) -> None:
        self._failures += 1
        pause = min(MCP_BACKOFF_SECONDS * 2 ** (self._failures - 1), MCP_BACKOFF_MAX_SECONDS)
        self._not_before = self._clock.monotonic() + pause

    def _told(self) -> str:
        """How its process ended, if it did."""
        process = self._life.process if self._life is not None else None
        if process is None or not (process.ended or process.fault):
            return ""
        with suppress(Exception):
            self._loop.run(process.ending(0.5), 1.0)
        return self.use.untold(process.told())

    def _fail(self, what: str, error: Exception, seconds: float, unknown: str = "") -> NoReturn:
        """Say what a failure means for the call; `unknown` where it may have been done."""
        from mcp import MCPError

        name = self.use.name
        if told := self._told():
            self._failed()
            self.close()
            raise ToolFailed(
                f"the server {name} {what}: {told}.{unknown} It is started again when it is next"
                " needed"
            ) from None
        if isinstance(error, TimeoutError):
            self._timeouts += 1
            if self._timeouts >= MCP_TIMEOUTS:
                self._timeouts = 0
                self.close()
            raise ToolFailed(
                f"the server {name} {what} within {seconds:g} seconds and was given up; it may"
                " still be at work"
            ) from None
        why = self._why(error, 2000)
        answered = isinstance(error, MCPError) and error.code != _closed()
        if isinstance(error, MCPError) and not answered:
            self._failed()
            self.close()
        elif self.use.terms.url is not None:
            self.close()  # its session may be over; a new one costs little
        raise ToolFailed(
            f"the server {name} {what}: {why}{'' if answered else f'.{unknown}'}"
        ) from None

    def _why(self, error: BaseException, most: int = 600) -> str:
        """The first of the errors in one that holds several."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, FileNotFoundError):
            return self.use.untold(f"{error.filename} is not there")
        said = " ".join(clean(self.use.untold(str(error))).split())
        why = said[:most] or type(error).__name__
        status = self._life.status if self._life is not None else 0
        if status < 400:
            return why
        names = self.use.terms.token_env
        token = f"the token in {names} is wrong" if names else "it wants a token: say token_env"
        return f"{why} (HTTP {status}{f'; {token}' if status in (401, 403) else ''})"


def offered_by(connections: Sequence[Connection]) -> list[list[Offered] | ToolFailed]:
    """What each offers, or why that is not known: all asked at once. Ctrl-C ends it soon."""
    stop = CancelToken()

    def ask(connection: Connection) -> list[Offered] | ToolFailed:
        try:
            return connection.offered(stop)
        except ToolFailed as error:
            return error

    with ThreadPoolExecutor(max(1, len(connections))) as pool:
        try:
            return list(pool.map(ask, connections))
        except BaseException:
            stop.cancel()
            raise


def close_all(connections: Sequence[Connection]) -> None:
    """End them, all at once: each may take its time."""
    with ThreadPoolExecutor(max(1, len(connections))) as pool:
        list(pool.map(lambda each: each.close(), connections))


def _closed() -> int:
    from mcp_types import CONNECTION_CLOSED

    return CONNECTION_CLOSED
