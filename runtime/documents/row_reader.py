"""CSV and JSONL: a passage for each row. A row that is broken is said and left out."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pagemind.runtime.documents.document import Broken, Document, Section, check_size
from pagemind.runtime.documents.encoding import decode
from pagemind.runtime.errors import DocumentError
from pagemind.runtime.message import clean_json
from pagemind.runtime.settings import ROW_METADATA_CHARS, TEXT_BYTES

_TEXT_KEYS = ("text", "content", "passage", "body")
_SNIFFED = 16_384
_FIELD = "field larger than field limit"
_CSV_ERRORS = {"unexpected end of data": "has a quote that is not closed"}


def read_csv(data: bytes) -> Document:
    """The first row names the columns; each other one is a text of `column: value` lines."""
    check_size(len(data), TEXT_BYTES)
    return Document("csv", _table(decode(data)))


def read_jsonl(data: bytes) -> Document:
    """One JSON value a line: the text under `text` or `content`, all else as metadata; or the
    object as `key: value` lines."""
    check_size(len(data), TEXT_BYTES)
    return Document("jsonl", _values(decode(data)))


def _table(text: str) -> Iterator[Section | Broken]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    columns: list[str] = []
    while True:
        began = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            break
        except csv.Error as error:
            if str(error).startswith(_FIELD):
                raise DocumentError(
                    f"has a quote that is not closed, or a field of more than"
                    f" {csv.field_size_limit():,} characters (row {began})"
                ) from error
            yield Broken(f"row {began}", _CSV_ERRORS.get(str(error), str(error)))
            continue
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if not columns:
            columns = [cell or f"column {n}" for n, cell in enumerate(cells, 1)]
        elif len(cells) > len(columns):
            there = f"there are {len(columns)} columns"
            yield Broken(f"row {began}", f"has {len(cells)} fields, and {there}")
        else:
            pairs = zip(columns, cells, strict=False)  # a short row lacks its last columns
            lines = [f"{column}: {cell}" for column, cell in pairs if cell]
            yield Section("\n".join(lines), metadata={"row": began})
    if not columns:
        raise DocumentError("is empty")


def _delimiter(text: str) -> str:
    """Which of the usual ones the first line holds most of."""
    head = text[:_SNIFFED].lstrip("\n").split("\n", 1)[0]
    best = max(",;\t|", key=head.count)
    return best if best in head else ","


def _values(text: str) -> Iterator[Section | Broken]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_constant=_refuse)
        except json.JSONDecodeError as error:
            yield Broken(f"row {number}", f"is not JSON: {error.msg} at {error.pos + 1:,}")
        except ValueError as error:
            yield Broken(f"row {number}", f"is not JSON: {error}")
        except RecursionError:
            yield Broken(f"row {number}", "is nested too deeply")
        else:
            yield from _sections(clean_json(value), number)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no value")


def _sections(value: Any, number: int) -> Iterator[Section | Broken]:
    where = f"row {number}"
    if isinstance(value, str):
        text, rest = value, {}
    elif isinstance(value, dict):
        key = next((k for k in _TEXT_KEYS if isinstance(value.get(k), str)), "")
        text = value[key] if key else "\n".join(_lines(value))
        rest = {k: v for k, v in value.items() if k != key} if key else {}
    else:
        yield Broken(where, "is neither an object nor a text")
        return
    if not text.strip():
        yield Broken(where, "has no text")
        return
    room = ROW_METADATA_CHARS
    fields: dict[str, Any] = {}
    for key, each in rest.items():
        cost = len(key) + len(json.dumps(each, ensure_ascii=False))
        if cost <= room:
            fields[key] = each
            room -= cost
        else:  # an embedding, as a rule
            yield Broken(where, f"was kept without its {key[:40]!r}, which is too long")
    yield Section(text, metadata={"row": number, **({"fields": fields} if fields else {})})


def _lines(value: Mapping[str, Any]) -> Iterator[str]:
    """`key: value`, a nested value as JSON."""
    for key, each in value.items():
        if each is None or each == "":
            continue
        yield f"{key}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}"
