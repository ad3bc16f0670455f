"""A disk of a few megabytes, for tests of what happens when it is full or cannot be written."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


class SmallDisk:
    """Mounted at `path`; fill() leaves so many bytes free."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def free(self) -> int:
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def fill(self, left: int = 0) -> None:
        with suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            while (free := self.free() - left) > 0:
                file.write(b"\0" * min(free, 1 << 16))

    def empty(self) -> None:
        self._ballast.unlink()

    def read_only(self, wanted: bool) -> None:
        _run("mount", "-o", f"remount,{'ro' if wanted else 'rw'}", str(self.path))


@contextmanager
def mounted(path: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Skips the test where nothing can be mounted: it needs Linux and root."""
    path.mkdir()
    try:
        _run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path))
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no small disk can be mounted here")
    try:
        yield SmallDisk(path)
    finally:
        _run("umount", "-l", str(path))


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, timeout=30)
