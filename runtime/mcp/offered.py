"""What servers offer, as the agent's state keeps it: the list that was seen last, and what of it a
person has accepted.

The functions of a session come from the list of the session before, so that an agent opens without
its servers and the prompt's prefix stays. What a server says of its tools is read by a model only
once a person has accepted it; until then they are offered in words of ours. A tool that is new in
an accepted list, or that a server describes otherwise than when it was accepted, is also asked for
at each call.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pagemind.runtime.mcp_use import ServerUse

KEY = "mcp"  # of the state's meta table
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool of a server, in the server's words."""

    name: str
    description: str
    schema: dict[str, Any]

    @property
    def digest(self) -> str:
        """Of all that a model reads of it."""
        said = json.dumps([self.name, self.description, self.schema], sort_keys=True)
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ServerSeen:
    """A server as it was last seen. `accepted` has the digests by name; `told` is what the server
    calls itself."""

    identity: str
    tools: tuple[Offered, ...]
    accepted: Mapping[str, str] = field(default_factory=dict)
    told: str = ""
    at: str = ""

    def standing(self, tool: Offered) -> str:
        """accepted, new or changed."""
        known = self.accepted.get(tool.name)
        if known is None:
            return "new"
        return "accepted" if known == tool.digest else "changed"

    def asked(self, tool: Offered) -> bool:
        """Whether its calls are asked for whatever its rule: it came, or changed, after a person
        had looked. Of a server that nobody has looked at yet, the definition's rule holds."""
        return bool(self.accepted) and self.standing(tool) != "accepted"

    @property
    def gone(self) -> list[str]:
        """What was accepted and is not offered any more."""
        offered = {tool.name for tool in self.tools}
        return [name for name in self.accepted if name not in offered]

    def accept(self) -> "ServerSeen":
        """All that it offers now, and nothing else."""
        return replace(self, accepted={tool.name: tool.digest for tool in self.tools})


def seen_in(stored: str) -> dict[str, ServerSeen]:
    """What `stored_as` has made; nothing for what cannot be read."""
    try:
        value = json.loads(stored) if stored else {}
        servers = value["servers"] if value.get("v") == _VERSION else {}
        return {name: _server(each) for name, each in servers.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # a list that is damaged is asked for anew


def _server(value: Mapping[str, Any]) -> ServerSeen:
    tools = (Offered(t["name"], t["description"], t["schema"]) for t in value["tools"])
    return ServerSeen(
        value["identity"], tuple(tools), dict(value["accepted"]), value["told"], value["at"]
    )


def stored_as(servers: Mapping[str, ServerSeen]) -> str:
    """For the state."""
    return json.dumps(
        {
            "v": _VERSION,
            "servers": {
                name: {
                    "identity": seen.identity,
                    "told": seen.told,
                    "at": seen.at,
                    "accepted": dict(seen.accepted),
                    "tools": [
                        {"name": t.name, "description": t.description, "schema": t.schema}
                        for t in seen.tools
                    ],
                }
                for name, seen in servers.items()
            },
        },
        ensure_ascii=True,
    )


def seen_again(before: ServerSeen | None, now: ServerSeen) -> ServerSeen:
    """The list as it is now, with what was accepted of this very server."""
    if before is None or before.identity != now.identity:
        return now
    return replace(now, accepted=before.accepted)


def notes(agent: str, uses: Sequence[ServerUse], seen: Mapping[str, ServerSeen]) -> Iterator[str]:
    """What a person should know before more is called."""
    for use in uses:
        server = seen.get(use.name)
        if server is None:
            continue
        standing = {t.name: server.standing(t) for t in server.tools if use.wants(t.name)}
        if not server.accepted:
            if standing:
                yield (
                    f"nobody has looked at what the MCP server {use.name} offers, so the model does"
                    f" not read how it describes it. `pagemind mcp tools {agent}` shows it,"
                    " --accept accepts it"
                )
            standing = {}
        said = []
        for kind, what in (("new", "has new tools"), ("changed", "describes tools otherwise")):
            if names := [name for name, each in standing.items() if each == kind]:
                said.append(f"{what} ({', '.join(names)})")
        if gone := [name for name in server.gone if use.wants(name)]:
            said.append(f"no longer has {', '.join(gone)}")
        if said:
            yield (
                f"the MCP server {use.name} {' and '.join(said)} since it was accepted; calls of"
                f" them are asked for. `pagemind mcp tools {agent}` shows it, --accept accepts it"
            )
        known = {*(tool.name for tool in server.tools), *server.gone}
        if missing := [name for name in use.terms.allow if name not in known]:
            yield f"the MCP server {use.name} has no tool {', '.join(missing)}"
