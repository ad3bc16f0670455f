"""What an export or import has done, for a person and for scripts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Carried:
    """The agent and what it holds by now, and the file. `since` is the last message that an
    increment goes on from; `embeddings` counts vectors; `notes` are for a person to read."""

    agent: str
    path: Path
    messages: int
    passages: int
    pages: int
    sha256: str
    bytes: int
    embeddings: int
    since: int | None = None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The answer of `agents export` and `agents import` (contract)."""
        return {
            "agent": self.agent,
            "file": str(self.path),
            "messages": self.messages,
            "passages": self.passages,
            "pages": self.pages,
            "sha256": self.sha256,
            "bytes": self.bytes,
            "embeddings": self.embeddings,
            "since": self.since,
            "notes": list(self.notes),
        }
