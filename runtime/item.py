"""Items: JSON values under a namespace and a key, how they read as text, and how they are filtered.
Pure.

A filter is `{"field": value}` or `{"field": {"$gt": 3, "$lte": 9}}`; `a.b` is a field within one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import UserError
from pagemind.runtime.scope import ROOT, scope_of
from pagemind.runtime.settings import (
    PASSAGE_CHARS,
    STORE_DEPTH,
    STORE_KEY_CHARS,
    STORE_VALUE_BYTES,
)

Index = bool | Sequence[str] | None  # what a search reads: all, nothing but the key, these fields
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Item:
    """`version` counts every change of what stood under this key, deletions too; `score` is that
    of a search by words."""

    namespace: str
    key: str
    value: Any
    version: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    score: float | None = None
    trust: int = 100

    def as_json(self) -> dict[str, Any]:
        return {
            "namespace": self.namespace,
            "key": self.key,
            "value": self.value,
            "version": self.version,
            "created_at": rfc3339(self.created_at),
            "updated_at": rfc3339(self.updated_at),
            "expires_at": rfc3339(self.expires_at) if self.expires_at else None,
            "score": self.score,
            "trust": self.trust,
        }


@dataclass(frozen=True, slots=True)
class Namespace:
    """`items` stand in it; of one that was cut to a depth, those below it are among them."""

    path: str
    items: int


def namespace_of(written: str, home: str) -> str:
    """The scope of a namespace: `/team/prefs` as it is, `prefs` below home. Raises UserError."""
    text = written.strip()
    return scope_of(text if text.startswith(ROOT) else f"{home}/{text}")


def checked_key(key: str) -> str:
    """Raises UserError."""
    key = key.strip()
    if not key or len(key) > STORE_KEY_CHARS or not key.isprintable():
        raise UserError(
            f"{key[:60]!r} is no key",
            hint=f"a key is one line of 1 to {STORE_KEY_CHARS} characters",
        )
    return key


def checked_value(value: Any) -> Any:
    """The value as JSON gives it back. Raises UserError for what JSON cannot hold, or too much."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"the value is not JSON: {error}") from None
    size = len(text.encode("utf-8", "replace"))
    if size > STORE_VALUE_BYTES:
        raise UserError(
            f"the value has {size:,} bytes; an item holds {STORE_VALUE_BYTES:,}",
            hint="store it in parts, under several keys",
        )
    plain = json.loads(text)
    if _depth(plain) > STORE_DEPTH:
        raise UserError(f"the value is nested deeper than {STORE_DEPTH} levels")
    return plain


def _depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inside), default=0) if isinstance(value, dict | list) else 0


def text_of(key: str, value: Any, index: Index) -> str:
    """What a search by words and meaning reads of an item."""
    lines = [key]
    if index is not False:
        wanted = None if index is None or index is True else tuple(index)
        for path, leaf in _leaves(value):
            if wanted is None or any(path == w or path.startswith(f"{w}.") for w in wanted):
                said = leaf if isinstance(leaf, str) else json.dumps(leaf)
                lines.append(f"{path}: {said}" if path else said)
    return "\n".join(lines)[:PASSAGE_CHARS]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inside in value.items():
            yield from _leaves(inside, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inside in value:
            yield from _leaves(inside, path)
    else:
        yield path, value


# --- filters --------------------------------------------------------------------------------------


def checked_filter(given: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Raises UserError for an operator that is none."""
    if given is not None and not isinstance(given, Mapping):
        raise UserError("a filter is an object of fields and what they must be")
    for field, wanted in (given or {}).items():
        if _operators(wanted):
            for name in wanted:
                if name not in OPERATORS:
                    raise UserError(
                        f"{field}: no operator is called {name!r}", hint=f"there are {_ALL}"
                    )
    return given or {}


_ALL = ", ".join(OPERATORS)


def passes(value: Any, wanted: Mapping[str, Any]) -> bool:
    """Whether every field of the filter holds."""
    return all(_holds(_field(value, name), each) for name, each in wanted.items())


def _field(value: Any, path: str) -> Any:
    if isinstance(value, dict) and path in value:
        return value[path]
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return _MISSING
        value = value[name]
    return value


def _operators(wanted: Any) -> bool:
    return isinstance(wanted, Mapping) and any(str(name).startswith("$") for name in wanted)


def _holds(held: Any, wanted: Any) -> bool:
    if not _operators(wanted):
        return _equal(held, wanted)
    return all(_compare(held, name, than) for name, than in wanted.items())


def _compare(held: Any, operator: str, than: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return _equal(held, than) is (operator == "$eq")
    alike = (_number(held) and _number(than)) or (isinstance(held, str) and isinstance(than, str))
    if not alike:
        return False  # what cannot be compared is neither more nor less
    if operator in ("$gt", "$gte"):
        return bool(held > than or (operator == "$gte" and held == than))
    return bool(held < than or (operator == "$lte" and held == than))


def _equal(held: Any, wanted: Any) -> bool:
    """1 is 1.0, and neither is true."""
    return held is not _MISSING and held == wanted and _kind(held) == _kind(wanted)


def _kind(value: Any) -> str:
    return "number" if _number(value) else type(value).__name__


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- namespaces -----------------------------------------------------------------------------------


def pattern_of(written: str, home: str) -> tuple[str, ...]:
    """The names of a pattern, `*` for any one: `/team/*/prefs`. Raises UserError."""
    text = written.strip()
    names = [each for each in text.split("/") if each]
    for each in names:
        if each != "*":
            scope_of(each)
    above = [] if text.startswith(ROOT) else [each for each in home.split("/") if each]
    return (*above, *names)


def listed(counts: Mapping[str, int], pattern: Sequence[str], depth: int | None) -> list[Namespace]:
    """The namespaces that begin as the pattern does, cut to a depth, by name."""
    totals: dict[str, int] = {}
    for path, count in counts.items():
        names = [each for each in path.split("/") if each]
        fits = len(names) >= len(pattern) and all(
            wanted in ("*", name) for wanted, name in zip(pattern, names, strict=False)
        )
        if fits:
            cut = ROOT + "/".join(names if depth is None else names[:depth])
            totals[cut] = totals.get(cut, 0) + count
    return [Namespace(path, totals[path]) for path in sorted(totals)]
