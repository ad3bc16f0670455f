"""What a definition says about its functions: which it has, what each may touch, and its rules.

An entry of `tools:` is a name (`core`, `read_file`, `mypkg.tools:lookup`) or a mapping of one name
to options (`files: {roots: [./docs]}`). Options of a group hold for each of its functions; those of
a function go before them. docs/tools.md lists them all.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from pagemind.runtime import settings
from pagemind.runtime.definition_faults import Fault, from_validation
from pagemind.runtime.definition_parts import ENV_NAME, Number, Section, Whole, Words
from pagemind.runtime.function_names import ALL_GROUPS, BETWEEN, MCP, WORK, WRITING, names
from pagemind.runtime.written_path import expanded

Rule = Literal["allow", "ask", "deny"]
Effect = Literal["none", "memory", "world"]
Groups = Mapping[str, tuple[str, ...]]

OWN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")  # an import path
_HOST = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?(:\d{1,5})?", re.IGNORECASE)


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _variable_name(name: str) -> str:
    if not ENV_NAME.fullmatch(name):
        # Not repeated: whoever wrote a key itself here must not see it in a log.
        raise ValueError("must be names of environment variables, not what is in them")
    return name


def _host(host: str) -> str:
    if "://" in host or "/" in host.partition("/")[2]:
        raise ValueError(f"{host!r}: name a host, without http:// and without a path")
    try:
        ip_network(host.strip("[]"), strict=False)
    except ValueError:
        if not _HOST.fullmatch(host):
            raise ValueError(
                f"{host!r} is not a host; write it like docs.python.org, *.python.org,"
                " localhost:8080, 127.0.0.1 or 10.0.0.0/8"
            ) from None
    return host.lower()


def _absolute(folder: Path, written: str) -> str:
    return os.path.normpath(folder / expanded(written))


def _sees(names: Sequence[str]) -> str:
    return f"seeing {', '.join(names)}" if names else ""


Named = Annotated[tuple[Words, ...], BeforeValidator(_several)]
Variables = tuple[Annotated[Words, AfterValidator(_variable_name)], ...]


class Terms(Section):
    """What holds for any function.

    `rule`: allow, ask (a person is asked before each call) or deny. The others are of one turn:
    `at_most` so many calls; only `after` one of these has succeeded; once it has run, `then` only
    these; `required`: the turn does not end before it has succeeded.
    """

    rule: Rule = "allow"
    at_most: Whole | None = Field(default=None, ge=1)
    after: Named = ()
    then: Named = ()
    required: bool = False

    @property
    def ruled(self) -> bool:
        """Whether what else was called in the turn matters."""
        return bool(self.at_most or self.after or self.then or self.required)

    def about(self, folder: Path) -> str:
        """What a person must know who consents to a call. `folder` is where paths begin."""
        return ""


class FilesTerms(Terms):
    """Folders whose files are seen. `write`: true for all of them, or those that may be changed,
    which are seen, too. `hidden`: whether names that begin with a dot are."""

    roots: tuple[Words, ...] = ()
    write: bool | tuple[Words, ...] = False
    hidden: bool = False

    @property
    def folders(self) -> dict[str, bool]:
        """Each folder that is seen, and whether its files may be changed."""
        if isinstance(self.write, bool):
            return dict.fromkeys(self.roots, self.write)
        return {**dict.fromkeys(self.roots, False), **dict.fromkeys(self.write, True)}

    def about(self, folder: Path) -> str:
        """The folders."""
        return f"in {', '.join(_absolute(folder, each) for each in self.folders)}"


class HttpTerms(Terms):
    """Hosts that may be asked; `seconds` and `megabytes` of one answer."""

    allow: tuple[Annotated[Words, AfterValidator(_host)], ...] = ()
    seconds: Number = Field(default=settings.HTTP_SECONDS, gt=0, le=3600)
    megabytes: Number = Field(default=settings.HTTP_MEGABYTES, gt=0, le=settings.TOOL_MEGABYTES)
    redirects: Whole = Field(default=settings.HTTP_REDIRECTS, ge=0, le=20)


class PythonTerms(Terms):
    """A process: `seconds` of wall time, `megabytes` of memory, the variables that it sees, and
    whether it may use the network."""

    seconds: Number = Field(default=settings.PYTHON_SECONDS, gt=0, le=86_400)
    megabytes: Whole = Field(default=settings.PYTHON_MEGABYTES, ge=64, le=1 << 20)
    network: bool = False
    env: Variables = ()

    def about(self, folder: Path) -> str:
        """Whether it may use the network, and what it sees."""
        return ", ".join(
            filter(None, ("with the network" if self.network else "", _sees(self.env)))
        )


class ShellTerms(Terms):
    """Commands run in `folder`, each asked for unless the definition says `rule: allow`."""

    rule: Rule = "ask"
    seconds: Number = Field(default=settings.SHELL_SECONDS, gt=0, le=86_400)
    folder: Words = "."
    env: Variables = ()

    def about(self, folder: Path) -> str:
        """Where it runs, and what it sees."""
        return ", ".join(filter(None, (f"in {_absolute(folder, self.folder)}", _sees(self.env))))


class OwnTerms(Terms):
    """A function by import path. Without `effect`: what it declares itself, or world."""

    effect: Effect | None = None
    seconds: Number = Field(default=settings.TOOL_SECONDS, gt=0, le=86_400)
    env: Variables = ()

    def about(self, folder: Path) -> str:
        """What it sees."""
        return _sees(self.env)


class AgentsTerms(Terms):
    """Other agents that may be written to: those of these names ("*": all), or with these tags."""

    reach: Named = ()
    tags: Named = ()


_KINDS: dict[str, type[Terms]] = {
    "agents": AgentsTerms,
    "files": FilesTerms,
    "http_get": HttpTerms,
    "python": PythonTerms,
    "shell": ShellTerms,
}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A function of an agent, with its terms. `name` is a function's or an import path."""

    name: str
    terms: Terms

    @property
    def own(self) -> bool:
        """Whether it is a function of the person's own, by import path."""
        return ":" in self.name


def entry_fault(entry: Any, groups: Groups) -> str | None:
    """What is wrong with the form of an entry: no name, or one that nothing has."""
    if isinstance(entry, dict):
        if len(entry) != 1:
            return "must be a name, or a mapping of one name to its options"
        (entry, options) = next(iter(entry.items()))
        if options is not None and not isinstance(options, dict):
            return f"the options of {entry} must be a mapping of keys to values"
        if entry == MCP and options:
            return None
    if entry == MCP:
        return "say which servers: mcp: {time: {command: [mcp-server-time]}}"
    if not isinstance(entry, str):
        return f"must be text or a mapping, not {entry!r}"
    allowed = names(groups)
    if entry in allowed or OWN.fullmatch(entry):
        return None
    if ":" in entry:
        return f"{entry!r} is not an import path; write it like mypkg.tools:lookup"
    close = get_close_matches(entry, allowed, n=1)
    nearest = f"; did you mean {close[0]!r}?" if close else ";"
    functions = [name for name in allowed if name not in groups]
    return (
        f"no function or group is called {entry!r}{nearest} groups: {', '.join(groups)};"
        f" functions: {', '.join(functions)}; or an import path like mypkg.tools:lookup"
    )


def read_uses(
    entries: Sequence[Any], groups: Groups = ALL_GROUPS
) -> tuple[tuple[ToolUse, ...], list[Fault]]:
    """The functions that the sound entries name, in the order of the table and then the person's
    own; and what is wrong with their options."""
    said: dict[str, tuple[int, dict[str, Any], bool]] = {}
    faults: list[Fault] = []
    for at, entry in enumerate(entries):
        if entry_fault(entry, groups):
            continue
        mapped = isinstance(entry, dict)
        name, options = next(iter(entry.items())) if mapped else (entry, None)
        if name in said and (mapped or said[name][2]):
            faults.append((("tools", at), f"{name!r} is listed twice; keep one"))
        elif name not in said:
            said[name] = (at, dict(options or {}), mapped)
    uses = [
        ToolUse(name, terms)
        for name, kind, path, options in _wanted(said, groups)
        if (terms := _terms(name, kind, path, options, faults)) is not None
        and not (name in WRITING and isinstance(terms, FilesTerms) and not terms.write)
    ]
    faults += _unknown_names(uses, said)
    return tuple(uses), list({repr(fault): fault for fault in faults}.values())


_Said = Mapping[str, tuple[int, dict[str, Any], bool]]
_Path = tuple[str | int, ...]


def _wanted(
    said: _Said, groups: Groups
) -> Iterator[tuple[str, type[Terms], _Path, dict[str, Any]]]:
    """Each function with the kind of its terms, where they stand, and what they say."""
    for group, functions in groups.items():
        kind = _KINDS.get(group, Terms)
        for name in functions:
            given = [said[each] for each in dict.fromkeys((group, name)) if each in said]
            if given:
                at, _, mapped = given[-1]
                named = group if group in said and name not in said else name
                path: _Path = ("tools", at, named) if mapped else ("tools", at)
                options: dict[str, Any] = {}
                for _, more, _ in given:
                    options.update(more)
                if name in WRITING and name in said:  # named by itself, it is wanted
                    options.setdefault("write", True)
                yield name, kind, path, options
    for name, (at, options, mapped) in said.items():
        if OWN.fullmatch(name):
            yield name, OwnTerms, (("tools", at, name) if mapped else ("tools", at)), options


def _terms(
    name: str, kind: type[Terms], path: _Path, options: dict[str, Any], faults: list[Fault]
) -> Terms | None:
    try:
        terms = kind.model_validate(options)
    except ValidationError as error:
        for where, message in from_validation(error, kind):
            faults.append(((*path, *where), message))
        return None
    if isinstance(terms, HttpTerms) and not terms.allow:
        faults.append((path, "say which hosts: http_get: {allow: [docs.python.org]}"))
        return None
    if isinstance(terms, AgentsTerms) and not (terms.reach or terms.tags):
        faults.append((path, "say which agents: agents: {reach: [ada], tags: [worker]}"))
        return None
    if isinstance(terms, FilesTerms) and not terms.folders:
        faults.append((path, "say which folders: files: {roots: [./docs]}"))
        return None
    return terms


def _unknown_names(uses: Sequence[ToolUse], said: _Said) -> Iterator[Fault]:
    """`after` and `then` name functions that the agent has."""
    known = [use.name.rpartition(":")[2] for use in uses]
    servers = said[MCP][1] if MCP in said else {}
    for use in uses:
        group = next((g for g, functions in WORK.items() if use.name in functions), use.name)
        for key in ("after", "then"):
            for other in getattr(use.terms, key):
                if other in known or other.partition(BETWEEN)[0] in servers:
                    continue
                close = get_close_matches(other, known, n=1)
                nearest = f"; did you mean {close[0]!r}?" if close else ""
                name = use.name if use.name in said else group
                at = said[name][0] if name in said else 0
                yield (
                    ("tools", at, name, key),
                    f"this agent has no function {other!r}{nearest}",
                )
