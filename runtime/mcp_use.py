"""The MCP servers of a definition: how each is reached, and what its functions may do.

    tools:
      - mcp:
          time: {command: [mcp-server-time], rule: allow, effect: none}
          wiki: {url: "https://wiki.example.org/mcp", token_env: WIKI_TOKEN, allow: [search]}

A function is called SERVER__TOOL. Options of a server hold for each of its functions; those under
its `tools:` go before them. docs/mcp.md lists them all.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from pagemind.runtime import settings
from pagemind.runtime.definition_faults import Fault, from_validation
from pagemind.runtime.definition_parts import ENV_NAME, Number, Words
from pagemind.runtime.function_names import BETWEEN, MCP
from pagemind.runtime.tool_use import Named, Rule, Terms, Variables

_SERVER = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
_MOST = 24  # characters: a function's name has 64, and its tool wants most of them
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
READ = "read_resource"  # of our own: the function that reads resources
Changes = Literal["none", "world"]


def _program(value: Any) -> Any:
    if isinstance(value, str):
        if any(character.isspace() for character in value.strip()):
            words = ", ".join(value.split())
            raise ValueError(f"must be a list: no shell reads it; write [{words}]")
        return (value,)
    return value


def _variable(name: str) -> str:
    if not ENV_NAME.fullmatch(name):
        # Not repeated: whoever wrote a key itself here must not see it in a log.
        raise ValueError("must be the name of an environment variable, not what is in it")
    return name


def _address(url: str) -> str:
    if not re.match(r"https?://[^/\s@]+(/\S*)?$", url):
        raise ValueError(
            f"{url.split('@')[-1]!r} is not an address: it starts with http:// or https:// and"
            " has no name or password in it"
        )
    return url


class RemoteTerms(Terms):
    """Of one function of a server, as its call is held to them."""

    effect: Changes = "world"
    seconds: Number = Field(default=settings.MCP_SECONDS, gt=0, le=86_400)
    env: Variables = ()


class McpTerms(RemoteTerms):
    """A server: a `command` that is run in `folder`, or a `url`. `allow`: only these of its
    tools; `tools`: what holds for one of them; `resources`: whether those are read, too. Each call
    is asked for unless the definition says `rule: allow`, and changes the world unless it says
    `effect: none`."""

    rule: Rule = "ask"
    command: Annotated[tuple[Words, ...], BeforeValidator(_program)] = ()
    url: Annotated[Words, AfterValidator(_address)] | None = None
    token_env: Annotated[Words, AfterValidator(_variable)] | None = None
    folder: Words = "."
    allow: Named = ()
    resources: bool = False
    tools: dict[Words, RemoteTerms] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServerUse:
    """A server by the name that the definition gives it. `written` is its command or its url before
    `${VAR}` was resolved; empty where that is not known."""

    name: str
    terms: McpTerms
    written: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """What it is that was accepted: another command or address is another server."""
        said = [list(self.terms.command), self.terms.url, self.terms.folder]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]

    @property
    def shown(self) -> str:
        """How it is reached, for models, logs and people: what is in a variable is not told."""
        return " ".join(self.written or self._resolved)

    @property
    def _resolved(self) -> tuple[str, ...]:
        return (self.terms.url,) if self.terms.url is not None else self.terms.command

    def untold(self, text: str) -> str:
        """A text of somebody else's without what variables hold."""
        for resolved, written in zip(self._resolved, self.written, strict=False):
            if resolved != written:
                text = text.replace(resolved, written)
        return text

    def wants(self, tool: str) -> bool:
        return not self.terms.allow or tool in self.terms.allow

    def terms_of(self, tool: str) -> RemoteTerms:
        """What holds for one of its tools."""
        own = self.terms.tools.get(tool)
        said = {name: getattr(self.terms, name) for name in RemoteTerms.model_fields}
        if own is not None:
            said.update({name: getattr(own, name) for name in own.model_fields_set})
        return RemoteTerms(**{**said, "env": self.terms.env})


def read_servers(
    entries: Sequence[Any], functions: Sequence[str] = (), written: Any = ()
) -> tuple[tuple[ServerUse, ...], list[Fault]]:
    """The servers of `tools:`, in the order in which they stand; and what is wrong with them.
    `functions` are those that the agent has besides; `written` are the entries as they stand in
    their file, with `${VAR}`."""
    found: list[ServerUse] = []
    faults: list[Fault] = []
    for at, entry in enumerate(entries):
        if not isinstance(entry, dict) or list(entry) != [MCP]:
            continue
        for name, options in (entry[MCP] or {}).items():
            path = ("tools", at, MCP, name)
            if wrong := _wrong_name(name, [each.name for each in found]):
                faults.append((path, wrong))
                continue
            try:
                terms = McpTerms.model_validate(options or {})
            except ValidationError as error:
                faults += [((*path, *at), said) for at, said in from_validation(error, McpTerms)]
                continue
            found.append(ServerUse(name, terms, _reached(written, path)))
            faults += [((*path, *at), said) for at, said in _faults(terms)]
    known = {*functions, *(each.name for each in found)}
    for use in found:
        for key in ("after", "then"):
            for other in getattr(use.terms, key):
                if not {other, server_of(other)} & known:
                    said = f"this agent has no function {other!r}"
                    faults.append((("tools", _at(entries), MCP, use.name, key), said))
    return tuple(found), faults


def _reached(written: Any, path: tuple[Any, ...]) -> tuple[str, ...]:
    """The command or the url that stands at a path of the file."""
    here: Any = {"tools": written}
    for step in path:
        try:
            here = here[step]
        except (LookupError, TypeError):
            return ()
    said = here.get("url") or here.get("command") if isinstance(here, dict) else ()
    return (said,) if isinstance(said, str) else tuple(map(str, said or ()))


def _at(entries: Sequence[Any]) -> int:
    return next(n for n, each in enumerate(entries) if isinstance(each, dict) and MCP in each)


def _wrong_name(name: Any, taken: Sequence[str]) -> str | None:
    if not isinstance(name, str) or not _SERVER.fullmatch(name) or len(name) > _MOST:
        return (
            f"{name!r} is not a name for a server: lower-case letters, digits, - and _, starting"
            f" with a letter, at most {_MOST}"
        )
    return f"{name!r} is listed twice; keep one" if name in taken else None


def _faults(terms: McpTerms) -> Iterator[tuple[tuple[str, ...], str]]:
    if bool(terms.command) == (terms.url is not None):
        yield (), "say how it is reached: command: [mcp-server-time], or url: https://…/mcp"
    if terms.url is not None:
        if terms.env:
            yield ("env",), "a server at a url sees no variables; token_env names that of its token"
        parts = urlsplit(terms.url)
        if terms.token_env and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            yield ("url",), "a token is sent over https:// only"
    elif terms.token_env:
        yield ("token_env",), "is for a url; a command sees the variables under env"
    for tool in terms.tools:
        if terms.resources and tool == READ:
            continue
        if terms.allow and tool not in terms.allow:
            yield ("tools", tool), f"allow does not name it: {', '.join(terms.allow)}"
        if terms.tools[tool].env:
            yield ("tools", tool, "env"), "belongs to the server, which is one process"


def server_of(function: str) -> str:
    """The name of the server in that of a function; "" for one of no server."""
    server, between, _ = function.partition(BETWEEN)
    return server if between else ""
