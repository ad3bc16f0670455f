"""A server that is a process: its messages are lines of its standard output and input.

It has a group of its own, so that Ctrl-C does not reach it and its children end with it; it sees
what makes programs run and the variables that it is given, and no others. What is no message is
passed over; a message larger than MCP_BYTES ends it. What it says on standard error is read away,
and the end of it kept for errors.
"""

import asyncio
import atexit
import logging
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.mcp.plain_schema import clean
from pagemind.runtime.settings import MCP_BYTES, MCP_END_SECONDS, MCP_STDERR_CHARS

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

_log = logging.getLogger("pagemind.mcp")
# Where programs are, where they keep things, how text is written; nothing that could be a secret.
_PLAIN = "PATH HOME USER LOGNAME TMPDIR LANG LC_ALL LC_CTYPE TZ SYSTEMROOT".split()
_LOOK_SECONDS = 0.02
_running: set[int] = set()


class ProcessTransport:
    """A transport for the library's client, as an asynchronous context manager."""

    def __init__(self, command: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._command = command
        self._folder = folder
        plain = {name: os.environ[name] for name in _PLAIN if name in os.environ}
        self._env = {**plain, **env}
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stderr = ""
        self.fault = ""  # why we ended it
        self.ended = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def told(self) -> str:
        """How it ended, and what it said last."""
        code = self._process.returncode if self._process is not None else None
        how = self.fault or "it ended"
        if code is not None and not self.fault:
            how = f"it ended with exit code {code}"
            if code < 0:
                with suppress(ValueError):
                    how = f"it was ended by {signal.Signals(-code).name}"
        last = " ".join(clean(self._stderr).split())[-MCP_STDERR_CHARS:].strip()
        return f"{how}; last it said: {last}" if last else how

    async def __aenter__(self) -> "tuple[Any, Any]":
        import anyio

        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            cwd=self._folder,
            env=self._env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MCP_BYTES,
            start_new_session=True,
        )
        if not _running:
            atexit.unregister(_end_all)
            atexit.register(_end_all)  # for who leaves without closing
        _running.add(self._process.pid)
        to_client, from_server = anyio.create_memory_object_stream[Any](0)
        to_server, from_client = anyio.create_memory_object_stream[Any](0)
        self._tasks = [
            asyncio.create_task(work)
            for work in (self._read(to_client), self._write(from_client), self._listen())
        ]
        return from_server, to_server

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        try:
            if process.stdin is not None:
                process.stdin.close()
            # The words of the protocol: close its input, wait, ask, kill.
            for ask in (None, signal.SIGTERM):
                if ask is not None:
                    _signal(process.pid, ask)
                if await self.ending(MCP_END_SECONDS):
                    break
        finally:
            _signal(process.pid, signal.SIGKILL)  # it, or what it left running in its group
            _running.discard(process.pid)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self.ending(MCP_END_SECONDS)
            # What left the group and holds a pipe would keep it open; nothing public closes it.
            close = getattr(getattr(process, "_transport", None), "close", None)
            if callable(close):
                close()

    async def ending(self, seconds: float) -> bool:
        """Wait so long for its end; whether it ended. The library's own wait also waits for its
        pipes, which a child may hold."""
        clock = SystemClock()
        end = clock.monotonic() + seconds
        while self._process is not None and self._process.returncode is None:
            if clock.monotonic() > end:
                return False
            await asyncio.sleep(_LOOK_SECONDS)
        return True

    async def _read(self, to_client: "MemoryObjectSendStream[Any]") -> None:
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        assert self._process is not None
        assert self._process.stdout is not None
        try:
            async with to_client:
                while True:
                    try:
                        line = await self._process.stdout.readuntil(b"\n")
                    except asyncio.IncompleteReadError:
                        return
                    except asyncio.LimitOverrunError:
                        self.fault = (
                            f"it sent a message of more than {MCP_BYTES >> 20} MB and was ended"
                        )
                        _signal(self._process.pid, signal.SIGKILL)
                        return
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        _log.debug("not a message: %s", line[:200])
                        continue
                    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                        await to_client.send(SessionMessage(message))
        finally:
            self.ended = True

    async def _write(self, from_client: "MemoryObjectReceiveStream[Any]") -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):
            async with from_client:
                async for each in from_client:
                    text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._process.stdin.write(text.encode("utf-8") + b"\n")
                    await self._process.stdin.drain()

    async def _listen(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while piece := await self._process.stderr.read(65536):
            text = piece.decode("utf-8", "replace")
            self._stderr = (self._stderr + text)[-4 * MCP_STDERR_CHARS :]
            _log.debug("said: %s", text[:1000].rstrip())


def _signal(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, what)


def _end_all() -> None:
    for pid in tuple(_running):
        _signal(pid, signal.SIGKILL)
