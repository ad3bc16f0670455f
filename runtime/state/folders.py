"""Folders: where agents, or archives, lie, each in one that is named by its opaque id.

A folder is made whole or not at all, and goes only once the registry has let it go. FolderLock is
the operating system's: it goes when the process does.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pagemind.runtime.errors import (
    AgentInUse,
    ArchiveInUse,
    HomeInUse,
    HomeUnusable,
    StorageError,
    TaskInUse,
)
from pagemind.runtime.settings import LOCK_GRACE_SECONDS
from pagemind.runtime.state.database import Database, peek, version_of

_DELETED = "deleted"  # lies in a folder that is being removed, or is not whole yet
_IN_USE = {"agent": AgentInUse, "archive": ArchiveInUse, "task": TaskInUse, "home": HomeInUse}

_HINT = {"task": "watch it with --join, wait for it with --wait SECONDS, or stop the other one"}


class FolderLock:
    """One writer per folder, across processes."""

    def __init__(self, folder: Path, name: str, noun: str = "agent") -> None:
        from filelock import FileLock

        self._name = name
        self._noun = noun
        self._lock = FileLock(folder / "lock")

    def acquire(self, wait: float) -> None:
        """Raises AgentInUse (ArchiveInUse) if another process still holds it after `wait`
        seconds."""
        from filelock import Timeout

        try:
            # Whoever only asks whether it is held (`held`) has it for an instant.
            self._lock.acquire(timeout=max(wait, LOCK_GRACE_SECONDS), poll_interval=0.02)
        except Timeout:
            raise _IN_USE[self._noun](
                f"{self._noun} {self._name!r} is in use by another process",
                hint=_HINT.get(
                    self._noun, "wait for it with --wait SECONDS, or close the other one"
                ),
            ) from None
        except OSError as error:
            raise HomeUnusable(
                f"the lock of {self._noun} {self._name!r} cannot be taken:"
                f" {error.strerror or error}",
                hint="check the permissions of the home",
            ) from error

    def held(self) -> bool:
        """Whether another process holds it now."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(self._lock.lock_file, timeout=0):
                return False
        except Timeout:
            return True
        except OSError:
            return False

    def release(self) -> None:
        self._lock.release()


class Folders:
    """Those below `root`, in step with a registry in `database`. `kept_for` is the table of
    state.db whose rows keep a folder that the registry does not know."""

    def __init__(self, root: Path, database: Database, kept_for: str, noun: str = "agent") -> None:
        self.root = root
        self._database = database
        self._kept_for = kept_for
        self._noun = noun

    def path(self, id: str) -> Path:
        return self.root / id

    @contextmanager
    def making(self, id: str) -> Iterator[Path]:
        """A new folder, safe from sweep() until what is in it is registered; gone on failure."""
        folder = self.path(id)
        # Within a transaction, as sweep() is: it never sees a folder whose lock is not yet held.
        with self._database.transaction():
            folder.mkdir(parents=True)
            lock = FolderLock(folder, id, self._noun)
            lock.acquire(0)
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            lock.release()

    @contextmanager
    def unfinished(self, id: str) -> Iterator[None]:
        """Whatever a folder in the making holds, sweep() takes it away until this is left without
        an error: what is in it is registered by then."""
        mark = self.path(id) / _DELETED
        mark.touch()
        yield
        mark.unlink()

    def remove(self, id: str, unregister: Callable[[], object]) -> None:
        """The registry first, so that what is listed can be opened; a crash leaves what sweep()
        takes away."""
        with suppress(OSError):
            (self.path(id) / _DELETED).touch()
        unregister()
        shutil.rmtree(self.path(id), ignore_errors=True)

    def sweep(self, known: Callable[[], set[str]]) -> None:
        """Remove folders that were never finished or already deleted. One that holds something
        and was not deleted stays: then it is the registry that has lost something."""
        if not self.root.is_dir():
            return
        with self._database.transaction():
            registered = known()
            for folder in self.root.iterdir():
                # A folder in the making holds its lock; only abandoned ones go.
                if folder.name not in registered and folder.is_dir() and self.abandoned(folder):
                    with suppress(AgentInUse):
                        lock = FolderLock(folder, folder.name, self._noun)
                        lock.acquire(0)
                        shutil.rmtree(folder, ignore_errors=True)
                        lock.release()

    def abandoned(self, folder: Path) -> bool:
        """Whether a folder that is not registered was deleted, or never held anything."""
        path = folder / "state.db"
        if (folder / _DELETED).exists() or version_of(path) == 0:
            return True
        try:
            return not peek(path, f"SELECT 1 FROM {self._kept_for} LIMIT 1")
        except StorageError:
            return False
