"""Files by pattern, in an order that is always the same, and never all of them in memory.

Folders are gone through one by one, each sorted by name. `*` and `?` match within a name, `**`
stands for any folders. What begins with a point is found only where the pattern says the point.
"""

import os
import re
from collections.abc import Iterator
from fnmatch import translate
from pathlib import Path, PurePath

_WILD = re.compile(r"[*?[]")


def matching(pattern: str, base: Path) -> Iterator[Path]:
    """The files of a pattern, relative to `base`; a plain path is itself where it is a file."""
    parts = PurePath(pattern).parts
    return _walk(base, parts)


def tree(folder: Path) -> Iterator[Path]:
    """All files below a folder."""
    return _walk(folder, ("**", "*"))


def _walk(folder: Path, parts: tuple[str, ...]) -> Iterator[Path]:
    part, *rest = parts
    left = tuple(rest)
    if part == "**":
        if left:
            yield from _walk(folder, left)
        for entry in _entries(folder):
            # A link to a folder is not followed: it may lead back to where it stands.
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from _walk(Path(entry.path), parts)
        return
    if not _WILD.search(part):
        path = folder / part
        if left and path.is_dir():
            yield from _walk(path, left)
        elif not left and path.is_file():
            yield path
        return
    wanted = re.compile(translate(part))
    for entry in _entries(folder):
        if entry.name.startswith(".") and not part.startswith("."):
            continue
        if not wanted.match(entry.name):
            continue
        if left and entry.is_dir():
            yield from _walk(Path(entry.path), left)
        elif not left and entry.is_file():
            yield Path(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []  # a folder that may not be read has nothing for us
