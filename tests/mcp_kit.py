"""Servers of an agent without an agent: a state that is a dict, and calls by hand."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pagemind.runtime.mcp.offered import KEY, seen_in, stored_as
from pagemind.runtime.mcp.servers import Servers
from pagemind.runtime.mcp_use import read_servers
from pagemind.runtime.tool import ToolContext, ToolResult

NASTY = str(Path(__file__).parent / "mcp" / "nasty_server.py")


class DictState:
    """What Servers needs of a database."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def meta(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    def set_meta(self, key: str, value: str) -> None:
        self.values[key] = value


def context(**more: Any) -> ToolContext:
    """Of a call that no service is needed for."""
    nothing: Any = None
    return ToolContext(
        "ada", nothing, nothing, nothing, nothing, lambda: None, 1000, 7, "c1", **more
    )


class Session:
    """One opening of an agent with servers, until it is closed."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.tools = {tool.name: tool for tool in servers.tools()}

    def call(self, name: str, /, **arguments: Any) -> str:
        return self.result(name, **arguments).text

    def result(self, name: str, /, **arguments: Any) -> ToolResult:
        tool = self.tools[name]
        answer = tool.function(context(), **tool.validate(arguments))
        assert isinstance(answer, ToolResult)
        return answer


def accept(database: Any) -> None:
    """As a person who has looked at all that was seen."""
    accepted = {name: seen.accept() for name, seen in seen_in(database.meta(KEY)).items()}
    database.set_meta(KEY, stored_as(accepted))


@contextmanager
def session(state: DictState | None = None, *, folder: Path, **options: Any) -> Iterator[Session]:
    """Of the nasty server, called n; options as in a definition."""
    given = {"command": [sys.executable, NASTY], "rule": "allow", **options}
    uses, faults = read_servers([{"mcp": {"n": given}}])
    assert not faults
    database: Any = state or DictState()
    servers = Servers("ada", uses, folder, database)
    try:
        yield Session(servers)
    finally:
        servers.close()


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True


def ends(pid: int) -> bool:
    """Whether it is gone soon: a kill takes effect a moment after it was sent."""
    for _ in range(500):
        if not runs(pid):
            return True
        time.sleep(0.02)
    return False
