"""The servers of one agent: their functions for the model, and what a person should know of them.

An agent opens with the lists of the session before; only servers that were never seen are started
for theirs. A server starts at the first call of a function of its own, and says then what it
offers now: what has changed is noted, told, and holds from the next opening on.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pagemind.runtime.clock import SystemClock, rfc3339
from pagemind.runtime.errors import MissingExtra, ToolFailed
from pagemind.runtime.function_names import BETWEEN
from pagemind.runtime.mcp.connection import Connection, close_all, offered_by
from pagemind.runtime.mcp.loop_thread import LoopThread
from pagemind.runtime.mcp.offered import (
    KEY,
    Offered,
    ServerSeen,
    notes,
    seen_again,
    seen_in,
    stored_as,
)
from pagemind.runtime.mcp.plain_schema import SchemaArguments, plain
from pagemind.runtime.mcp.results import resource_of, result_of
from pagemind.runtime.mcp.unaccepted import neutral
from pagemind.runtime.mcp_use import READ, ServerUse
from pagemind.runtime.tool import Tool, ToolContext, ToolResult, make_tool

if TYPE_CHECKING:
    from pagemind.runtime.definition import AgentDefinition
    from pagemind.runtime.state.database import Database

_NAME = 64  # characters that providers take of a function's name
Read = Callable[[ServerUse, ToolContext, str], ToolResult]
Call = Callable[[ServerUse, Offered, ToolContext, dict[str, object]], ToolResult]


class Servers:
    """Of an agent that is open. `database` is its state; `folder` where commands run."""

    def __init__(
        self, agent: str, uses: Iterable[ServerUse], folder: Path, database: "Database"
    ) -> None:
        self._agent = agent
        self._uses = tuple(uses)
        self._database = database
        self._loop = LoopThread(f"mcp of {agent}")
        self._connections = {use.name: Connection(use, folder, self._loop) for use in self._uses}
        self._seen = seen_in(database.meta(KEY))
        self._unseen: dict[str, str] = {}  # those that could not be asked, and why
        self._checked: set[str] = set()  # whose list was compared while it ran

    def connection(self, name: str) -> Connection:
        return self._connections[name]

    def tools(self) -> list[Tool]:
        """The functions, in the order of the definition and then by name."""
        self._ask([use for use in self._uses if not self._known(use)])
        return tools_of(self._uses, self._seen, self._call, self._read)

    def notes(self) -> list[str]:
        """What a person should know: servers that cannot be reached, lists that have changed."""
        return [*self._unseen.values(), *notes(self._agent, self._uses, self._seen)]

    def close(self) -> None:
        """End them all. Idempotent."""
        close_all(list(self._connections.values()))
        self._loop.close()

    def _known(self, use: ServerUse) -> bool:
        seen = self._seen.get(use.name)
        return seen is not None and seen.identity == use.identity

    def _ask(self, uses: list[ServerUse]) -> None:
        """Take the lists of servers that were never seen."""
        answers = offered_by([self._connections[use.name] for use in uses])
        for use, answer in zip(uses, answers, strict=True):
            if isinstance(answer, ToolFailed):
                self._seen.pop(use.name, None)
                self._unseen[use.name] = (
                    f"{answer.message}; its functions are missing until {self._agent} is opened"
                    " anew"
                )
            else:
                self._note(use, answer)

    def _note(self, use: ServerUse, tools: list[Offered]) -> None:
        told = self._connections[use.name].told
        now = ServerSeen(use.identity, tuple(tools), told=told, at=rfc3339(SystemClock().now()))
        self._seen[use.name] = seen_again(self._seen.get(use.name), now)
        self._checked.add(use.name)
        kept = {each.name: self._seen[each.name] for each in self._uses if each.name in self._seen}
        self._database.set_meta(KEY, stored_as(kept))

    def _call(
        self, use: ServerUse, tool: Offered, ctx: ToolContext, arguments: dict[str, object]
    ) -> ToolResult:
        connection = self._connections[use.name]
        if not connection.is_open or connection.changed or use.name not in self._checked:
            self._note(use, connection.offered(ctx.cancel))
        # As it was offered to the model in this session, and no other way.
        now = next((each for each in self._seen[use.name].tools if each.name == tool.name), None)
        if now is None:
            raise ToolFailed(f"{tool.name} was not run: the server {use.name} no longer has it")
        if now.digest != tool.digest:
            raise ToolFailed(
                f"{tool.name} was not run: the server {use.name} now describes it otherwise. It"
                " can be used when a person has looked at it and the agent is opened anew"
            )
        answer = connection.call(
            tool.name,
            arguments,
            seconds=use.terms_of(tool.name).seconds,
            id=f"{ctx.agent}/{ctx.turn}/{ctx.call_id}",
            cancel=ctx.cancel,
        )
        return result_of(answer, function_name(use.name, tool.name))

    def _read(self, use: ServerUse, ctx: ToolContext, uri: str) -> ToolResult:
        seconds = use.terms_of(READ).seconds
        return resource_of(
            self._connections[use.name].read(uri, seconds=seconds, cancel=ctx.cancel)
        )


def require_mcp(source: str) -> None:
    """Raises MissingExtra where the library is not there."""
    if find_spec("mcp") is None:
        raise MissingExtra(
            f"{source} names MCP servers, and the library for them is not installed",
            hint="pip install 'pagemind[mcp]'",
        )


def open_servers(agent: str, definition: "AgentDefinition", database: "Database") -> Servers:
    """Those of a definition. Raises MissingExtra where the library is not there."""
    require_mcp(definition.source)
    return Servers(agent, definition.servers, definition.folder, database)


def tools_of(
    uses: Iterable[ServerUse],
    seen: Mapping[str, ServerSeen],
    call: Call | None = None,
    read: Read | None = None,
) -> list[Tool]:
    """The functions that these lists give an agent; without `call` they are only looked at."""
    found: dict[str, Tool] = {}
    for use in uses:
        server = seen.get(use.name)
        if server is None or server.identity != use.identity:
            continue
        for tool in server.tools:
            if use.wants(tool.name):
                made = _tool(use, tool, server, call or _closed)
                if made is not None:
                    found.setdefault(made.name, made)
        if use.terms.resources:
            reading = _reading(use, read or _not_read)
            found.setdefault(reading.name, reading)
    return list(found.values())


def stored_tools(uses: Iterable[ServerUse], stored: str) -> list[Tool]:
    """The functions of an agent that is not open, to be looked at."""
    return tools_of(uses, seen_in(stored))


def _tool(use: ServerUse, tool: Offered, server: ServerSeen, call: Call) -> Tool | None:
    """None for one that cannot be offered as long as nobody has accepted it."""
    terms = use.terms_of(tool.name)
    if terms.rule == "allow" and server.asked(tool):
        terms = terms.model_copy(update={"rule": "ask"})
    description, schema = tool.description or tool.name, plain(tool.schema)
    if server.standing(tool) != "accepted":
        offered = neutral(use.name, tool.name, schema)
        if offered is None:
            return None
        description, schema = offered

    def function(ctx: ToolContext, /, **arguments: object) -> ToolResult:
        return call(use, tool, ctx, arguments)

    name = function_name(use.name, tool.name)
    return Tool(
        name,
        description,
        function,
        schema,
        terms.effect,
        SchemaArguments(name, schema),
        foreign=True,
        seconds=None,  # the call keeps to its time itself, and tells the server when it is over
        terms=terms,
    )


def _reading(use: ServerUse, read: Read) -> Tool:
    def read_resource(ctx: ToolContext, uri: str) -> ToolResult:
        """Read a resource of this server, whole.

        Args:
            uri: Its address, as an answer of the server names it.
        """
        return read(use, ctx, uri)

    terms = use.terms_of(READ)
    made = make_tool(read_resource, effect=terms.effect, foreign=True, seconds=None)
    return replace(made, name=function_name(use.name, READ), terms=terms)


def _not_read(use: ServerUse, ctx: ToolContext, uri: str) -> ToolResult:
    raise ToolFailed(f"{uri} of {use.name} cannot be read from here")


def _closed(
    use: ServerUse, tool: Offered, ctx: ToolContext, arguments: dict[str, object]
) -> ToolResult:
    raise ToolFailed(f"{tool.name} of {use.name} cannot be called from here")


def function_name(server: str, tool: str) -> str:
    """SERVER__TOOL in letters that every provider takes; what had to be changed says so by a
    digest, so that two tools keep two names."""
    plain_tool = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    room = _NAME - len(server) - len(BETWEEN)
    if plain_tool != tool or len(plain_tool) > room:
        mark = sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        plain_tool = f"{plain_tool[: room - 7]}_{mark}"
    return f"{server}{BETWEEN}{plain_tool}"
