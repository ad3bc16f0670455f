"""A profile: what a block knows of one entity, as JSON text that is held to a schema.

`patched` and `rewritten` make the next text or raise ProfileMismatch. A change may not break the
schema; faults that were there before (the schema has changed, or a field is not known yet) do not
stand in its way. What no person wrote never empties a profile.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pagemind.runtime import profile_path
from pagemind.runtime.errors import ProfileMismatch
from pagemind.runtime.message import clean_text
from pagemind.runtime.profile_outline import outline
from pagemind.runtime.profile_schema import Schema, schema_at, types_of, validator
from pagemind.runtime.settings import PROFILE_DEPTH, PROFILE_FAULTS, PROFILE_LINE_CHARS

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Value = dict[str, Any]


def apply_patch(schema: Schema, value: Value, patch: Mapping[str, Any]) -> Value:
    """The value with each path of the patch set, or deleted where it is given None: all of it, or
    ProfileMismatch. For what no person wrote."""
    return Profile("the profile", schema).applied(value, patch)


def is_empty(value: Any) -> bool:
    """Whether it tells nothing: no text, number or truth value anywhere in it."""
    if isinstance(value, dict):
        return all(map(is_empty, value.values()))
    if isinstance(value, list):
        return all(map(is_empty, value))
    return value is None or (isinstance(value, str) and not value.strip())


@dataclass(frozen=True, eq=False)
class Profile:
    """The form of a block: `name` is what errors call it."""

    name: str
    schema: Schema

    # --- as text --------------------------------------------------------------------------------

    def read(self, text: str) -> Value:
        """The value of a block's text; an empty one is {}. Raises ProfileMismatch."""
        if not text.strip():
            return {}
        try:
            value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_no_doubles)
        except (ValueError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise ProfileMismatch(
                f"{self.name}: it is no JSON: {why[0].lower()}{why[1:]}"
            ) from None
        if not isinstance(value, dict):
            raise ProfileMismatch(f"{self.name}: it must be a JSON object, {{…}}")
        return value

    def write(self, value: Value) -> str:
        """Its text: a field a line, those of the schema first and in its order."""
        return _laid_out(self._in_order(value, ()), 0)

    def faults_of(self, text: str) -> list[str]:
        """What of a block's text does not fit. An empty profile fits: it is not begun."""
        try:
            value = self.read(text)
        except ProfileMismatch as error:
            return [error.message.removeprefix(f"{self.name}: ")]
        return [] if is_empty(value) else [text for _, text in self._faults(value)]

    @property
    def outline(self) -> str:
        """Its fields, for a model."""
        return outline(self.schema)

    # --- changed --------------------------------------------------------------------------------

    def patched(self, text: str, patch: Mapping[str, Any]) -> str:
        """The text with these paths set, or deleted where given None."""
        return self.write(self.applied(self.read(text), patch))

    def rewritten(self, before: str, text: str, *, by_person: bool = False) -> str:
        """Another text in place of one. A person may empty a profile."""
        new = self.read(text)
        try:
            old = self.read(before)
        except ProfileMismatch:  # a schema came to a block that had a text
            old = {"text": before}
        return self.write(self._held(old, new, by_person=by_person))

    def applied(self, value: Value, patch: Mapping[str, Any]) -> Value:
        """The value with the patch."""
        new = value
        for path, given in patch.items():
            try:
                steps = profile_path.parse(path)
                if given is None:
                    new = profile_path.take(new, steps)
                else:
                    new = profile_path.put(new, steps, self._read_as(steps, given), self._listed)
            except (ValueError, RecursionError) as error:
                raise self._refused(str(error)) from None
        return self._held(value, new)

    def _held(self, old: Value, new: Value, *, by_person: bool = False) -> Value:
        new = self._plain(new)
        if not by_person and is_empty(new) and not is_empty(old):
            raise self._refused(
                "that would empty it; take out only what is wrong. A person can empty it"
            )
        if is_empty(new):
            return new
        known = {key for key, _ in self._faults(old)}
        if wrong := [text for key, text in self._faults(new) if key not in known]:
            more = len(wrong) - PROFILE_FAULTS
            told = "; ".join(wrong[:PROFILE_FAULTS]) + (f"; and {more} more" if more > 0 else "")
            raise self._refused(told)
        return new

    def _plain(self, value: Value) -> Value:
        """What JSON can hold, and no deeper than anybody would look."""
        try:
            text = clean_text(json.dumps(value, ensure_ascii=False, allow_nan=False))
            if _depth(value) > PROFILE_DEPTH:
                raise self._refused(f"it is nested more than {PROFILE_DEPTH} deep")
            plain: Value = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._refused(f"that is no JSON: {error}") from None
        return plain

    def _refused(self, why: str) -> ProfileMismatch:
        return ProfileMismatch(f"{self.name}: {why}. It is unchanged.")

    # --- by the schema --------------------------------------------------------------------------

    def _read_as(self, steps: profile_path.Steps, given: Any) -> Any:
        """What a weak model meant: "5" where a number belongs, 5 where a text does, the text of an
        object where one belongs."""
        wanted = types_of(schema_at(self.schema, steps))
        if not wanted or isinstance(given, bool):
            return given
        if isinstance(given, int | float) and wanted == ("string",):
            return str(given)
        if isinstance(given, str) and "string" not in wanted:
            try:
                return json.loads(given.lower() if wanted == ("boolean",) else given)
            except (ValueError, RecursionError):
                return given
        return given

    def _listed(self, steps: profile_path.Steps) -> bool | None:
        types = types_of(schema_at(self.schema, steps))
        return "array" in types if types else None

    @cached_property
    def _validator(self) -> "Validator":
        return validator(self.schema)

    def _faults(self, value: Value) -> list[tuple[object, str]]:
        """Each with a key that stays the same while the same thing is wrong."""
        try:
            return list(_told(self._validator.iter_errors(value)))
        except RecursionError:
            return [("", "its schema leads in a circle")]

    def _in_order(self, value: Any, steps: profile_path.Steps) -> Any:
        if isinstance(value, list):
            return [self._in_order(each, (*steps, str(at))) for at, each in enumerate(value)]
        if not isinstance(value, dict):
            return value
        schema = schema_at(self.schema, steps) or {}
        known = [name for name in schema.get("properties", ()) if name in value]
        order = dict.fromkeys((*known, *value))
        return {name: self._in_order(value[name], (*steps, name)) for name in order}


def _told(errors: Any) -> Iterator[tuple[object, str]]:
    for error in errors:
        where = profile_path.shown(list(error.absolute_path))
        at = f"{where}: " if where else ""
        if error.validator == "additionalProperties" and isinstance(error.instance, dict):
            known = list(error.schema.get("properties", ()))
            for name in error.instance:
                if name not in known:
                    yield (where, name), f"{at}{_no_field(name, known)}"
        elif error.validator == "required":
            yield (where, error.message), f"{at}{error.message}"
        else:
            message = error.message if len(error.message) <= 200 else f"{error.message[:200]}…"
            if error.validator == "type" and error.validator_value == "array" and where:
                message += f"; {where}[-] adds one to it"
            yield (where, error.validator, error.message), f"{at}{message}"


def _no_field(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1)
    nearest = f"did you mean {close[0]!r}? " if close else ""
    return f"no field is called {name!r}; {nearest}fields: {', '.join(known) or 'none'}"


def _laid_out(value: Any, indent: int) -> str:
    """JSON: the whole a field a line, what is in it on one line while that is short."""
    flat = json.dumps(value, ensure_ascii=False)
    short = indent > 0 and indent + len(flat) <= PROFILE_LINE_CHARS
    if short or not value or not isinstance(value, dict | list):
        return flat
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        told = [
            f"{inner}{json.dumps(name, ensure_ascii=False)}: {_laid_out(each, indent + 1)}"
            for name, each in value.items()
        ]
        return "{\n" + ",\n".join(told) + f"\n{' ' * indent}}}"
    told = [f"{inner}{_laid_out(each, indent + 1)}" for each in value]
    return "[\n" + ",\n".join(told) + f"\n{' ' * indent}]"


def _depth(value: Any) -> int:
    """How many objects and lists lie in each other."""
    deepest, level = 0, [value]
    while level and deepest <= PROFILE_DEPTH:
        held = [each for each in level if isinstance(each, dict | list)]
        level = [x for each in held for x in (each.values() if isinstance(each, dict) else each)]
        deepest += bool(held)
    return deepest


def _no_number(written: str) -> Any:
    raise ValueError(f"{written} is no number of JSON")


def _no_doubles(pairs: list[tuple[str, Any]]) -> Value:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} stands in it twice")
    return found
