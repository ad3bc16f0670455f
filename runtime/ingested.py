"""Between ingest() and its callers: Target, which passages go into; Progress and Ingested, which
say what is done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pagemind.runtime.documents.document import Skipped
from pagemind.runtime.keeping import PLAIN, Keeping
from pagemind.runtime.passage import Passage
from pagemind.runtime.state.state import State


class Target(Protocol):
    """What passages go into, held for writing: an agent at rest (AgentWriter) or an archive.

    `state` has the passages, the table `documents` and transactions; all three functions may be
    called inside one.
    """

    @property
    def state(self) -> State: ...

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        document: str = "",
        keeping: Keeping = PLAIN,
    ) -> tuple[Passage, bool]:
        """The passage, and whether it is new; an exact duplicate returns the existing one."""

    def retire(self, number: int, *, reason: str) -> bool:
        """Hide passage a<number>, recoverably; whether it was there."""

    def near(self, text: str, limit: int) -> list[tuple[str, float]]:
        """Passages that mean nearly the same: short ids and cosines, the closest first. Empty
        where no embedder works."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is. Bytes are those of files; within one file they are an estimate."""

    path: Path
    files: int
    of_files: int
    bytes: int
    of_bytes: int
    passages: int


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Near:
    """A new passage that means nearly the same as one that was there."""

    id: str
    near: str
    similarity: float


@dataclass(slots=True)
class Ingested:
    """What a run did. `ids` are new passages, `duplicates` were there; `chunks` counts both."""

    ids: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)
    near: list[Near] = field(default_factory=list)
    chunks: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    files: int = 0  # that were read or found unchanged
    unchanged: int = 0  # files
    updated: int = 0  # files
    retired: list[str] = field(default_factory=list)  # passages

    def as_json(self) -> dict[str, Any]:
        """The keys of `memory insert --json` (docs/json.md)."""
        return {
            "ids": self.ids,
            "duplicates": self.duplicates,
            "near": [
                {"id": each.id, "near": each.near, "similarity": round(each.similarity, 3)}
                for each in self.near
            ],
            "chunks": self.chunks,
            "skipped": [{"path": each.path, "why": each.why} for each in self.skipped],
            "files": self.files,
            "unchanged": self.unchanged,
            "updated": self.updated,
            "retired": self.retired,
        }
