"""Files that pagemind wrote for an agent outside its folder, at a person's word: exports, memory
folders, pages of the inspector, traces. They are noted before they are written, so that an erasure
knows where else an agent's words stand. What is copied or moved by hand is not known.
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import StorageError
from pagemind.runtime.state.database import Database

MadeKind = Literal["export", "folder", "page", "trace"]
_log = logging.getLogger("pagemind.runtime")


@dataclass(frozen=True, slots=True)
class MadeFile:
    """`at`: when it was written last."""

    path: Path
    kind: MadeKind
    at: datetime


class MadeFiles:
    """Those of one home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def note(self, agent: str, path: str | Path, kind: MadeKind) -> None:
        """A file for the agent of this id is about to be written. A home that cannot be written
        keeps nobody from an export."""
        try:
            self._db.write(
                "INSERT OR REPLACE INTO made_files VALUES (?,?,?,?)",
                (str(_absolute(Path(path))), agent, kind, rfc3339(self._clock.now())),
            )
        except StorageError as error:
            _log.warning("%s is not known to an erasure: %s", path, error)

    def of(self, agent: str) -> list[MadeFile]:
        """By path; also those that are gone."""
        rows = self._db.rows("SELECT * FROM made_files WHERE agent = ? ORDER BY path", (agent,))
        return [MadeFile(Path(row["path"]), row["kind"], parse_rfc3339(row["at"])) for row in rows]

    def shared(self, path: Path, agent: str) -> bool:
        """Whether other agents stand in a file too."""
        return bool(
            self._db.rows(
                "SELECT 1 FROM made_files WHERE path = ? AND agent <> ?", (str(path), agent)
            )
        )

    def forget(self, agent: str, path: Path) -> None:
        self._db.write("DELETE FROM made_files WHERE path = ? AND agent = ?", (str(path), agent))


def _absolute(path: Path) -> Path:
    """Where it is; a link by that name is what is written anew, not what it leads to."""
    return path.absolute().parent.resolve() / path.name
