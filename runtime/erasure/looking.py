"""Looking: reads every file of a folder for what must not stand there, as rows where a file has
rows, as it was before it was packed, and as bytes; deleted rows and free pages included.

Nothing that is read is kept: a place is all that is told.
"""

import gzip
import io
import re
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pagemind.runtime.erasure.telltales import TellTales
from pagemind.runtime.errors import StorageError
from pagemind.runtime.state.physical import MAGIC, cells, is_sqlite

_CHUNK, _OVERLAP = 1 << 20, 1 << 12
# Text among bytes: vectors and lengths hardly ever look like so much of it.
_TEXT = re.compile(rb"(?:[\x20-\x7e\t\r\n]|[\xc2-\xf4][\x80-\xbf]{1,3}){12,}")
_LIVE = (".db", ".db-wal", ".db-shm")
_READ = "import shutil, sys; shutil.copyfileobj(open(sys.argv[1], 'rb'), sys.stdout.buffer)"
_DEEPEST = 3  # packed in packed


@dataclass(slots=True)
class Looked:
    """What was read. `found` names places; `unread` what could not be read as what it is."""

    files: int = 0
    bytes: int = 0
    rows: int = 0
    found: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


class Looker:
    """For tell-tales, and for `markers` wherever they stand, whatever their case."""

    def __init__(self, tales: TellTales, markers: Sequence[str] = ()) -> None:
        self._tales = tales
        self._markers = [marker.casefold() for marker in markers]

    def says(self, text: str) -> bool:
        if self._tales and self._tales.in_text(text):
            return True
        folded = text.casefold() if self._markers else ""
        return any(marker in folded for marker in self._markers)

    def look(self, root: Path, into: Looked, *, within: Callable[[Path], bool]) -> Looked:
        """Every file below `root` for which `within` holds."""
        for path in sorted(root.rglob("*")):
            if path.is_file() and not path.is_symlink() and within(path):
                self.file(path, str(path.relative_to(root)), into)
        return into

    def file(self, path: Path, name: str, into: Looked) -> None:
        into.files += 1
        try:
            into.bytes += path.stat().st_size
            if path.name.endswith(_LIVE):
                self._database(path, name, into)
                return
            if is_sqlite(path):
                self._rows(path, name, into)
            with path.open("rb") as stream:
                self._stream(stream, name, into, 0)
        except FileNotFoundError:  # a log that was emptied meanwhile
            return
        except (OSError, StorageError) as error:
            into.unread.append(f"{name}: {error}")

    def _database(self, path: Path, name: str, into: Looked) -> None:
        """One that this process may have open. Its bytes are read by another one: whoever closes a
        file lets go of all the locks that its process has on it, SQLite's too, and then the next
        process to close the database takes its log away from under us."""
        code = [sys.executable, "-I", "-S", "-c", _READ, str(path.absolute())]
        with subprocess.Popen(code, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            assert isinstance(child.stdout, io.BufferedReader)
            if child.stdout.peek(len(MAGIC)).startswith(MAGIC):
                self._rows(path, name, into)
            if self._bytes(child.stdout):
                into.found.append(f"{name}: its bytes")
                child.kill()
            elif child.wait() and path.exists():
                raise OSError("its bytes cannot be read")

    def _rows(self, path: Path, name: str, into: Looked) -> None:
        for table, number, text in cells(path):
            into.rows += 1
            if self.says(text):
                into.found.append(f"{name}: {table}, row {number}")

    def _stream(self, stream: IO[bytes], name: str, into: Looked, depth: int) -> None:
        head = stream.read(512)
        stream.seek(0)
        if self._bytes(stream):
            into.found.append(f"{name}: its bytes")
        if depth < _DEEPEST:
            try:
                stream.seek(0)
                for inner, unpacked in _unpacked(stream, head):
                    self._stream(unpacked, f"{name}: {inner}", into, depth + 1)
            except (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError) as error:
                into.unread.append(f"{name}: {error}")

    def _bytes(self, stream: IO[bytes]) -> bool:
        before = b""
        while chunk := stream.read(_CHUNK):
            data = before + chunk
            if any(self.says(piece.decode("utf-8", "ignore")) for piece in _TEXT.findall(data)):
                return True
            before = data[-_OVERLAP:]
        return False


def _unpacked(stream: IO[bytes], head: bytes) -> Iterator[tuple[str, IO[bytes]]]:
    """The files in a packed one, as they were; none in a plain one."""
    if head.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(stream) as archive:
            for name in archive.namelist():
                yield name, io.BytesIO(archive.read(name))
    elif head.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=stream) as packed:
            yield "unpacked", io.BytesIO(packed.read())
    elif head[257:262] == b"ustar":
        with tarfile.open(fileobj=stream) as archive:
            for member in archive:
                if (inner := archive.extractfile(member)) is not None:
                    yield member.name, io.BytesIO(inner.read())
    elif head.startswith(b"PAR1"):
        from pagemind.runtime.tiers.parquet_texts import texts_in

        yield "rows", io.BytesIO("\n".join(texts_in(stream)).encode("utf-8", "replace"))
