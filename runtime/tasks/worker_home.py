"""The home of a worker process: a folder that no other process has, for as long as it lives.

Below the folder that is given, or `workers` in the worker's own home, lie worker-1, worker-2, …; a
process takes the first that is free. What a dead one left there is of no use to anybody and goes.
"""

import atexit
import logging
import os
import tempfile
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from pagemind.runtime.errors import HomeUnusable, PagemindError
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import home_path
from pagemind.runtime.written_path import expanded

_log = logging.getLogger("pagemind.tasks")
# What an executor calls is a plain function, so a process must find its home again by itself. The
# process is part of the key: a fork has the names of its parent, and none of its locks.
_HOMES: dict[tuple[int, str], "WorkerHome"] = {}
_OPENING = threading.Lock()


def worker_home(root: str | None) -> "WorkerHome":
    """This process's, opened when it is first asked for. Raises HomeUnusable, StorageError."""
    folder = expanded(root) if root is not None else home_path() / "workers"
    with _OPENING:
        key = (os.getpid(), str(folder.absolute()))
        if key not in _HOMES:
            _HOMES[key] = WorkerHome(folder)
            atexit.register(_HOMES[key].close)
        return _HOMES[key]


class WorkerHome:
    """The first folder below `root` that is free."""

    def __init__(self, root: Path) -> None:
        folder, self._lock = _first_free(root)
        # Models that were pulled lie in the home above: none is pulled again for a worker.
        models = root.absolute().parent / "models"
        if models.is_dir() and not (folder / "models").exists():
            with suppress(OSError):
                (folder / "models").symlink_to(models, target_is_directory=True)
        self.runtime = Runtime(folder)
        for left in self.runtime.home.all():
            self.remove(left.name)

    def export(self, name: str) -> bytes:
        """An agent as a .pmz file."""
        with tempfile.TemporaryDirectory(prefix="pagemind-") as folder:
            path = Path(folder) / "agent.pmz"
            self.runtime.export_agent(name, path)
            return path.read_bytes()

    def remove(self, name: str) -> None:
        """An agent that is of no more use; worth no failure."""
        try:
            if self.runtime.home.exists(name):
                self.runtime.home.remove(self.runtime.home.find(name))
        except PagemindError as error:
            _log.warning("%s", error)

    def close(self) -> None:
        self.runtime.close()
        self._lock.release()


def _first_free(root: Path) -> tuple[Path, Any]:
    from filelock import FileLock, Timeout

    for number in count(1):
        folder = root / f"worker-{number}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / "worker.lock")
            lock.acquire(timeout=0)
        except Timeout:
            continue
        except OSError as error:
            raise HomeUnusable(
                f"{folder} cannot be used as the home of a worker: {error.strerror or error}",
                hint="give --worker-home a folder that can be written where the workers are",
            ) from None
        return folder, lock
    raise AssertionError("numbers do not end")
