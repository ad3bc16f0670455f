"""A look at what the servers of a definition offer now, beside what was accepted of them: for a
person, before a model reads any of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pagemind.runtime.clock import SystemClock, rfc3339
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.mcp.connection import Connection, close_all, offered_by
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
    connections = [Connection(use, folder, loop) for use in uses]
    try:
        answers = offered_by(connections)
        return [
            Looked(each.use, None, answer.message)
            if isinstance(answer, ToolFailed)
            else Looked(each.use, _seen(each, answer, before.get(each.use.name)))
            for each, answer in zip(connections, answers, strict=True)
        ]
    finally:
        close_all(connections)
        loop.close()


def _seen(connection: Connection, tools: list[Offered], before: ServerSeen | None) -> ServerSeen:
    identity = connection.use.identity
    accepted = before.accepted if before is not None and before.identity == identity else {}
    at = rfc3339(SystemClock().now())
    return ServerSeen(identity, tuple(tools), accepted, connection.told, at)
