"""The definition that a file brings along: checked before anything of it is used, and what a
person should know of it: where it sends what it is told, and which variables it reads.

It can name no file of this machine: a prompt by path must stand in the file itself.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.errors import BadExport, DefinitionError, ExportTooNew
from pagemind.runtime.interpolation import resolve_all
from pagemind.runtime.portable.secrets import variables
from pagemind.runtime.settings import MAX_PROMPT_BYTES
from pagemind.runtime.template import available

_MOST = 16 * MAX_PROMPT_BYTES


def definition_in(
    data: bytes, path: Path, environ: Mapping[str, str]
) -> tuple[str, AgentDefinition | None, list[str]]:
    """The definition as the state keeps it; its value, or None where a variable is not set here;
    what is to be said. Raises BadExport, ExportTooNew."""
    try:
        stored = json.loads(data) if len(data) <= _MOST else None
    except (ValueError, RecursionError):
        stored = None
    if not isinstance(stored, dict) or not _is_stored(stored):
        raise BadExport(f"{path}: its definition.json is not a definition")
    stored.pop("folder", None)  # of the machine that it comes from
    value, unset = resolve_all(stored["definition"], environ)
    for written in _paths(value.get("system")):
        if written not in stored["prompts"]:
            raise BadExport(
                f"{path}: its definition names the prompt {written[:200]!r}, which is not in it",
                hint="an import reads no file of this machine; nothing was imported",
            )
    text = json.dumps(stored, ensure_ascii=False)
    try:
        return text, AgentDefinition.from_json(text, environ=environ), []
    except DefinitionError as error:
        if "newer" in error.message:
            raise ExportTooNew(f"{path}: {error.message}", hint=error.hint) from error
        if not unset:
            line = error.message.splitlines()[0]
            raise BadExport(f"{path}: its definition cannot be used: {line}") from error
        names = ", ".join(sorted(set(unset.values())))
        return text, None, [f"not set here, and needed by its definition: {names}"]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadExport(f"{path}: its definition is malformed ({error})") from error


def _is_stored(value: Mapping[str, Any]) -> bool:
    return (
        type(value.get("v")) is int
        and isinstance(value.get("source"), str)
        and isinstance(value.get("definition"), dict)
        and isinstance(value.get("prompts"), dict)
        and all(isinstance(text, str) for text in value["prompts"].values())
    )


def _paths(system: Any) -> Iterator[str]:
    """The parts of `system` that are paths (definition.py says what is one)."""
    for part in [system] if isinstance(system, str) else system or ():
        if not isinstance(part, str) or any(c.isspace() for c in part.strip()):
            continue
        shipped = "/" not in part and part.removesuffix(".md") in available()
        if not shipped and ("/" in part or "." in part):
            yield part


def reaches(stored: Mapping[str, Any]) -> list[str]:
    """Lines for whoever imports a file that somebody else has made."""
    notes = []
    model = stored["definition"].get("model")
    models = [model, *(model.get("fallbacks") or ())] if isinstance(model, dict) else []
    for each in models:
        if isinstance(each, dict) and each.get("api_base"):
            notes.append(f"it sends what it is told to {each['api_base']} ({each.get('name')})")
    if names := variables(stored):
        notes.append(f"its definition reads these variables: {', '.join(names)}")
    return notes
