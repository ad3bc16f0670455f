"""The registry of shared archives (home.db) and their folders, as Home is that of agents."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import ArchiveExists, UnknownArchive
from pagemind.runtime.naming import folded, nearest
from pagemind.runtime.state.database import Row
from pagemind.runtime.state.folders import FolderLock, Folders
from pagemind.runtime.state.home import Home


@dataclass(frozen=True, slots=True)
class RegisteredArchive:
    """An archive as the registry knows it. `embedding` is the embedder that its passages get."""

    id: str
    name: str
    embedding: str
    created_at: datetime


class ArchiveRegistry:
    """The archives of a home; `archives/` is made with the first."""

    def __init__(self, home: Home, clock: Clock) -> None:
        self._home = home
        self._db = home.database
        self._clock = clock
        self.audit_heads = home.audit_heads
        self.root = home.path / "archives"
        self._folders = Folders(self.root, self._db, "passages", "archive")

    def folder(self, id: str) -> Path:
        return self._folders.path(id)

    def lock(self, archive: RegisteredArchive) -> FolderLock:
        """Whoever writes holds it."""
        return FolderLock(self.folder(archive.id), archive.name, "archive")

    def all(self) -> list[RegisteredArchive]:
        """Every archive, by name."""
        return [_registered(row) for row in self._db.rows("SELECT * FROM archives ORDER BY folded")]

    def get(self, name: str) -> RegisteredArchive | None:
        row = self._db.one("SELECT * FROM archives WHERE folded = ?", (folded(name.strip()),))
        return _registered(row) if row is not None else None

    def find(self, name: str) -> RegisteredArchive:
        """Raises UnknownArchive with the nearest names."""
        if found := self.get(name):
            return found
        hint = nearest(
            name,
            (each.name for each in self.all()),
            otherwise=f"`pagemind archives new {name}` makes it",
        )
        raise UnknownArchive(f"no archive is called {name!r} in {self._home.path}", hint=hint)

    def add(self, id: str, name: str, embedding: str) -> RegisteredArchive:
        """Register an archive whose folder is complete. Raises ArchiveExists."""
        with self._db.transaction():
            if self.get(name):
                raise ArchiveExists(
                    f"there is an archive called {name!r} already",
                    hint="choose another name, or delete that one first",
                )
            self._db.write(
                "INSERT INTO archives VALUES (?,?,?,?,?)",
                (id, name, folded(name), embedding, rfc3339(self._clock.now())),
            )
            self._home.audit.add("archive made", id, by="user")
        return self.find(name)

    def set_embedding(self, id: str, embedding: str) -> None:
        self._db.write("UPDATE archives SET embedding = ? WHERE id = ?", (embedding, id))

    def remove(self, archive: RegisteredArchive) -> None:
        """Delete an archive: the registry first, so that what is listed can be opened."""

        def unregister() -> None:
            with self._db.transaction():
                self._db.write("DELETE FROM archives WHERE id = ?", (archive.id,))
                self._home.audit.gone("archive removed", archive.id, by="user")

        self._folders.remove(archive.id, unregister)

    def sweep(self) -> None:
        """Remove folders of archives that were never finished or already deleted."""
        self._folders.sweep(lambda: {each.id for each in self.all()})

    def abandoned(self, folder: Path) -> bool:
        """Whether a folder that is not registered was deleted, or never got a passage."""
        return self._folders.abandoned(folder)

    def making(self, id: str) -> AbstractContextManager[Path]:
        """A new folder, safe from sweep() until the archive in it is registered."""
        return self._folders.making(id)


def _registered(row: Row) -> RegisteredArchive:
    return RegisteredArchive(
        row["id"], row["name"], row["embedding"], parse_rfc3339(row["created_at"])
    )
