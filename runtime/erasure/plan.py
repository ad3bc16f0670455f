"""Plan: what an erasure takes out of state.db, and what it makes anew. Pure.

It holds ids and hashes and no text, for it is stored until the erasure is proved: to_json() and
from_json() lead there and back. Counts says how many things that is, with the keys that scripts
rely on.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Plan:
    """Numbers of what is deleted, or made anew out of what is left.

    Messages become tombstones; passages (records, all their versions), segments, changes,
    entities and inbox rows go; records in `kept` ("a7@2") stay with what that version says; pages,
    directories, summaries and turns are told anew; `lines` are hashes of lines that the `blocks`
    lose in every version; `texts` and `blobs` are SHA-256; `names`, `documents` and `answers` are
    hashes of what they are called.
    """

    messages: tuple[int, ...] = ()
    passages: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    directories: tuple[int, ...] = ()
    summaries: tuple[int, ...] = ()
    segments: tuple[int, ...] = ()
    turns: tuple[int, ...] = ()
    asked: tuple[int, ...] = ()  # of them those whose client's id says too much
    changes: tuple[int, ...] = ()
    entities: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    renamed: tuple[int, ...] = ()  # entities that stay, under another of their names
    links: tuple[str, ...] = ()  # "low high seq"
    reasons: tuple[str, ...] = ()  # "a7@2", "block:human@3": of versions whose reason says too much
    inbox: tuple[int, ...] = ()
    documents: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()  # of calls by hand that were to be done once
    blocks: tuple[str, ...] = ()  # labels of those that change
    lines: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    blobs: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()  # ids of what rests on what was wanted: deleted or made anew
    everything: bool = False
    wanted: str = ""  # which way it was asked for; no text

    def __bool__(self) -> bool:
        """Whether anything is erased."""
        return self.everything or any(
            getattr(self, each.name) for each in fields(self) if each.name not in _NOT_CONTENT
        )

    def to_json(self) -> str:
        """One line of JSON, without what is empty."""
        stored: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        return json.dumps(
            {name: value for name, value in stored.items() if value}, separators=(",", ":")
        )

    @staticmethod
    def from_json(text: str) -> "Plan":
        """The inverse. Raises ValueError for what is no plan."""
        stored = json.loads(text)
        known = {each.name for each in fields(Plan)}
        if not isinstance(stored, dict) or not stored.keys() <= known:
            raise ValueError("this is no plan of an erasure")
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()
        }
        return Plan(**values)

    @property
    def sha256(self) -> str:
        """What names it: the same plan has the same."""
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()


_NOT_CONTENT = frozenset({"derived", "wanted", "everything"})


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was erased. `passages` are notes and pieces of documents, `records` facts, insights
    and all else that is kept; `derived` gists, summaries, block lines and texts made anew."""

    messages: int = 0
    passages: int = 0
    records: int = 0
    pages: int = 0
    derived: int = 0

    def to_dict(self) -> dict[str, int]:
        """With the keys of `memory erase --json`."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @staticmethod
    def from_dict(stored: Mapping[str, int]) -> "Counts":
        return Counts(**{each.name: int(stored.get(each.name, 0)) for each in fields(Counts)})

    def __add__(self, other: "Counts") -> "Counts":
        mine, theirs = self.to_dict(), other.to_dict()
        return Counts(**{name: mine[name] + theirs[name] for name in mine})


@dataclass(frozen=True, slots=True)
class PreviewItem:
    """One thing as a person is shown it before it goes. `what` becomes of it: "erased", "made
    anew", "loses lines". Never stored."""

    kind: str  # message, note, fact, …, page, summary, block, …
    id: str
    what: str
    text: str


def hashed(text: str) -> str:
    """What stands for a line or a name in a plan."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8")).hexdigest()


def hashed_lines(text: str) -> Iterator[str]:
    """The hash of each line that says something."""
    return (hashed(line) for line in text.splitlines() if line.strip())
