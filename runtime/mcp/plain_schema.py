"""A server's JSON schema as every provider takes it, and a check of arguments by it.

References are written out and what only documents a schema goes: a root is an object with
properties, with no alternatives beside them. Patterns are sent but not run here: one can be made
to take for ever. The server checks its arguments itself in any case.
"""

import json
import unicodedata
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.settings import MCP_DESCRIPTION_CHARS

_DROPPED = frozenset(
    "$schema $id $anchor $comment $defs definitions $dynamicAnchor $dynamicRef $vocabulary"
    " title examples deprecated readOnly writeOnly".split()
)
_ALTERNATIVES = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const")
_NAMED = ("properties", "patternProperties", "dependentSchemas")  # their keys are names
_LITERAL = ("enum", "const", "default", "required")  # their values are no schemas
_UNCHECKED = ("pattern", "patternProperties", "format")
_DEPTH = 12  # of references in references; what is deeper is any value
_NODES = 5000  # references to references grow without bound


def plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the arguments of one function."""
    root = _Plain(schema).of(schema, _DEPTH)
    found = root if isinstance(root, dict) else {}
    for key in _ALTERNATIVES:
        found.pop(key, None)
    properties = found.get("properties")
    found["type"] = "object"
    found["properties"] = properties if isinstance(properties, dict) else {}
    required = found.get("required")
    found["required"] = [
        name for name in (required if isinstance(required, list) else []) if isinstance(name, str)
    ]
    if not found["properties"]:
        found.setdefault("additionalProperties", "properties" not in schema)
    return found


class _Plain:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def of(self, value: Any, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > _NODES:
            return {}
        if isinstance(value, bool):  # true: any value; false: none, which no argument needs
            return {} if value else {"not": {}}
        if isinstance(value, list):
            return [self.of(each, depth) for each in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            target = self._target(value["$ref"]) if depth else None
            beside = {key: each for key, each in value.items() if key != "$ref"}
            return self.of({**(target or {}), **beside}, max(depth - 1, 0))
        found: dict[str, Any] = {}
        for key, each in value.items():
            if key in _DROPPED:
                continue
            if key in _LITERAL:
                found[key] = each
            elif key in _NAMED and isinstance(each, dict):
                found[key] = {str(name): self.of(schema, depth) for name, schema in each.items()}
            elif isinstance(each, bool):  # additionalProperties: false, uniqueItems: true
                found[key] = each
            else:
                said = isinstance(each, str)
                found[key] = clean(each, MCP_DESCRIPTION_CHARS) if said else self.of(each, depth)
        return found

    def _target(self, reference: Any) -> dict[str, Any] | None:
        """What a reference within the schema leads to; nothing is fetched."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        here: Any = self._root
        for step in reference[1:].strip("/").split("/") if reference != "#" else ():
            step = step.replace("~1", "/").replace("~0", "~")
            here = here.get(step) if isinstance(here, Mapping) else None
        return dict(here) if isinstance(here, Mapping) else None


class SchemaArguments:
    """Checks arguments by a plain schema, where Tool has a pydantic model for its own."""

    def __init__(self, name: str, schema: dict[str, Any]) -> None:
        self._name = name
        self._schema = schema
        self._checked = _without_patterns(schema)

    def model_validate(self, obj: Mapping[str, Any], /) -> SimpleNamespace:
        """The values, with "5" for 5 where a weak model was merely sloppy. Raises BadArguments."""
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError

        properties = self._schema["properties"]
        values = {name: _lenient(value, properties.get(name)) for name, value in obj.items()}
        try:
            Draft202012Validator.check_schema(self._checked)
            faults = list(Draft202012Validator(self._checked).iter_errors(values))
        except SchemaError:
            faults = []  # no schema at all: only the server knows what it takes
        if faults:
            wrong = "; ".join(
                f"{'.'.join(map(str, fault.absolute_path)) or 'arguments'}: {fault.message[:300]}"
                for fault in faults[:5]
            )
            raise BadArguments(f"{self._name}: {wrong}")
        return SimpleNamespace(**values)


def _lenient(value: Any, schema: Any) -> Any:
    wanted = schema.get("type") if isinstance(schema, dict) else None
    if wanted == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and wanted in ("integer", "number", "boolean", "array", "object"):
        try:
            read = json.loads(value if wanted != "boolean" else value.lower())
        except (ValueError, RecursionError):
            return value
        return read if not isinstance(read, str) else value
    return value


def _without_patterns(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: each if key in _LITERAL else _without_patterns(each)
            for key, each in value.items()
            if key not in _UNCHECKED or not isinstance(each, str | dict)
        }
    return [_without_patterns(each) for each in value] if isinstance(value, list) else value


def clean(text: str, most: int | None = None) -> str:
    """Without what a person would not see and a model would read; at most so many characters."""
    seen = "".join(
        c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs")
    )
    return seen if most is None or len(seen) <= most else f"{seen[: most - 1].rstrip()}…"
