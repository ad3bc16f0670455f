"""YAML text to plain values, with the line of every one of them.

Only what JSON can hold comes out: mappings with text keys, lists, text, numbers, booleans, null.
Dates stay text, tags are refused, anchors work until they expand beyond a limit. Every fault is a
DefinitionError that starts with `source:line:`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.message import clean_text
from pagemind.runtime.settings import MAX_DEFINITION_BYTES, MAX_DEFINITION_VALUES

Path = tuple[str | int, ...]

# The parser's wording, and ours for a person who does not know its terms.
_PLAIN_WORDS = (
    ("'\\t' that cannot start", "a tab cannot indent YAML; use spaces"),
    ("another document", "more than one document; it must be one, without ---"),
    (
        "mapping values are not allowed",
        "a colon where none can stand; put text with ': ' in quotes",
    ),
    ("undefined alias", "an alias (*name) without its anchor (&name)"),
    ("stream end", "a bracket is not closed"),
    ("end of stream", "a quote is not closed"),
    ("but got '{'", "${VAR} inside { } or [ ] must be in quotes"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """A mapping and where its values stand."""

    value: dict[str, Any]
    source: str
    lines: Mapping[Path, int]

    def where(self, path: Path) -> str:
        """`file:line` of the value at this path, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        line = self.lines.get(path)
        return self.source if line is None else f"{self.source}:{line}"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file should be: the words of its errors, and how long it may be."""

    noun: str
    start: str  # how such a file begins
    most_bytes: int
    too_long: str  # what to do with one that is longer


DEFINITION = Kind(
    "a definition",
    "name: …",
    MAX_DEFINITION_BYTES,
    "put long text into a prompt file and name it under system",
)


def decode(data: bytes, source: str, kind: Kind = DEFINITION) -> str:
    """The text of a file. Raises DefinitionError if it is too long or not UTF-8."""
    if len(data) > kind.most_bytes:
        raise DefinitionError(
            f"{source}:1: longer than {kind.most_bytes >> 10} KB, so not {kind.noun}",
            hint=kind.too_long,
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DefinitionError(
            f"{source}:{line}: not UTF-8 text", hint="save the file as UTF-8"
        ) from None


def read(text: str, source: str, kind: Kind = DEFINITION) -> Document:
    """The document in this text, which must be one mapping. Raises DefinitionError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    if len(text) > kind.most_bytes:
        decode(text.encode("utf-8", "replace"), source, kind)
    yaml = YAML(typ="rt")
    yaml.Resolver = _resolver()
    try:
        root = yaml.load(text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        # ruamel gives the code point of text and the character of bytes.
        code = error.character if isinstance(error.character, int) else ord(error.character)
        raise DefinitionError(
            f"{source}:{line}: a character that YAML does not allow (U+{code:04X})",
            hint="is this a text file?",
        ) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DefinitionError(f"{source}:{line}: {_in_plain_words(error.problem or '')}") from None
    except RecursionError:
        raise DefinitionError(f"{source}:1: nested too deeply") from None
    except (YAMLError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise DefinitionError(f"{source}:1: not YAML: {first}") from None
    if root is None:
        raise DefinitionError(f"{source}:1: the file is empty", hint=f"start with  {kind.start}")
    plain = _Plain(source)
    try:
        value = plain.convert(root, ())
    except RecursionError:
        raise DefinitionError(f"{source}:1: nested too deeply") from None
    if not isinstance(value, dict):
        found = "a list" if isinstance(value, list) else "a single value"
        raise DefinitionError(
            f"{source}:1: {kind.noun} is a mapping of keys to values, not {found}",
            hint=f"start with  {kind.start}",
        )
    return Document(value, source, plain.lines)


def _resolver() -> type:
    """YAML 1.2 without timestamps: `2026-01-05` is text."""
    from ruamel.yaml.resolver import VersionedResolver

    class TextDates(VersionedResolver):
        def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
            tag = super().resolve(kind, value, implicit)
            if str(tag).endswith(":timestamp"):
                return super().resolve(kind, "text", implicit)
            return tag

    return TextDates


def _in_plain_words(problem: str) -> str:
    if "duplicate key" in problem:
        key = problem.partition('"')[2].partition('"')[0]
        return f"the key {key!r} stands twice"
    for wording, ours in _PLAIN_WORDS:
        if wording in problem:
            return ours
    return problem


class _Plain:
    """Converts what the parser made into plain values and notes their lines."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[Path, int] = {}
        self._left = MAX_DEFINITION_VALUES

    def convert(self, node: Any, path: Path) -> Any:
        self._left -= 1
        if self._left < 0:
            raise self._error(
                path, f"more than {MAX_DEFINITION_VALUES:,} values once anchors are expanded"
            )
        # Tagged nodes are no dict, list or scalar of ours, or carry a tag that is set.
        tag = getattr(getattr(node, "tag", None), "value", None)
        if tag is not None:
            raise self._error(path, f"tags are not allowed here ({tag})")
        if isinstance(node, dict):
            return self._mapping(node, path)
        if isinstance(node, list):
            positions = node.lc.data or {}  # type: ignore[attr-defined]  # ruamel's CommentedSeq
            items = []
            for index, item in enumerate(node):
                if index in positions:
                    self.lines[(*path, index)] = positions[index][0] + 1
                items.append(self.convert(item, (*path, index)))
            return items
        if isinstance(node, str):
            return clean_text(str(node))
        if node is None or isinstance(node, bool):
            return node
        if isinstance(node, int):
            # ruamel's booleans with an anchor are ints of their own class.
            return bool(node) if type(node).__name__ == "ScalarBoolean" else int(node)
        if isinstance(node, float):
            if not math.isfinite(node):
                raise self._error(path, f"{node} is not a number that can be stored")
            return float(node)
        raise self._error(path, f"a value of a kind that is not allowed ({type(node).__name__})")

    def _mapping(self, node: dict[Any, Any], path: Path) -> dict[str, Any]:
        positions = node.lc.data or {}  # type: ignore[attr-defined]  # ruamel's CommentedMap
        value: dict[str, Any] = {}
        for key, item in node.items():
            if not isinstance(key, str):
                raise self._error(path, f"the key {key!r} is not text; put it in quotes")
            name = clean_text(str(key))
            if key in positions:
                self.lines[(*path, name)] = positions[key][0] + 1
            value[name] = self.convert(item, (*path, name))
        return value

    def _error(self, path: Path, problem: str) -> DefinitionError:
        where = Document({}, self.source, self.lines).where(path)
        where = where if ":" in where.removeprefix(self.source) else f"{where}:1"
        return DefinitionError(f"{where}: {problem}")
