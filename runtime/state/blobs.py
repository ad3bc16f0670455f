"""Blobs: files beside the database, each named by the SHA-256 of what is in it.

A blob is whole on disk before the message that names it is committed; one that no message names
does no harm.
"""

import hashlib
import os
from pathlib import Path

from pagemind.runtime.errors import HomeUnusable, NotFound


class Blobs:
    """Those of one agent, in `folder/blobs`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "blobs"

    def keep(self, data: bytes) -> str:
        """Store it once; its SHA-256. Raises HomeUnusable."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._folder / sha256
        if path.exists():
            return sha256
        unfinished = path.with_name(f".{sha256}.{os.getpid()}.unfinished")
        try:
            self._folder.mkdir(exist_ok=True)
            with unfinished.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            raise HomeUnusable(
                f"an image cannot be stored: {error.strerror or error}",
                hint="check the disk and the permissions of the home",
            ) from error
        return sha256

    def read(self, sha256: str) -> bytes:
        """Raises NotFound where it is gone, or no longer what it was."""
        try:
            data = (self._folder / sha256).read_bytes()
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() != sha256:
            raise NotFound(f"the blob {sha256[:12]}… is gone or damaged")
        return data

    def remove(self, sha256: str) -> None:
        """It is gone then, whether or not it was there."""
        (self._folder / sha256).unlink(missing_ok=True)
