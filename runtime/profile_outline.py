"""The fields of a profile in one line, for a model: `{name: text, pets: [{name: text}]}`."""

from collections.abc import Mapping

from pagemind.runtime.profile_schema import Schema, mapping, resolved, types_of
from pagemind.runtime.settings import PROFILE_OUTLINE_CHARS

_DEPTH = 4  # of objects in objects: a model is told no more
_WORDS = {"string": "text", "integer": "whole number", "boolean": "true|false", "null": "null"}


def outline(schema: Schema) -> str:
    """Its fields in one line: `{name: text, pets: [{name: text, kind: cat|dog}]}`."""
    text = _Outline(schema).of(schema, _DEPTH)
    return text if len(text) <= PROFILE_OUTLINE_CHARS else f"{text[: PROFILE_OUTLINE_CHARS - 1]}…"


class _Outline:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = PROFILE_OUTLINE_CHARS  # a schema of references to itself has no end

    def of(self, schema: Schema, depth: int) -> str:
        schema = resolved(self._root, schema) or {}
        self._left -= 1
        if depth < 0 or self._left < 0:
            return "…"
        if "enum" in schema:
            return "|".join(str(each) for each in schema["enum"])
        if "const" in schema:
            return str(schema["const"])
        for key in ("anyOf", "oneOf"):
            if key in schema and "properties" not in schema:
                told = [self.of(mapping(each), depth - 1) for each in schema[key]]
                return " or ".join(dict.fromkeys(told))
        types = types_of(schema)
        if "array" in types or "items" in schema:
            return f"[{self.of(mapping(schema.get('items')), depth - 1)}]"
        if "object" in types or "properties" in schema:
            return self._fields(schema, depth) if depth else "{…}"
        if types == ("string",) and isinstance(schema.get("format"), str):
            return str(schema["format"])
        return "|".join(_WORDS.get(each, each) for each in types) or "any"

    def _fields(self, schema: Schema, depth: int) -> str:
        told = [
            f"{name}: {self.of(mapping(each), depth - 1)}"
            for name, each in mapping(schema.get("properties")).items()
        ]
        others = schema.get("additionalProperties", True)
        if isinstance(others, Mapping):
            told.append(f"any name: {self.of(others, depth - 1)}")
        elif others:
            told.append("…")
        return "{" + ", ".join(told) + "}"
