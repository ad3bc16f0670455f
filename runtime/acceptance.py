"""What an imported agent may reach: nothing beyond its own memory, until a person has seen what its
definition names and has accepted it as it stands. Another definition that a file brings along later
is not what was accepted.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.function_names import GROUPS
from pagemind.runtime.mcp_use import ServerUse, read_servers
from pagemind.runtime.state.database import Database
from pagemind.runtime.tool_use import (
    AgentsTerms,
    FilesTerms,
    HttpTerms,
    PythonTerms,
    ShellTerms,
    ToolUse,
    read_uses,
)
from pagemind.runtime.written_path import expanded

IMPORTED, ACCEPTED = "imported", "accepted"  # of the state's meta table; neither is ever exported
_ASKS = {"ask": ", asking before each call", "deny": ", which it is denied"}
_HARMLESS = frozenset(name for names in GROUPS.values() for name in names)
_HARMLESS |= {"ask_user", "episode_search", "skill_search"}


def definition_of(database: Database) -> AgentDefinition:
    """That of a stored agent, without what nobody has accepted. Raises DefinitionError."""
    definition = AgentDefinition.from_json(database.meta("definition"))
    return definition if accepted(database) else definition.within(_HARMLESS)


def imported(database: Database) -> None:
    """From now on its definition is that of somebody else."""
    database.set_meta(IMPORTED, "1")


def accepted(database: Database) -> bool:
    """Whether all that its definition names is open."""
    return not database.meta(IMPORTED) or database.meta(ACCEPTED) == _digest(
        database.meta("definition")
    )


def accept(database: Database, folder: Path) -> None:
    """Open what the definition names; relative paths in it begin at the folder."""
    stored = json.loads(database.meta("definition"))
    if not stored.get("folder"):
        stored["folder"] = str(folder)
        database.set_meta("definition", json.dumps(stored, ensure_ascii=False))
    database.set_meta(ACCEPTED, _digest(database.meta("definition")))


def same_definition(one: str, other: str) -> bool:
    """Whether two stored definitions say the same, wherever they lie."""
    return _digest(one) == _digest(other)


def _digest(definition: str) -> str:
    stored = json.loads(definition)
    said = [stored.get("definition"), stored.get("prompts")]
    text = json.dumps(said, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def reach_of(stored: Mapping[str, Any], folder: Path | None = None) -> list[str]:
    """What a stored definition may reach beyond the agent's memory, a line each. With a folder
    paths are shown from there."""
    tools = stored["definition"].get("tools")
    if not isinstance(tools, list):
        tools = []
    uses, _ = read_uses(tools)
    lines = [line for use in uses if use.name not in _HARMLESS for line in _lines(use, folder)]
    lines += [_server(server) for server in read_servers(tools)[0]]
    lines += _shared(stored["definition"])
    if isinstance(inbox := stored["definition"].get("inbox"), str):
        lines.append(f"read the files that come into {_path(inbox, folder)}")
    return list(dict.fromkeys(lines))


def _shared(definition: Mapping[str, Any]) -> Iterator[str]:
    """What of it other agents see."""
    blocks = definition.get("blocks")
    for spec in blocks.values() if isinstance(blocks, dict) else ():
        if isinstance(spec, dict) and isinstance(name := spec.get("shared"), str):
            yield f"read and change the shared block {name}, which other agents always see"
    archives = definition.get("archives")
    for each in archives if isinstance(archives, list) else ():
        if isinstance(each, dict) and each.get("mode") == "write":
            yield f"write to the shared archive {each.get('name')}"


def _server(server: ServerUse) -> str:
    terms = server.terms
    sees = [*terms.env, *([terms.token_env] if terms.token_env else [])]
    seeing = f", seeing {', '.join(sees)}" if sees else ""
    how = "use the MCP server at" if terms.url else "start the program"
    return f"{how} {server.shown}{seeing}{_ASKS.get(terms.rule, '')}"


def _path(written: str, folder: Path | None) -> str:
    return str(folder / expanded(written)) if folder is not None else written


def _lines(use: ToolUse, folder: Path | None) -> Iterator[str]:
    terms = use.terms
    asks = _ASKS.get(terms.rule, "")
    names = ", ".join(getattr(terms, "env", ()))
    sees = f", seeing {names}" if names else ""
    if isinstance(terms, FilesTerms):
        for written, write in terms.folders.items():
            yield f"{'read and write' if write else 'read'} files in {_path(written, folder)}{asks}"
    elif isinstance(terms, HttpTerms):
        yield f"read from {', '.join(terms.allow)}{asks}"
    elif isinstance(terms, AgentsTerms):
        if use.name != "list_agents":
            tagged = [f"those with the tag {tag}" for tag in terms.tags]
            yield f"write to the agents {', '.join([*terms.reach, *tagged])}{asks}"
    elif isinstance(terms, ShellTerms):
        yield f"run commands in {_path(terms.folder, folder)}{sees}{asks}"
    elif isinstance(terms, PythonTerms):
        network = " with the network" if terms.network else ""
        yield f"run Python code{network}{sees}{asks}"
    elif use.name == "skill_run":
        yield f"run its own skills, which came with it, in a confined process{asks}"
    elif use.own:
        yield f"call {use.name}, code that is installed here{sees}{asks}"
    else:
        yield f"call {use.name}{asks}"
