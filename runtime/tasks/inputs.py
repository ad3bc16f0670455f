"""Inputs: what a task goes through, one at a time and always in the same order.

An input is known by its key: the path of a file, the number of a line or row. Its digest tells
whether it is still the same. A file is read when its turn comes; one that cannot be read is an
input with a fault, and the others go on.
"""

import csv
import hashlib
import io
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from pagemind.runtime.errors import UserError
from pagemind.runtime.message import clean_json, clean_text
from pagemind.runtime.settings import TASK_INPUT_BYTES
from pagemind.runtime.tasks.parts import Inputs
from pagemind.runtime.tasks.text import Fields
from pagemind.runtime.tasks.walk import matching, tree
from pagemind.runtime.written_path import expanded

FILE_FIELDS = ("text", "path", "name", "stem")
LINE_FIELDS = ("text",)


@dataclass(frozen=True, slots=True)
class Input:
    """One input. `label` is what people read; `fault` says why it cannot be used."""

    number: int
    key: str
    label: str
    digest: str
    value: Fields = field(default_factory=Fields)
    fault: str = ""


class Source:
    """The inputs of a task. `base` is the folder that paths are relative to."""

    def __init__(self, spec: Inputs, base: Path, stdin: TextIO | None = None) -> None:
        self.spec = spec
        self.base = base
        self._stdin = stdin

    @property
    def fields(self) -> tuple[str, ...] | None:
        """What `{{ input.… }}` may be; None where every input has its own."""
        kind = self.spec.stdin or self.spec.kind
        if kind == "jsonl":
            return None
        if kind == "csv":
            return None if self.spec.stdin else tuple(self._columns())
        return FILE_FIELDS if kind in ("files", "tree") else LINE_FIELDS

    def check(self) -> None:
        """Raises UserError if there is nothing, before anything is done."""
        kind = self.spec.kind
        if kind == "stdin":
            return
        if kind in ("files", "tree"):
            for each in self.spec.files:
                if next(matching(each, self.base), None) is None:
                    raise UserError(
                        f"inputs.files: {each} matches no file in {self.base}",
                        hint="patterns are relative to the task file; ** stands for any folders",
                    )
            if self.spec.tree is not None and next(tree(self._path()), None) is None:
                found = "holds no file" if self._path().is_dir() else "is no folder"
                raise UserError(f"inputs.tree: {self._path()} {found}")
            return
        with self._opened() as file:
            if not file.read(1):
                raise UserError(f"inputs.{kind}: {self._path()} is empty")
        if kind == "csv":
            self._columns()

    def count(self) -> int | None:
        """How many there are; None for standard input, which cannot be read twice."""
        if self.spec.kind == "stdin":
            return None
        if self.spec.kind in ("files", "tree"):
            return sum(1 for _ in self._paths())
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Input]:
        if self.spec.kind in ("files", "tree"):
            yield from map(self._read, self._paths(), _numbers())
            return
        with self._opened() as file:
            kind = self.spec.stdin or self.spec.kind
            rows = {"lines": _lines, "csv": _table, "jsonl": _values}[kind](file)
            name = "stdin" if self.spec.stdin else self._path().name
            for number, line, value, fault in rows:
                digest = _digest(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
                label = f"{name}:{line}"
                yield Input(number, str(number), label, digest, value, fault)

    # --- files ----------------------------------------------------------------------------------

    def _paths(self) -> Iterator[Path]:
        if self.spec.tree is not None:
            return tree(self._path())
        # The same file by two patterns is one input: the ledger knows it by then.
        return chain.from_iterable(matching(each, self.base) for each in self.spec.files)

    def _read(self, path: Path, number: int) -> Input:
        try:
            key = path.relative_to(self.base).as_posix()
        except ValueError:
            key = path.as_posix()
        key = clean_text(key)
        value = Fields(path=key, name=clean_text(path.name), stem=clean_text(path.stem))
        try:
            with path.open("rb") as file:
                data = file.read(TASK_INPUT_BYTES + 1)
        except OSError as error:
            return Input(number, key, key, "", value, (error.strerror or str(error)).lower())
        digest = _digest(data)
        if len(data) > TASK_INPUT_BYTES:
            fault = f"longer than {TASK_INPUT_BYTES >> 20} MB"
            return Input(number, key, key, digest, value, fault)
        if b"\0" in data[:8192]:
            return Input(number, key, key, digest, value, "not a text file")
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError:
            return Input(number, key, key, digest, value, "not UTF-8 text")
        if not text.strip():
            return Input(number, key, key, digest, value, "is empty")
        value["text"] = value[""] = clean_text(text)
        return Input(number, key, key, digest, value)

    # --- rows -----------------------------------------------------------------------------------

    def _path(self) -> Path:
        written = getattr(self.spec, self.spec.kind)
        return self.base / expanded(str(written))

    @contextmanager
    def _opened(self) -> Iterator[TextIO]:
        """The file as text; bytes that are no UTF-8 become U+FFFD."""
        if self.spec.stdin:
            stream = self._stdin or sys.stdin
            buffer = getattr(stream, "buffer", None)
            if buffer is None:
                yield stream
            else:
                yield io.TextIOWrapper(buffer, encoding="utf-8-sig", errors="replace", newline="")
            return
        path = self._path()
        try:
            file = path.open(encoding="utf-8-sig", errors="replace", newline="")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UserError(
                f"inputs.{self.spec.kind}: {path}: {reason}",
                hint="paths are relative to the task file",
            ) from None
        with file:
            yield file

    def _columns(self) -> list[str]:
        with self._opened() as file:
            return _header(csv.reader(file, strict=True))


Row = tuple[int, int, Fields, str]  # its number, its line, what is in it, what is wrong with it


def _lines(file: Iterable[str]) -> Iterator[Row]:
    """Lines without anything on them are none."""
    number = 0
    for at, line in enumerate(file, 1):
        text = clean_text(line.rstrip("\r\n"))
        if text.strip():
            number += 1
            yield number, at, Fields({"": text, "text": text}), ""


def _values(file: Iterable[str]) -> Iterator[Row]:
    number = 0
    for at, line in enumerate(file, 1):
        if not line.strip():
            continue
        number += 1
        try:
            value = clean_json(json.loads(line))
        except ValueError:
            yield number, at, Fields({"": line.strip()}), "not a JSON value"
            continue
        fields = Fields(value) if isinstance(value, dict) else Fields()
        fields[""] = value
        yield number, at, fields, ""


def _header(rows: Any) -> list[str]:
    try:
        return [cell.strip() or f"column {n}" for n, cell in enumerate(next(rows), 1)]
    except (StopIteration, csv.Error) as error:
        raise UserError(f"inputs.csv: no line of column names: {error}") from None


def _table(file: Iterable[str]) -> Iterator[Row]:
    rows = csv.reader(file, strict=True)
    columns = _header(rows)
    number = 0
    while True:
        try:
            cells = [clean_text(cell) for cell in next(rows)]
        except StopIteration:
            return
        except csv.Error as error:
            number += 1
            yield number, rows.line_num, Fields(), str(error)
            continue
        if not any(cell.strip() for cell in cells):
            continue
        number += 1
        fields = Fields(zip(columns, [*cells, *[""] * len(columns)], strict=False))
        fields[""] = "\n".join(f"{c}: {fields[c]}" for c in columns if fields[c])
        fault = ""
        if len(cells) > len(columns):
            fault = f"has {len(cells)} fields, and there are {len(columns)} columns"
        yield number, rows.line_num, fields, fault


def _numbers() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
