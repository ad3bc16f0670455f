"""A look at what the servers of a definition offer now, beside what was accepted of them: for a
person, before a model reads any of it."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pagemind.runtime.clock import SystemClock, rfc3339
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.mcp.connection import Connection
from pagemind.runtime.mcp.loop_thread import LoopThread
from pagemind.runtime.mcp.offered import Offered, ServerSeen
from pagemind.runtime.mcp_use import ServerUse


@dataclass(frozen=True, slots=True)
class Looked:
    """At one server. `seen` is None where it could not be reached: `fault` says why."""

    use: ServerUse
    seen: ServerSeen | None
    fault: str = ""


def look(uses: Sequence[ServerUse], folder: Path, before: Mapping[str, ServerSeen]) -> list[Looked]:
    """Ask them all at once, and end them again. `before` is what the agent has seen of them."""
    loop = LoopThread("mcp look")

    def ask(use: ServerUse) -> Looked:
        connection = Connection(use, folder, loop)
        try:
            tools = connection.offered()
            return Looked(use, _seen(use, tools, connection.told, before.get(use.name)))
        except ToolFailed as error:
            return Looked(use, None, error.message)
        finally:
            with suppress(Exception):
                connection.close()

    try:
        with ThreadPoolExecutor(max(1, len(uses))) as pool:
            return list(pool.map(ask, uses))
    finally:
        loop.close()


def _seen(use: ServerUse, tools: list[Offered], told: str, before: ServerSeen | None) -> ServerSeen:
    same = before is not None and before.identity == use.identity
    accepted = before.accepted if before is not None and same else {}
    at = rfc3339(SystemClock().now())
    return ServerSeen(use.identity, tuple(tools), accepted, told, at)
