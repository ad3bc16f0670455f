"""The JSON schema of a profile: checked when a definition is read, shipped ones by name, walked to
the schema of one field, and a validator of it that ends in time.

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
    PROFILE_SCHEMA_CHARS,
)

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Schema = Mapping[str, Any]
_SHIPPED = "pagemind.agents.profiles"
_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_MOST_STEPS = 5000


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
    fault = next(_faults_of_references(schema, schema), "") or next(_faults_of_patterns(schema), "")
    if not fault and _cost(schema, schema, {}) > _MOST_STEPS:
        return "its references lead to references: nothing could be held to all of that"
    return fault


def _cost(node: Any, root: Schema, known: dict[int, int]) -> int:
    """How many schemas a value is held to at most, apart from what goes round in a circle: a few
    lines of references to references can make more of them than there is time."""
    if isinstance(node, list):
        return sum(_cost(each, root, known) for each in node)
    if not isinstance(node, Mapping):
        return 0
    if id(node) not in known:
        known[id(node)] = 1  # while it is being counted
        below = [each for key, each in node.items() if key != "$defs"]
        reference = node.get("$ref")
        if isinstance(reference, str):
            below.append(_target(root, reference))
        known[id(node)] = 1 + sum(_cost(each, root, known) for each in below)
    return known[id(node)]


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
                elif "$ref" in target and resolved(root, target) is None:
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
        here = next(_below(schema, here, step, set()), None) if here is not None else None
    return resolved(schema, here) if here is not None else None


def _below(root: Schema, here: Schema, step: str, seen: set[int]) -> Iterator[Schema]:
    here = resolved(root, here) or {}
    if id(here) in seen:
        return
    seen.add(id(here))
    properties = here.get("properties")
    if isinstance(properties, Mapping) and step in properties:
        yield mapping(properties[step])
    elif _is_index(step) and isinstance(here.get("items"), Mapping):
        yield here["items"]
    elif isinstance(here.get("additionalProperties"), Mapping):
        yield here["additionalProperties"]
    for key in _ALTERNATIVES:
        for each in here.get(key, ()):
            yield from _below(root, mapping(each), step, seen)


def _is_index(step: str) -> bool:
    return step.isdecimal() or step == "-"


def mapping(value: Any) -> Schema:
    return value if isinstance(value, Mapping) else {}


def resolved(root: Schema, schema: Schema) -> Schema | None:
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
