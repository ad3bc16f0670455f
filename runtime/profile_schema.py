"""The JSON schema of a profile: checked when a definition is read, shipped ones by name, walked to
the schema of one field, told to a model in one line, and a validator of it that ends in time.

References lead into the schema itself: nothing is fetched.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pagemind.runtime.settings import (
    PATTERN_SECONDS,
    PROFILE_DEPTH,
    PROFILE_OUTLINE_CHARS,
    PROFILE_SCHEMA_CHARS,
)

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Schema = Mapping[str, Any]
_SHIPPED = "pagemind.agents.profiles"
_WORDS = {"string": "text", "integer": "whole number", "boolean": "true|false", "null": "null"}


def shipped_schemas() -> list[str]:
    """The names of the schemas that come with pagemind."""
    names = (each.name for each in files(_SHIPPED).iterdir())
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def checked(written: object) -> dict[str, Any]:
    """The schema that a definition writes: itself, or the name of a shipped one. Raises ValueError
    with what is wrong."""
    if isinstance(written, str):
        if written not in (known := shipped_schemas()):
            close = get_close_matches(written, known, n=1)
            nearest = f"; did you mean {close[0]!r}?" if close else ";"
            raise ValueError(
                f"no profile is called {written!r}{nearest} shipped: {', '.join(known)}; or write"
                " the JSON schema itself"
            )
        text = (files(_SHIPPED) / f"{written}.json").read_text("utf-8")
        return dict(json.loads(text))
    if not isinstance(written, Mapping):
        raise ValueError("must be a JSON schema, or the name of a shipped one")
    if fault := _fault(written):
        raise ValueError(f"is no JSON schema of a profile: {fault}")
    return dict(written)


def _fault(schema: Schema) -> str:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    size = len(json.dumps(schema, ensure_ascii=False))
    if size > PROFILE_SCHEMA_CHARS:
        return f"{size:,} of {PROFILE_SCHEMA_CHARS:,} characters"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path))
        return f"{where}: {error.message[:200]}" if where else error.message[:200]
    except RecursionError:
        return "it is nested too deeply"
    if schema.get("type", "object") != "object":
        return f"its type must be object, not {schema['type']}"
    return next(_faults_of_references(schema, schema), "") or next(_faults_of_patterns(schema), "")


def _faults_of_references(node: Any, root: Schema) -> Iterator[str]:
    if isinstance(node, list):
        for each in node:
            yield from _faults_of_references(each, root)
    elif isinstance(node, Mapping):
        for key, value in node.items():
            if key in ("$dynamicRef", "$id") and isinstance(value, str):
                yield f"{key} is not followed here; use $ref to '#/$defs/NAME'"
            elif key == "$ref" and isinstance(value, str):
                target = _target(root, value)
                if target is None:
                    yield f"$ref {value!r} leads nowhere in it; write it like '#/$defs/NAME'"
                elif "$ref" in target and _resolved(root, target) is None:
                    yield f"$ref {value!r} leads in a circle"
            else:
                yield from _faults_of_references(value, root)


def _faults_of_patterns(node: Any) -> Iterator[str]:
    import regex

    if isinstance(node, list):
        for each in node:
            yield from _faults_of_patterns(each)
    elif isinstance(node, Mapping):
        if "patternProperties" in node:
            yield "patternProperties is not held here; give additionalProperties a schema"
        if isinstance(pattern := node.get("pattern"), str):
            try:
                regex.compile(pattern)
            except regex.error as error:
                yield f"pattern {pattern!r}: {error}"
        for value in node.values():
            yield from _faults_of_patterns(value)


# --- one field of it ------------------------------------------------------------------------------


def schema_at(schema: Schema, steps: Sequence[str]) -> Schema | None:
    """The schema of what stands at this path; None where it says nothing about it."""
    here: Schema | None = schema
    for step in steps:
        here = next(_below(schema, here, step), None) if here is not None else None
    return _resolved(schema, here) if here is not None else None


def _below(root: Schema, here: Schema, step: str, depth: int = 3) -> Iterator[Schema]:
    here = _resolved(root, here) or {}
    properties = here.get("properties")
    if isinstance(properties, Mapping) and step in properties:
        yield _mapping(properties[step])
    elif _is_index(step) and isinstance(here.get("items"), Mapping):
        yield here["items"]
    elif isinstance(here.get("additionalProperties"), Mapping):
        yield here["additionalProperties"]
    if depth:
        for key in ("allOf", "anyOf", "oneOf"):
            for each in here.get(key, ()):
                yield from _below(root, _mapping(each), step, depth - 1)


def _is_index(step: str) -> bool:
    return step.isdecimal() or step == "-"


def _mapping(value: Any) -> Schema:
    return value if isinstance(value, Mapping) else {}


def _resolved(root: Schema, schema: Schema) -> Schema | None:
    """Behind its references; None if they lead in a circle or nowhere."""
    found: Schema | None = schema
    for _ in range(PROFILE_DEPTH):
        if found is None or "$ref" not in found:
            return found
        found = _target(root, found["$ref"])
    return None


def _target(root: Schema, reference: str) -> Schema | None:
    if not reference.startswith("#"):
        return None
    here: Any = root
    for step in reference[1:].strip("/").split("/") if reference != "#" else ():
        step = step.replace("~1", "/").replace("~0", "~")
        here = here.get(step) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else None


def types_of(schema: Schema | None) -> tuple[str, ...]:
    """The types that a value may have; none where it does not say."""
    said = (schema or {}).get("type", ())
    return (said,) if isinstance(said, str) else tuple(said)


# --- for a model ----------------------------------------------------------------------------------


def outline(schema: Schema) -> str:
    """Its fields in one line: `{name: text, pets: [{name: text, kind: cat|dog}]}`."""
    text = _outlined(schema, schema, 4)
    return text if len(text) <= PROFILE_OUTLINE_CHARS else f"{text[: PROFILE_OUTLINE_CHARS - 1]}…"


def _outlined(root: Schema, schema: Schema, depth: int) -> str:
    schema = _resolved(root, schema) or {}
    if depth < 0:
        return "…"
    if "enum" in schema:
        return "|".join(str(each) for each in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    for key in ("anyOf", "oneOf"):
        if key in schema and "properties" not in schema:
            told = [_outlined(root, _mapping(each), depth - 1) for each in schema[key]]
            return " or ".join(dict.fromkeys(told))
    types = types_of(schema)
    if "array" in types or "items" in schema:
        return f"[{_outlined(root, _mapping(schema.get('items')), depth - 1)}]"
    if "object" in types or "properties" in schema:
        return _fields(root, schema, depth) if depth else "{…}"
    if types == ("string",) and isinstance(schema.get("format"), str):
        return str(schema["format"])
    return "|".join(_WORDS.get(each, each) for each in types) or "any"


def _fields(root: Schema, schema: Schema, depth: int) -> str:
    told = [
        f"{name}: {_outlined(root, _mapping(each), depth - 1)}"
        for name, each in _mapping(schema.get("properties")).items()
    ]
    others = schema.get("additionalProperties", True)
    if isinstance(others, Mapping):
        told.append(f"any name: {_outlined(root, others, depth - 1)}")
    elif others:
        told.append("…")
    return "{" + ", ".join(told) + "}"


# --- holding values to it -------------------------------------------------------------------------


def validator(schema: Schema) -> "Validator":
    """Holds values to the schema. A pattern that takes too long does not fit."""
    from referencing import Registry

    kind, formats = _timed()
    made: Validator = kind(schema, registry=Registry(), format_checker=formats)
    return made


@cache
def _timed() -> tuple[Any, Any]:
    from jsonschema import Draft202012Validator, FormatChecker, ValidationError
    from jsonschema.validators import extend

    def pattern(held: Any, written: str, value: Any, schema: Schema) -> Iterator[ValidationError]:
        import regex

        if not isinstance(value, str):
            return
        try:
            if regex.search(written, value, timeout=PATTERN_SECONDS) is None:
                yield ValidationError(f"{value!r} does not match {written!r}")
        except TimeoutError:
            yield ValidationError(f"{written!r} takes too long to be held to {value!r}")

    # Those that every installation can check: others need libraries that may be there or not.
    formats = FormatChecker(("date", "email", "uuid"))
    return extend(Draft202012Validator, {"pattern": pattern}), formats
