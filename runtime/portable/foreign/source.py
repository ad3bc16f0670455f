"""Opens the file of another tool and reads its JSON piece by piece, never as a whole: plain, or in
the zip that ChatGPT and Claude send. The only importer of ijson.

A zip is read without unpacking it, within the bounds of a .pmz; its names are never used as paths.
Whatever is wrong with a file is a BadExport that names it.
"""

import codecs
import hashlib
import json
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from pagemind.runtime.errors import BadExport
from pagemind.runtime.portable.container import allowed_bytes
from pagemind.runtime.portable.kinds import CONVERSATIONS
from pagemind.runtime.settings import FOREIGN_LINE_BYTES

_STARTS = frozenset({"start_array", "start_map"})
_ENDS = frozenset({"end_array", "end_map"})
_DEPTH = 200  # of nesting: no tool writes so deep
_SPACE = b" \t\r\n"


class Source:
    """A file that exists. `told` is called with the bytes read so far and those there are."""

    def __init__(
        self, path: Path, told: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        self.path = path
        self._told = told
        self._done = 0
        self._total = path.stat().st_size

    @property
    def sha256(self) -> str:
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def others(self) -> list[str]:
        """What stands in a zip beside the conversations."""
        if not zipfile.is_zipfile(self.path):
            return []
        with self._zip() as archive:
            return [
                info.filename.replace("\\", "/").rsplit("/", 1)[-1]
                for info in archive.infolist()
                if not info.is_dir() and not _is_conversations(info.filename)
            ]

    def starts(self) -> str:
        """The first character that is no white space."""
        with self._streams() as streams:
            for stream in streams:
                return stream.head()
        return ""

    def items(self, prefix: str) -> Iterator[Any]:
        """Values one after the other: "" is the whole, "item" each of a list, "key.item" each of
        the list under a key of an object."""
        for stream in self._each():
            with self._translated(stream):
                yield from _values(_events(stream), prefix)

    def first_key(self, wanted: Sequence[str]) -> str:
        """The first of these keys that a JSON object has; "" for none."""
        for stream in self._each():
            with self._translated(stream):
                depth = 0
                for event, value in _events(stream):
                    if event in _STARTS:
                        depth += 1
                    elif event in _ENDS:
                        depth -= 1
                    elif event == "map_key" and depth == 1 and value in wanted:
                        return str(value)
        return ""

    def lines(self) -> Iterator[tuple[int, Any]]:
        """The values of JSON lines, each with the number of its line. Raises BadExport."""
        for stream in self._each():
            number = 0
            while line := stream.line(FOREIGN_LINE_BYTES + 1):
                number += 1
                if len(line) > FOREIGN_LINE_BYTES:
                    self._bad(f"line {number:,} has more than {FOREIGN_LINE_BYTES:,} bytes")
                if not line.strip():
                    continue
                try:
                    yield number, json.loads(line)
                except RecursionError:
                    self._bad(f"line {number:,} is nested too deeply")
                except ValueError as error:
                    cut = not line.endswith(b"\n")
                    why = "is cut off" if cut else f"is not JSON ({_brief(error)})"
                    self._bad(f"line {number:,} {why}")

    @contextmanager
    def _translated(self, stream: "_Stream") -> Iterator[None]:
        import ijson

        try:
            yield
        except ijson.IncompleteJSONError as error:
            if stream.ended and "premature EOF" in str(error):
                self._bad("it is truncated: it ends in the middle")
            if "trailing garbage" in str(error):
                self._bad("it holds more than one JSON value", "are these lines? --from jsonl")
            self._bad(f"it is not JSON: {_brief(error)}")
        except (ijson.JSONError, UnicodeDecodeError, ValueError) as error:
            self._bad(f"it is not JSON: {_brief(error)}")
        except RecursionError:
            self._bad("it is nested too deeply")

    # --- opening --------------------------------------------------------------------------------

    def _each(self) -> Iterator["_Stream"]:
        with self._streams() as streams:
            yield from streams

    @contextmanager
    def _streams(self) -> Iterator[Iterator["_Stream"]]:
        self._done = 0
        try:
            if zipfile.is_zipfile(self.path):
                with self._zip() as archive:
                    yield self._members(archive)
            else:
                with self.path.open("rb") as file:
                    yield iter([_Stream(file, self)])
        except OSError as error:
            self._bad(f"it cannot be read: {error.strerror or error}")

    @contextmanager
    def _zip(self) -> Iterator[zipfile.ZipFile]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            self._bad(f"it is truncated or damaged ({_brief(error)})")

    def _members(self, archive: zipfile.ZipFile) -> Iterator["_Stream"]:
        found = sorted(
            (i for i in archive.infolist() if _is_conversations(i.filename)),
            key=lambda info: info.filename,
        )
        names = [info.filename for info in found]
        if not found:
            self._bad("there is no conversations.json in it")
        if len(set(names)) < len(names):
            self._bad("there is a conversations.json in it twice")
        for info in found:
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                self._bad("unsafe: its conversations.json is a link or a device, not a file")
            if info.flag_bits & 1:
                self._bad("it is encrypted")
        total, most = sum(info.file_size for info in found), allowed_bytes(self.path)
        if total > most:
            self._bad(f"it would unfold to {total:,} bytes; for its size {most:,} are allowed")
        self._total = total
        for info in found:
            with archive.open(info) as member:
                yield _Stream(member, self, most)

    def count(self, read: int, most: int | None) -> None:
        """More was read. A zip may say less than it holds."""
        self._done += read
        if most is not None and self._done > most:
            self._bad(f"it unfolds to more than {most:,} bytes")
        self._told(self._done, self._total)

    def _bad(self, why: str, hint: str = "export it again; nothing was imported") -> NoReturn:
        raise BadExport(f"{self.path}: {why}", hint=hint)


class _Stream:
    """The bytes of one JSON text, without a byte order mark: what ijson needs of a file."""

    def __init__(self, file: IO[bytes], source: Source, most: int | None = None) -> None:
        self._file = file
        self._source = source
        self._most = most
        self._first = True
        self.ended = False

    def read(self, size: int = -1) -> bytes:
        return self._cleaned(self._file.read(size))

    def line(self, size: int) -> bytes:
        """To the next line end, or so many bytes."""
        return self._cleaned(self._file.readline(size))

    def head(self) -> str:
        """The first character that is no white space."""
        while data := self.read(4096):
            if stripped := data.lstrip(_SPACE):
                return stripped[:1].decode("latin-1")
        return ""

    def _cleaned(self, data: bytes) -> bytes:
        if not data:
            self.ended = True
        self._source.count(len(data), self._most)
        if self._first and data:
            self._first = False
            data = data.removeprefix(codecs.BOM_UTF8)
        return data


def _events(stream: _Stream) -> Iterator[tuple[str, Any]]:
    """What the parser sees. Raises RecursionError: a value that is nested ever deeper would be
    built, and taken apart again, by recursion."""
    import ijson

    depth = 0
    for event, value in ijson.basic_parse(stream, use_float=True):
        if event in _STARTS:
            depth += 1
            if depth > _DEPTH:
                raise RecursionError
        elif event in _ENDS:
            depth -= 1
        yield event, value


def _values(events: Iterator[tuple[str, Any]], prefix: str) -> Iterator[Any]:
    """The values at a prefix, each built when it is complete."""
    key = prefix.removesuffix("item").removesuffix(".")
    level = 2 if key else 1 if prefix else 0
    inside: list[str] = []  # the containers around
    at = ""  # the key in the outermost object
    for event, value in events:
        if event == "map_key":
            at = value if len(inside) == 1 else at
        elif event in _ENDS:
            inside.pop()
        elif (
            len(inside) == level
            and (not inside or inside[-1] == "start_array")
            and (not key or at == key)
        ):
            yield _built(event, value, events)
        elif event in _STARTS:
            inside.append(event)


def _built(event: str, value: Any, events: Iterator[tuple[str, Any]]) -> Any:
    """The value that begins with this event."""
    if event not in _STARTS:
        return value
    root: Any = [] if event == "start_array" else {}
    around = [root]
    keys: list[str] = [""]
    for event, value in events:
        holder = around[-1]
        if event in _ENDS:
            around.pop()
            keys.pop()
            if not around:
                return root
            continue
        if event == "map_key":
            keys[-1] = value
            continue
        new = ([] if event == "start_array" else {}) if event in _STARTS else value
        if isinstance(holder, list):
            holder.append(new)
        else:
            holder[keys[-1]] = new
        if event in _STARTS:
            around.append(new)
            keys.append("")
    raise AssertionError("the parser ends what it has begun")


def _is_conversations(name: str) -> bool:
    """Whether a name in a zip is that of conversations, wherever it lies: as a path it is never
    used."""
    return bool(CONVERSATIONS.fullmatch(name.replace("\\", "/").rsplit("/", 1)[-1]))


def _brief(error: Exception) -> str:
    """The first line of a parser's message."""
    text = error.args[0] if error.args else ""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return (str(text).strip().splitlines() or [type(error).__name__])[0][:120]
