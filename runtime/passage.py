"""A passage of the archival tier: a text that an agent or a person chose to keep."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pagemind.runtime.message import Provenance


@dataclass(frozen=True, slots=True)
class Passage:
    """`number` is what people see (`a7`); `id` is a UUIDv7; `version` counts edits from 1."""

    number: int
    id: str
    text: str
    tags: tuple[str, ...] = ()
    importance: float | None = None  # 1–10
    metadata: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    seq: int = 0  # the agent's last message when it was stored
    created_at: datetime | None = None
    updated_at: datetime | None = None
    last_accessed: datetime | None = None
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def short_id(self) -> str:
        return f"a{self.number}"
