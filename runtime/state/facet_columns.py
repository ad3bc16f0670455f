"""The facets of a passage as columns of `passages`, and as the JSON that each version keeps."""

import json
from dataclasses import fields
from typing import Any

from pagemind.runtime.clock import parse_rfc3339, rfc3339
from pagemind.runtime.passage import Facets
from pagemind.runtime.state.database import Row

COLUMNS = tuple(each.name for each in fields(Facets))
_TIMES = ("valid_from", "valid_to", "expires_at")
_FLAGS = ("evergreen", "cold")
_DEFAULTS = Facets()


def columns_of(facets: Facets) -> tuple[Any, ...]:
    """In the order of COLUMNS."""
    return tuple(_stored(name, getattr(facets, name)) for name in COLUMNS)


def facets_of(row: Row) -> Facets:
    """A row that has all the columns as a value."""
    return Facets(**{name: _read(name, row[name]) for name in COLUMNS})


def facets_json(facets: Facets) -> str:
    """What differs from a plain note."""
    said = {
        name: _stored(name, getattr(facets, name))
        for name in COLUMNS
        if getattr(facets, name) != getattr(_DEFAULTS, name)
    }
    return json.dumps(said, ensure_ascii=False)


def facets_from(stored: str) -> Facets:
    """The inverse of facets_json."""
    said = json.loads(stored)
    return Facets(**{name: _read(name, said[name]) for name in COLUMNS if name in said})


def _stored(name: str, value: Any) -> Any:
    if name in _TIMES:
        return rfc3339(value) if value is not None else None
    return int(value) if name in _FLAGS else value


def _read(name: str, value: Any) -> Any:
    if name in _TIMES:
        return parse_rfc3339(value) if value else None
    return bool(value) if name in _FLAGS else value
