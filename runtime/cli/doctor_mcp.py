"""What `doctor` says of the MCP servers of an agent. None is started for that."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pagemind.runtime.mcp_use import ServerUse
    from pagemind.runtime.reader import AgentReader

Said = tuple[str, Literal["ok", "note", "wrong"], str, str]  # check, status, detail, hint


def of_servers(reader: "AgentReader") -> Iterator[Said]:
    """A line for each server, and one for each thing that a person should look at."""
    from pagemind.runtime.cli.render import plural
    from pagemind.runtime.mcp.offered import KEY, notes, seen_in

    uses = reader.definition.servers
    if not uses:
        return
    stored = seen_in(reader.state.database.meta(KEY))
    for use in uses:
        seen = stored.get(use.name)
        known = seen is not None and seen.identity == use.identity
        offers = "not seen yet"
        if seen is not None and known:
            tools = [tool for tool in seen.tools if use.wants(tool.name)]
            offers = f"{plural(len(tools), 'tool')}, as of {seen.at[:10]}"
        wrong, hint = _wrong(use)
        detail = f"{use.name}: {use.shown}; {wrong or offers}"
        yield "mcp server", "wrong" if wrong else "ok", detail, hint
    for note in notes(reader.name, uses, stored):
        yield "mcp tools", "note", note, ""


def _wrong(use: "ServerUse") -> tuple[str, str]:
    """What keeps it from being started, as far as that can be seen, and what to do."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        return "the library for MCP is not installed", "pip install 'pagemind[mcp]'"
    names = [*use.terms.env, *([use.terms.token_env] if use.terms.token_env else [])]
    if unset := [name for name in names if name not in os.environ]:
        return f"not set: {', '.join(unset)}", f"export {unset[0]}=…"
    command = use.terms.command
    if command and "/" not in command[0] and shutil.which(command[0]) is None:
        return f"no program is called {command[0]}", "install it, or give its path"
    return "", ""
