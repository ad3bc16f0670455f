"""How a tool of a server is offered that no person has accepted as it describes itself: by its
name, and by the names and types of its arguments, in words of ours. Whoever runs the server could
write anything into the rest, and a model would obey it.
"""

import re
from collections.abc import Mapping
from typing import Any

from pagemind.runtime.settings import MCP_NAME_CHARS, MCP_NAME_WORDS
from pagemind.runtime.template import load

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_TYPES = ("string", "integer", "number", "boolean", "array", "object")
_DEPTH = 3  # of objects in objects; what is deeper is any value


def neutral(server: str, tool: str, schema: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The description and the schema to offer. None for a tool that cannot be offered so: its name,
    or that of an argument that it requires, is long enough to say something."""
    made = _object(schema, _DEPTH)
    if made is None or not _is_name(tool):
        return None
    return load("mcp_unaccepted").fill(server=server).strip(), made


def _is_name(name: str) -> bool:
    short = len(name) <= MCP_NAME_CHARS and len(_WORD.findall(name)) <= MCP_NAME_WORDS
    return short and _NAME.fullmatch(name) is not None


def _object(schema: Mapping[str, Any], depth: int) -> dict[str, Any] | None:
    properties = schema.get("properties")
    given = properties if isinstance(properties, Mapping) else {}
    required = [name for name in schema.get("required") or () if name in given]
    if not all(map(_is_name, required)):
        return None
    kept = {name: _type(each, depth - 1) for name, each in given.items() if _is_name(name)}
    if any(kept[name] is None for name in required):
        return None
    offered = {name: each for name, each in kept.items() if each is not None}
    return {"type": "object", "properties": offered, "required": required}


def _type(schema: Any, depth: int) -> dict[str, Any] | None:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    kinds = [each for each in (kind if isinstance(kind, list) else [kind]) if each in _TYPES]
    if not kinds or depth < 1:
        return {}
    if kinds == ["object"]:
        return _object(schema, depth)
    if kinds == ["array"]:
        items = _type(schema.get("items"), depth - 1)
        return None if items is None else {"type": "array", "items": items}
    return {"type": kinds[0] if len(kinds) == 1 else kinds}
