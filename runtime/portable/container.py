"""The container of a .pmz file: a zip whose members are listed, with size and SHA-256, in its
manifest, which comes last. The same members make the same bytes.

`unpack` trusts nothing: it takes only the members that it knows by name, never a path out of the
file, counts and hashes while it writes, and stops at what is more than was said.
"""

import errno
import hashlib
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NoReturn, Self

from pagemind.runtime.errors import BadExport, DiskFull
from pagemind.runtime.portable import manifest as manifests
from pagemind.runtime.portable.kinds import recognise, refuse
from pagemind.runtime.portable.manifest import Manifest, Member
from pagemind.runtime.settings import (
    PORTABLE_FREE_BYTES,
    PORTABLE_MAX_MANIFEST_BYTES,
    PORTABLE_MAX_RATIO,
)

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first day a zip knows: a file's bytes are its content's
_CHUNK = 1 << 20
_AGAIN = "export it again, or take another copy; nothing was imported"


class HashingStream:
    """Passes on what is written, and counts and hashes it. What pyarrow needs of a file."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self.bytes = 0
        self.closed = False

    def write(self, data: bytes | memoryview) -> int:
        self._hash.update(data)
        self._stream.write(data)
        self.bytes += len(data)
        return len(data)

    def tell(self) -> int:
        return self.bytes

    def flush(self) -> None:
        """The container does it."""

    def close(self) -> None:
        self.closed = True

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    @property
    def member(self) -> Member:
        return Member(bytes=self.bytes, sha256=self._hash.hexdigest())


class ContainerWriter:
    """Writes members one after the other into an open file. A context manager, which lets go of
    the file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self.members: dict[str, Member] = {}

    @contextmanager
    def member(self, name: str) -> Iterator[HashingStream]:
        """A new member; Parquet is compressed inside, so nothing is here."""
        with self._zip.open(_info(name), "w", force_zip64=True) as inner:
            stream = HashingStream(inner)
            yield stream
        self.members[name] = stream.member

    def add(self, name: str, data: bytes) -> None:
        with self.member(name) as stream:
            stream.write(data)

    def finish(self, manifest: Manifest) -> None:
        """The manifest and the zip's own directory; the file is complete then."""
        with self._zip.open(_info(manifests.NAME), "w", force_zip64=True) as inner:
            inner.write(manifest.to_bytes())
        self._zip.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _LONG_AGO)
    info.create_system = 3  # wherever it is written
    info.external_attr = (stat.S_IFREG | 0o600) << 16
    return info


def read_manifest(path: Path) -> Manifest:
    """What a file says of itself. Raises BadExport, ExportTooNew."""
    with _opened(path) as archive:
        return _manifest(archive, path)


def allowed_bytes(path: Path) -> int:
    """What a file of this size may unfold to."""
    return max(PORTABLE_FREE_BYTES, PORTABLE_MAX_RATIO * path.stat().st_size)


def unpack(
    path: Path, folder: Path, *, stop: Callable[[], None] = lambda: None
) -> tuple[Manifest, dict[str, Path]]:
    """Check a file and write its members into `folder`, under names of our own; the manifest and
    where each member lies. `stop` is called between pieces and may raise. Raises BadExport."""
    with _opened(path) as archive:
        manifest = _manifest(archive, path)
        infos = {info.filename: info for info in archive.infolist()}
        _compare(manifest, infos, path)
        total = sum(member.bytes for member in manifest.members.values())
        most = allowed_bytes(path)
        if total > most:
            _bad(path, f"it would unfold to {total:,} bytes; for its size {most:,} are allowed")
        if total > (free := shutil.disk_usage(folder).free):
            raise DiskFull(
                f"{path} unfolds to {total:,} bytes and {free:,} are free",
                hint="free some space and try again; nothing was imported",
            )
        found = {}
        for number, name in enumerate(sorted(manifest.members)):
            target = folder / str(number)
            _extract(archive, infos[name], manifest.members[name], target, path, stop)
            found[name] = target
    return manifest, found


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The zip, with every foreign error in our words."""
    kind = recognise(path)
    if kind not in ("pmz", "zip"):
        refuse(path, kind)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadExport(f"{path} is truncated or damaged ({error})", hint=_AGAIN) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(
                f"no space to unpack {path}", hint="free some space; nothing was imported"
            ) from error
        raise BadExport(f"{path} cannot be read: {error.strerror or error}") from error


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    seen: set[str] = set()
    for info in archive.infolist():
        _check_entry(info, seen, path)
        seen.add(info.filename)
    if manifests.NAME not in seen:
        refuse(path, recognise(path, inside=seen))
    with archive.open(manifests.NAME) as stream:
        data = stream.read(PORTABLE_MAX_MANIFEST_BYTES + 1)
    if len(data) > PORTABLE_MAX_MANIFEST_BYTES:
        _bad(path, "its manifest is too long")
    return manifests.read(data, str(path))


def _check_entry(info: zipfile.ZipInfo, seen: set[str], path: Path) -> None:
    name = info.filename
    shown = repr(name[:200])
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
        _bad(path, f"unsafe: a member is called {shown}")
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        _bad(path, f"unsafe: {shown} is a link or a device, not a file")
    if name in seen:
        _bad(path, f"{shown} is in it twice")
    if info.flag_bits & 1:
        _bad(path, f"{shown} is encrypted")


def _compare(manifest: Manifest, infos: dict[str, zipfile.ZipInfo], path: Path) -> None:
    """What is there is what the manifest lists."""
    there = {name for name in infos if not name.endswith("/")} - {manifests.NAME}
    if missing := sorted(set(manifest.members) - there):
        _bad(path, f"{missing[0]} is missing")
    if extra := sorted(there - set(manifest.members)):
        _bad(path, f"{extra[0][:200]!r} does not belong in it")
    for name, member in manifest.members.items():
        if infos[name].file_size != member.bytes:
            _bad(path, f"{name} has {infos[name].file_size:,} bytes, not {member.bytes:,}")


def _extract(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    member: Member,
    target: Path,
    path: Path,
    stop: Callable[[], None],
) -> None:
    found, size = hashlib.sha256(), 0
    with archive.open(info) as source, target.open("xb") as file:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > member.bytes:  # a zip may say less than it holds
                _bad(path, f"{info.filename} is longer than it says")
            found.update(chunk)
            file.write(chunk)
            stop()
    if size != member.bytes or found.hexdigest() != member.sha256:
        _bad(path, f"{info.filename} is not what its checksum says")


def _bad(path: Path, why: str) -> NoReturn:
    raise BadExport(f"{path}: {why}", hint=_AGAIN)
