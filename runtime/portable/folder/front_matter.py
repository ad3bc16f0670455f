"""Markdown with front matter: YAML between two lines of ---, then the text as it is.

The same values make the same bytes: keys in their order, texts quoted only where YAML needs it. The
text is followed by one line end of its own, so that none is lost and editors are content.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pagemind.runtime.errors import DefinitionError, UserError
from pagemind.runtime.message import clean_text
from pagemind.runtime.settings import MAX_DEFINITION_BYTES, MAX_MESSAGE_BYTES
from pagemind.runtime.yaml_reader import Kind, read

_FENCE = "---"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _./-]*[A-Za-z0-9]|[A-Za-z]")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_KIND = Kind("front matter", "key: value", MAX_DEFINITION_BYTES, "it holds short values only")


@dataclass(frozen=True, slots=True)
class Page:
    """What stands in a file. `line` is the first line of the text."""

    values: Mapping[str, Any]
    text: str
    line: int = 1
    lines: Mapping[str, int] = field(default_factory=dict)


def written(values: Mapping[str, Any], text: str) -> bytes:
    """The bytes of a file; values that are None are left out."""
    rows = [f"{key}: {_scalar(value)}" for key, value in values.items() if value is not None]
    body = f"{text}\n" if text else ""  # so that what is typed at the end is the whole text
    return "\n".join([_FENCE, *rows, _FENCE, "", body]).encode("utf-8")


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def parsed(data: bytes, path: Path | str) -> Page:
    """The values and the text. A file without front matter is all text. Raises UserError with
    file and line."""
    if len(data) > MAX_MESSAGE_BYTES:
        bad(path, 1, f"larger than {MAX_MESSAGE_BYTES:,} bytes")
    try:
        whole = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bad(path, data.count(b"\n", 0, error.start) + 1, "not UTF-8 text")
    whole = clean_text(whole)
    normal = whole.replace("\r\n", "\n")
    if not (normal.startswith(f"{_FENCE}\n")):
        return Page({}, _body(whole))
    rows = normal.split("\n")
    try:
        end = next(n for n, row in enumerate(rows) if n and row.rstrip() == _FENCE)
    except StopIteration:
        bad(path, 1, "the front matter has no end: a line of ---")
    text = "\n".join(rows[end + 1 :]).removeprefix("\n")
    head = "\n".join(rows[1:end])
    if not head.strip():
        return Page({}, _body(text), end + 2)
    try:
        # A line before it, so that its lines are those of the file.
        document = read(f"# front matter\n{head}\n", str(path), _KIND)
    except DefinitionError as error:
        raise UserError(error.message, hint=error.hint or "nothing was loaded") from None
    lines = {str(key[0]): line for key, line in document.lines.items() if len(key) == 1}
    return Page(document.value, _body(text), end + 3, lines)


def _body(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r")


def bad(path: Path | str, line: int, why: str, hint: str = "nothing was loaded") -> NoReturn:
    raise UserError(f"{path}:{line}: {why}", hint=hint)
