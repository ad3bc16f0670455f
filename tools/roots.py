"""Folders that files may be read and written in: a path is looked up once, by what it really is,
and opened step by step without following a link, so that nothing swapped in between leads out.

Paths are shown relative to their folder, with its name before them where there are several.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pagemind.runtime.clock import SystemClock
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.settings import FILES_WALKED
from pagemind.runtime.tool import ToolContext
from pagemind.runtime.tool_use import FilesTerms
from pagemind.runtime.written_path import expanded

_STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe would be waited for


@dataclass(frozen=True, slots=True)
class Root:
    """A folder. `name` stands before its paths; `path` is resolved."""

    name: str
    path: Path
    write: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder within a root, as it is shown and by its steps from there."""

    root: Root
    steps: tuple[str, ...]
    shown: str

    @property
    def path(self) -> Path:
        return self.root.path.joinpath(*self.steps)


class Roots:
    """Those of one function."""

    def __init__(self, roots: list[Root], *, hidden: bool = False) -> None:
        self._roots = roots
        self._hidden = hidden
        self._closed = 0

    @property
    def closed(self) -> str:
        """For who was shown what walk() found: that there may be more."""
        if not self._closed:
            return ""
        return f"; {self._closed} folder{'' if self._closed == 1 else 's'} cannot be read"

    @classmethod
    def of(cls, ctx: ToolContext) -> "Roots":
        """The folders that the definition names. Raises ToolFailed where none is there."""
        assert isinstance(ctx.terms, FilesTerms)
        roots: list[Root] = []
        missing = []
        for written, write in ctx.terms.folders.items():
            path = Path(os.path.realpath(ctx.folder / expanded(written)))
            if not path.is_dir():
                missing.append(written)
                continue
            name, number = path.name or "root", 2
            while any(root.name == name for root in roots):
                name, number = f"{path.name}-{number}", number + 1
            roots.append(Root(name, path, write))
        if not roots:
            raise ToolFailed(f"no folder is there: {', '.join(missing)}; a person has to make it")
        return cls(roots, hidden=ctx.terms.hidden)

    def all(self) -> list[Place]:
        """Each folder as a place."""
        return [self._place(root, ()) for root in self._roots]

    def find(self, written: str, *, write: bool = False) -> Place:
        """The place of a path. Raises ToolFailed for one outside, or that may not be written."""
        if "\0" in written:
            raise ToolFailed("a path has no NUL in it")
        root, rest = self._root_of(written.strip())
        real = os.path.realpath(root.path / rest)
        try:
            steps = Path(real).relative_to(root.path).parts
        except ValueError:
            raise ToolFailed(
                f"{written} is outside of {self._known()}, where files may be read"
            ) from None
        place = self._place(root, steps)
        if not self._hidden and any(step.startswith(".") for step in steps):
            raise ToolFailed(f"{place.shown} is hidden, and hidden files are not open here")
        if write and not root.write:
            able = ", ".join(each.name for each in self._roots if each.write)
            only = f"; in {able} you may write" if able else ""
            raise ToolFailed(f"{place.shown} may only be read{only}")
        return place

    def _root_of(self, written: str) -> tuple[Root, str]:
        path = expanded(written)
        if path.is_absolute():
            for root in self._roots:
                if path == root.path or root.path in path.parents:
                    return root, str(path.relative_to(root.path))
            real = Path(os.path.realpath(path))
            for root in self._roots:
                if real == root.path or root.path in real.parents:
                    return root, str(real.relative_to(root.path))
            raise ToolFailed(f"{written} is outside of {self._known()}, where files may be read")
        first, _, rest = written.removeprefix("./").partition("/")
        named = next((root for root in self._roots if root.name == first), None)
        if len(self._roots) == 1:
            (only,) = self._roots
            if named is not None and not (only.path / first).exists():
                return only, rest
            return only, written
        if named is None:
            close = get_close_matches(first, [root.name for root in self._roots], n=1)
            nearest = f"; did you mean {close[0]}/{rest}?" if close else ""
            raise ToolFailed(f"{written}: a path begins with one of {self._known()}{nearest}")
        return named, rest

    def _known(self) -> str:
        return ", ".join(root.name for root in self._roots)

    def _place(self, root: Root, steps: tuple[str, ...]) -> Place:
        shown = steps if len(self._roots) == 1 else (root.name, *steps)
        return Place(root, steps, "/".join(shown) or root.name)

    def walk(self, place: Place) -> Iterator[tuple[Place, os.stat_result]]:
        """Every file under a folder, in order; links are not followed.
        Raises ToolFailed for what is not there, or after too many names."""
        seen = 0
        waiting = [place]
        while waiting:
            here = waiting.pop()
            folders = []
            with ExitStack() as stack:
                try:
                    folder = stack.enter_context(self._opened(here))
                except ToolFailed:
                    if here is place:
                        raise
                    self._closed += 1  # one among many holds up nothing
                    continue
                entries = stack.enter_context(os.scandir(folder))
                for entry in sorted(entries, key=lambda each: each.name):
                    seen += 1
                    if seen > FILES_WALKED:
                        raise ToolFailed(
                            f"{place.shown} holds more than {FILES_WALKED:,} files; name a folder"
                            " in it"
                        )
                    if entry.name.startswith(".") and not self._hidden:
                        continue
                    below = self._place(here.root, (*here.steps, entry.name))
                    with suppress(OSError):  # it may be gone by now
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(below)
                        elif entry.is_file(follow_symlinks=False):
                            yield below, entry.stat(follow_symlinks=False)
            waiting += reversed(folders)

    @contextmanager
    def _opened(self, place: Place, *, make: bool = False) -> Iterator[int]:
        """A folder, opened step by step. Raises ToolFailed."""
        here = -1
        try:
            here = os.open(place.root.path, _STEP & ~os.O_NOFOLLOW)
            for step in place.steps:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(step, dir_fd=here)
                following = os.open(step, _STEP, dir_fd=here)
                os.close(here)
                here = following
        except OSError as error:
            if here >= 0:
                os.close(here)
            raise self._told(place, error) from None
        try:
            yield here
        finally:
            os.close(here)

    def read(self, place: Place, limit: int) -> bytes:
        """The bytes of a file. Raises ToolFailed for what is none, or larger than the limit."""
        with self._opened(self._parent(place)) as folder:
            try:
                file = os.open(place.steps[-1], os.O_RDONLY | _FILE, dir_fd=folder)
            except OSError as error:
                raise self._told(place, error) from None
            with os.fdopen(file, "rb") as stream:
                status = os.fstat(stream.fileno())
                if not stat.S_ISREG(status.st_mode):
                    kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a file"
                    raise ToolFailed(f"{place.shown} is {kind}")
                data = stream.read(limit + 1)
        if len(data) > limit:
            raise ToolFailed(
                f"{place.shown} has {max(status.st_size, len(data)):,} bytes; at most {limit:,}"
                " are read"
            )
        return data

    def write(self, place: Place, data: bytes) -> None:
        """Put a file in place of what is there, whole or not at all. Raises ToolFailed."""
        assert place.root.write
        name = place.steps[-1] if place.steps else ""
        unfinished = f".{name[:60]}.{SystemClock().new_id()}.unfinished"
        with self._opened(self._parent(place), make=True) as folder:
            try:
                mode, kept = 0o666, None
                with suppress(FileNotFoundError):
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    if not stat.S_ISREG(status.st_mode):
                        raise ToolFailed(f"{place.shown} is there and is no file")
                    mode = stat.S_IMODE(status.st_mode) & 0o777
                    kept = mode
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE
                file = os.open(unfinished, flags, mode, dir_fd=folder)
                try:
                    with os.fdopen(file, "wb") as stream:
                        if kept is not None:  # whatever the umask says
                            os.fchmod(stream.fileno(), kept)
                        stream.write(data)
                        stream.flush()
                        os.fsync(stream.fileno())
                    os.replace(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
                    os.fsync(folder)
                except OSError:
                    with suppress(OSError):
                        os.unlink(unfinished, dir_fd=folder)
                    raise
            except OSError as error:
                raise self._told(place, error) from None

    def _parent(self, place: Place) -> Place:
        if not place.steps:
            raise ToolFailed(f"{place.shown} is a folder")
        return self._place(place.root, place.steps[:-1])

    def _told(self, place: Place, error: OSError) -> ToolFailed:
        if error.errno == errno.ENOENT:
            near = (
                get_close_matches(place.steps[-1], self._beside(place), n=3) if place.steps else ()
            )
            nearest = f"; near it: {', '.join(near)}" if near else "; list_files shows what is"
            return ToolFailed(f"{place.shown} is not there{nearest}")
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            return ToolFailed(f"{place.shown}: a part of it is a link or no folder")
        return ToolFailed(f"{place.shown}: {(error.strerror or str(error)).lower()}")

    def _beside(self, place: Place) -> list[str]:
        try:
            return sorted(os.listdir(place.path.parent))[:FILES_WALKED]  # noqa: PTH208
        except OSError:
            return []
