"""Where a LanceDB lives, and what that place can do: a folder, an object store, a server.

The one file that knows how LanceDB is connected to: one capped session per process, its log kept
off the terminal.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pagemind.runtime.errors import DiskFull, StorageError
from pagemind.runtime.settings import (
    INDEX_CACHE_BYTES,
    METADATA_CACHE_BYTES,
    TIER_LOCK_SECONDS,
)
from pagemind.runtime.tiers import lancedb_library

if TYPE_CHECKING:
    from lancedb.db import DBConnection

_session: Any = None
_session_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class Location:
    """A folder (`is_local`), `s3://`, `gs://`, `az://` … (`is_object_store`), `memory://`
    (neither, for tests), or a LanceDB server `db://` (`is_remote`: it maintains itself)."""

    uri: str

    @classmethod
    def of(cls, location: "str | Path | Location") -> "Location":
        if isinstance(location, Location):
            return location
        text = str(location)
        return cls(url2pathname(urlsplit(text).path) if text.startswith("file://") else text)

    @property
    def is_local(self) -> bool:
        return "://" not in self.uri

    @property
    def is_remote(self) -> bool:
        return self.uri.startswith("db://")

    @property
    def is_object_store(self) -> bool:
        return not (self.is_local or self.is_remote or self.uri.startswith("memory://"))

    @property
    def folder(self) -> Path:
        """The folder of a local location."""
        assert self.is_local
        return Path(self.uri)

    def has_table(self, name: str) -> bool | None:
        """Whether a table is there, where looking is cheap; None: one has to try."""
        return (self.folder / f"{name}.lance").is_dir() if self.is_local else None

    def lock(self) -> AbstractContextManager[Any]:
        """Held by writers and maintenance. Elsewhere than in a folder there is no OS lock: there
        the agent's own lease keeps it to one writer."""
        if not self.is_local:
            return nullcontext()
        from filelock import FileLock

        self.folder.parent.mkdir(parents=True, exist_ok=True)
        # Beside the folder, not in it: a rebuild removes the folder.
        return FileLock(f"{self.uri.rstrip('/')}.lock", timeout=TIER_LOCK_SECONDS)

    def connect(
        self, *, session: Any = None, storage_options: dict[str, str] | None = None
    ) -> "DBConnection":
        """A connection that sees other processes' commits at once."""
        connection: DBConnection = lancedb_library.load().connect(
            self.uri,
            read_consistency_interval=timedelta(0),
            session=session or process_session(),
            storage_options=storage_options,
        )
        return connection


def process_session() -> Any:
    """The LanceDB session of this process. Without caps its memory grows without bound."""
    global _session
    with _session_guard:
        if _session is None:
            _session = lancedb_library.load().Session(
                index_cache_size_bytes=INDEX_CACHE_BYTES,
                metadata_cache_size_bytes=METADATA_CACHE_BYTES,
            )
        return _session


@contextmanager
def translated(uri: str) -> Iterator[None]:
    """LanceDB's and the lock's errors as StorageErrors with one line."""
    from filelock import Timeout

    try:
        yield
    except Timeout:
        raise StorageError(
            f"{uri}: another process has been writing for a long time",
            hint="try again; if it stays so, look for a hanging pagemind process",
        ) from None
    except (RuntimeError, ValueError, OSError, ImportError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if "no space left" in str(error).lower():
            raise DiskFull(f"{uri}: no space left", hint="free some space") from error
        raise StorageError(
            f"{uri}: {first[:300]}", hint="pagemind memory rebuild makes the tiers anew"
        ) from error
