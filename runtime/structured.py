"""Structured output: a reply that is JSON of a schema, asked for again where it is not.

`ask` says the text with the schema after it, reads the reply and holds it against the schema; what
is wrong is told to the model, a bounded number of times. The answer carries the value as `data`.
A schema is a JSON schema, or a pydantic model: then `data` is an instance of it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagemind.runtime.errors import UserError
from pagemind.runtime.json_reply import read_json
from pagemind.runtime.settings import STRUCTURED_ATTEMPTS, STRUCTURED_FAULTS
from pagemind.runtime.template import load
from pagemind.runtime.turn import TurnResult

if TYPE_CHECKING:
    from pydantic import BaseModel

Schema = Mapping[str, Any]
SchemaLike = "Schema | type[BaseModel]"
Say = Callable[[str, str | None], TurnResult]  # a text, and the client's id of it


def ask(
    say: Say,
    text: str,
    schema: "Schema | type[BaseModel]",
    *,
    id: str | None = None,
    attempts: int = STRUCTURED_ATTEMPTS,
) -> TurnResult:
    """One answer for all that was said; its `data` is None, and `reasons` says why, where no reply
    fitted. Raises UserError for what is no schema."""
    wanted = schema_of(schema)
    asked = load("structured").fill(text=text, schema=_shown(wanted))
    result = say(asked, id)
    for attempt in range(2, attempts + 2):
        if result.stop_reason != "answered":
            return result
        try:
            return replace(result, data=fitting(result.text, wanted, schema))
        except ValueError as fault:
            reason = str(fault)
        if attempt > attempts:
            return replace(result, reasons=(*result.reasons, f"schema: {reason}"))
        again = load("structured_again").fill(reason=reason)
        result = _together(result, say(again, _again(id, attempt) if id else None))
    return result


def ids_of(id: str, attempts: int = STRUCTURED_ATTEMPTS) -> list[str]:
    """All ids under which a text of this id may be said."""
    return [id, *(_again(id, attempt) for attempt in range(2, attempts + 1))]


def _again(id: str, attempt: int) -> str:
    return f"{id} again {attempt}"


def fitting(text: str, wanted: Schema, schema: "Schema | type[BaseModel]") -> Any:
    """The value in a reply. Raises ValueError with what is wrong."""
    value = read_json(text)
    if fault := faults_of(value, wanted):
        raise ValueError(fault)
    if isinstance(schema, type):
        return schema.model_validate(value)  # pydantic's ValidationError is a ValueError
    return value


def schema_of(schema: "Schema | type[BaseModel]") -> Schema:
    """The JSON schema. Raises UserError for what is none."""
    found = schema.model_json_schema() if isinstance(schema, type) else schema
    if fault := schema_fault(found):
        raise UserError(f"the schema is no JSON schema: {fault}")
    return found


def schema_fault(schema: Any) -> str:
    """What keeps a value from being a JSON schema; "" for nothing."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if not isinstance(schema, Mapping):
        return "it must be a mapping of keys to values"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return _told(error)
    return ""


def load_schema(path: Path) -> Schema:
    """A JSON schema from a file of JSON. Raises UserError."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise UserError(f"{path}: not JSON: {error}", hint="give a JSON schema") from None
    if fault := schema_fault(value):
        raise UserError(f"{path}: no JSON schema: {fault}")
    assert isinstance(value, dict)
    return value


def faults_of(value: Any, schema: Schema) -> str:
    """What of a value does not fit, in one line; "" for nothing."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    errors = list(Draft202012Validator(schema).iter_errors(value))
    if not errors:
        return ""
    first = best_match(errors)
    told = [first, *(each for each in errors if each is not first)][:STRUCTURED_FAULTS]
    return "; ".join(_told(each) for each in told)


def _told(error: Any) -> str:
    where = ".".join(str(step) for step in error.absolute_path)
    message = error.message if len(error.message) <= 300 else f"{error.message[:300]}…"
    return f"{where}: {message}" if where else message


def _shown(schema: Schema) -> str:
    return json.dumps(schema, ensure_ascii=False, indent=1)


def _together(first: TurnResult, then: TurnResult) -> TurnResult:
    """The second, with what both took."""
    return replace(
        then,
        steps=first.steps + then.steps,
        usage=first.usage + then.usage,
        background_tokens=first.background_tokens + then.background_tokens,
        cost=first.cost + then.cost,
        cost_known=first.cost_known and then.cost_known,
        tool_calls=(*first.tool_calls, *then.tool_calls),
        flushes=first.flushes + then.flushes,
        pages_written=first.pages_written + then.pages_written,
        warnings=(*first.warnings, *then.warnings),
        message_ids=(*first.message_ids, *then.message_ids),
        duration_ms=first.duration_ms + then.duration_ms,
    )
