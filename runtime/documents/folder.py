"""Which files there are: those that were named, and all in the folders that were named.

Hidden files and folders are left out unless they are named themselves. Each folder is entered
once, so that a loop of links ends.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pagemind.runtime.documents.document import Skipped


@dataclass(frozen=True, slots=True)
class File:
    """`source` tells it from all others, whatever folder a later run starts in; `name` is what
    people see: `notes.md`, or `handbook/ports.md` in a folder."""

    path: Path
    source: str
    name: str
    bytes: int


@dataclass(slots=True)
class Found:
    """`folders` are the sources of the folders that were named; `unseen` those that could not be
    read: what is in them is unknown, and not gone."""

    files: list[File] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    def gone(self, sources: Sequence[str]) -> list[str]:
        """Those of the sources that were in a named folder and are not there any more."""
        there = {file.source for file in self.files}
        return [
            source
            for source in sources
            if source not in there and _in(source, self.folders) and not _in(source, self.unseen)
        ]


def find_files(paths: Sequence[Path]) -> Found:
    """Every file once, in the order of the arguments and then of names."""
    found = Found()
    entered: set[tuple[int, int]] = set()
    seen: set[str] = set()
    for path in paths:
        if path.is_dir():
            root = path.resolve()
            found.folders.append(source_of(root))
            files = _walk(path, root, Path(root.name), found, entered)
        else:
            files = iter([_file(path, path.parent.resolve() / path.name, path.name)])
        for file in files:
            if file.source not in seen:
                seen.add(file.source)
                found.files.append(file)
    return found


def source_of(path: Path) -> str:
    """A path as a text. Bytes of it that are not UTF-8 stay distinct."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _walk(
    shown: Path, real: Path, name: Path, found: Found, entered: set[tuple[int, int]]
) -> Iterator[File]:
    """The files under one folder. `real` has no link in the named part, `shown` is as given."""
    try:
        status = shown.stat()
        if (status.st_dev, status.st_ino) in entered:
            return
        entered.add((status.st_dev, status.st_ino))
        names = sorted(entry for entry in os.listdir(shown) if not entry.startswith("."))  # noqa: PTH208
    except OSError as error:
        found.skipped.append(Skipped(source_of(shown), (error.strerror or str(error)).lower()))
        found.unseen.append(source_of(real))
        return
    for each in names:
        inner = (shown / each, real / each, name / each)
        if inner[0].is_dir():
            yield from _walk(*inner, found, entered)
        else:
            yield _file(inner[0], inner[1], inner[2].as_posix())


def _file(path: Path, source: Path, name: str) -> File:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0  # reading it will say why
    return File(path, source_of(source), source_of(Path(name)), size)


def _in(source: str, folders: Sequence[str]) -> bool:
    return any(source.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)
