"""The receipt of an erasure: how much went, what shows that it is gone, and what nobody can show.

It holds counts, versions, hashes and times, no content: it may be given to whoever asked to be
forgotten. One JSON file in `receipts/` of the home; its hash stands in home.db and in the home's
audit log, so that `pagemind audit verify` finds an edit.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.erasure.plan import Counts
from pagemind.runtime.errors import DiskFull, StorageError

FOLDER = "receipts"
_FORMAT = 1
# What holds of every erasure.
ALWAYS = (
    "copies made outside of pagemind: backups, synced or moved files, snapshots of the disk",
    "blocks that the disk or its controller has not overwritten yet",
    "what other programs, and people, have read already",
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """`beside`: how much of what stood outside the agent's folder; `tables`: each LanceDB table
    with its version after the purge; `looked`: what was read to prove it; `found`: places where
    something was left."""

    id: str
    agent: str
    agent_id: str
    way: str
    at: datetime
    ended_at: datetime
    plan_sha256: str
    erased: Counts
    beside: Mapping[str, int]
    tables: tuple[Mapping[str, Any], ...]
    looked: Mapping[str, int]
    found: tuple[str, ...]
    denied: int
    holds: tuple[str, ...] = ()  # tags and branches of tables that went with it
    kept: tuple[str, ...] = ()  # files of a person, left on their word
    unverifiable: tuple[str, ...] = field(default=ALWAYS)
    path: Path | None = None

    @property
    def verified(self) -> bool:
        return not self.found

    def as_json(self) -> dict[str, Any]:
        """The answer of `memory erase` (contract.md), and what the file holds."""
        return {
            "receipt_format": _FORMAT,
            "id": self.id,
            "agent": self.agent,
            "agent_id": self.agent_id,
            "asked": self.way,
            "at": rfc3339(self.at),
            "ended_at": rfc3339(self.ended_at),
            "plan_sha256": self.plan_sha256,
            "erased": self.erased.to_dict(),
            "beside": dict(self.beside),
            "tables": [dict(each) for each in self.tables],
            "looked": dict(self.looked),
            "found": list(self.found),
            "verified": self.verified,
            "denied": self.denied,
            "removed": list(self.holds),
            "kept": list(self.kept),
            "unverifiable": list(self.unverifiable),
        }

    def at_path(self, path: Path) -> "Receipt":
        return replace(self, path=path)

    def to_bytes(self) -> bytes:
        text = json.dumps(self.as_json(), ensure_ascii=False, indent=1)
        return text.encode("utf-8", "replace") + b"\n"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def write(self, home: Path) -> Path:
        """Whole, and on disk; the same receipt again is the same file. Raises StorageError."""
        path = path_of(home, self.id)
        unfinished = path.with_suffix(".unfinished")
        try:
            path.parent.mkdir(exist_ok=True)
            with unfinished.open("wb") as file:
                file.write(self.to_bytes())
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            what = error.strerror or str(error)
            raise (DiskFull if error.errno == 28 else StorageError)(
                f"{path} cannot be written: {what}", hint="free some space and go on"
            ) from error
        return path


def path_of(home: Path, erasure: str) -> Path:
    return home / FOLDER / f"{erasure}.json"
