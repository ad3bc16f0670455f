"""What `Memory` gives back: frozen values, for programs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Hit


@dataclass(frozen=True, slots=True)
class Near:
    """Something new that means nearly the same as something that was there."""

    id: str
    near: str
    similarity: float  # cosine


@dataclass(frozen=True, slots=True)
class Added:
    """`ids` of what is new, in order; `duplicates` are the ids of the same texts that were there;
    `near` is for whoever would rather update an old memory than keep both."""

    ids: tuple[str, ...]
    duplicates: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()

    @property
    def id(self) -> str:
        """The id of the one text that was added, whether it is new or was there."""
        (only,) = (*self.ids, *self.duplicates)
        return only


@dataclass(frozen=True, slots=True)
class Remembered:
    """One memory as it is now. `id` is a7; `version` counts changes from 1."""

    id: str
    text: str
    tags: tuple[str, ...]
    importance: float | None
    metadata: Mapping[str, Any]
    version: int
    created_at: datetime | None
    updated_at: datetime | None
    origin: str  # "user", or "document" for a piece of a file …
    source: str  # … that is named here
    deleted: bool

    @classmethod
    def of(cls, passage: Passage) -> "Remembered":
        return cls(
            id=passage.short_id,
            text=passage.text,
            tags=passage.tags,
            importance=passage.importance,
            metadata=dict(passage.metadata),
            version=passage.version,
            created_at=passage.created_at,
            updated_at=passage.updated_at,
            origin=passage.provenance.origin,
            source=passage.provenance.detail,
            deleted=passage.provenance.status == "retired",
        )


@dataclass(frozen=True, slots=True)
class Match:
    """One result of a search; a higher score is better. Of a long text, `text` is the piece that
    matched, `part` of `parts`."""

    id: str
    text: str
    score: float
    tags: tuple[str, ...] = ()
    importance: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    source: str = ""
    part: int = 1
    parts: int = 1
    scores: Mapping[str, float] = field(default_factory=dict)  # of each way of searching
    kind: str = "note"  # note, fact, insight …
    valid_from: datetime | None = None  # when it is true in the world …
    valid_to: datetime | None = None
    superseded_by: str | None = None  # … and what took its place

    @classmethod
    def of(cls, hit: Hit, metadata: Mapping[str, Any], text: str | None = None) -> "Match":
        return cls(
            id=hit.id,
            text=hit.text if text is None else text,
            score=hit.score,
            tags=hit.tags,
            importance=hit.importance,
            metadata=dict(metadata),
            created_at=hit.said_at,
            source=hit.source,
            part=hit.part,
            parts=hit.parts,
            scores=dict(hit.scores),
            kind=hit.kind,
            valid_from=hit.valid_from,
            valid_to=hit.valid_to,
            superseded_by=hit.superseded_by,
        )


@dataclass(frozen=True, slots=True)
class Matches:
    """The best first. `searched` is how many memories were looked through; `warnings` say what
    could not be, such as meanings while the embedder is out of reach."""

    matches: tuple[Match, ...]
    searched: int
    warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Match]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)

    def __getitem__(self, at: int) -> Match:
        return self.matches[at]


@dataclass(frozen=True, slots=True)
class Version:
    """A memory as it was from `at` on."""

    version: int
    text: str
    at: datetime
    author: str
    reason: str
