"""A prompt: load() it by name or path, fill() its variables strictly.

A variable is written `{{ name }}`. Filling with a variable missing or with one that the text does
not use raises TemplateError: a prompt and the code that fills it must not drift apart. Everything
else is literal, single braces and JSON among it, and a value that is filled in is not read again.
Inside double braces only a name may stand: `{{ user-name }}` is refused when it is loaded.

Why not a template library: both ways of strictness and errors that name file, line and variable
would have to be built around it, and loops or conditions in a prompt are what we do not want.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from pagemind.runtime.errors import TemplateError
from pagemind.runtime.message import clean_text
from pagemind.runtime.settings import MAX_PROMPT_BYTES
from pagemind.runtime.written_path import expanded

_PACKAGE = "pagemind.prompts"
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
# What somebody meant to be a variable: words and joiners in double braces, no quotes, no colon.
_NEAR_VARIABLE = re.compile(r"\{\{[ \t]*([\w.\-]+(?:[ \t]+[\w.\-]+)*)[ \t]*\}\}")
_NAME = re.compile(r"[A-Za-z0-9_\-]+(\.md)?")


@dataclass(frozen=True, slots=True)
class Template:
    """A text with variables. `source` is what errors call it."""

    text: str
    source: str

    @classmethod
    def from_text(cls, text: str, source: str = "text") -> "Template":
        """A template of this text. Raises TemplateError for double braces around no name."""
        for match in _NEAR_VARIABLE.finditer(text):
            if not _VARIABLE.fullmatch(match[0]):
                line = text.count("\n", 0, match.start()) + 1
                raise TemplateError(
                    f"{source}:{line}: {match[0]} is not a variable",
                    hint="a name has letters, digits and _, as in {{ name }}",
                )
        return cls(text, source)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order of their first use."""
        return tuple(dict.fromkeys(_VARIABLE.findall(self.text)))

    def fill(self, **variables: str | int | float) -> str:
        """The text with every variable replaced. Raises TemplateError for one too few or many."""
        known = self.variables
        listed = ", ".join(known) or "none"
        if missing := [name for name in known if name not in variables]:
            line = self._line_of(missing[0])
            raise TemplateError(
                f"{self.source}:{line}: no value for {_quoted(missing)}",
                hint=f"the variables of this prompt: {listed}",
            )
        if unused := [name for name in variables if name not in known]:
            raise TemplateError(
                f"{self.source}: does not use {_quoted(unused)}",
                hint=_nearest(unused[0], known) + f"the variables of this prompt: {listed}",
            )
        for name, value in variables.items():
            if not isinstance(value, str | int | float):
                raise TypeError(f"{self.source}: {name} is {type(value).__name__}, not text")
        return _VARIABLE.sub(lambda match: str(variables[match[1]]), self.text)

    def _line_of(self, variable: str) -> int:
        match = next(m for m in _VARIABLE.finditer(self.text) if m[1] == variable)
        return self.text.count("\n", 0, match.start()) + 1


def available() -> list[str]:
    """The names of the prompts that ship."""
    names = (each.name for each in files(_PACKAGE).iterdir())
    return sorted(name[:-3] for name in names if name.endswith(".md") and name != "README.md")


def load(name_or_path: str | Path) -> Template:
    """A shipped prompt by name, with or without `.md`, or a file by path (one with a slash).

    Raises TemplateError for an unknown name (with the nearest) and an unreadable file.
    """
    if isinstance(name_or_path, str) and _NAME.fullmatch(name_or_path):
        name = name_or_path.removesuffix(".md")
        return _as_of_then.get().get(name) or _shipped(name)
    path = expanded(name_or_path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PROMPT_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise TemplateError(f"{path}: {reason.lower()}", hint="give a text file") from None
    return Template.from_text(_decode(data, str(path)), str(path))


_as_of_then: ContextVar[Mapping[str, Template]] = ContextVar(
    "prompts of then", default=MappingProxyType({})
)


@contextmanager
def as_of_then(texts: Mapping[str, str]) -> Iterator[None]:
    """Inside, load() gives these texts for these names: a past request is made again with the
    prompts of then, whatever ships by now. Holds for this thread alone."""
    before = _as_of_then.set({name: Template(text, name) for name, text in texts.items()})
    try:
        yield
    finally:
        _as_of_then.reset(before)


@cache
def _shipped(name: str) -> Template:
    names = available()
    if name not in names:
        raise TemplateError(
            f"no prompt is called {name!r}",
            hint=_nearest(name, names) + f"prompts: {', '.join(names)}; or give a path with a /",
        )
    source = f"{name}.md"
    return Template.from_text(_decode((files(_PACKAGE) / source).read_bytes(), source), source)


def _decode(data: bytes, source: str) -> str:
    """The text of a prompt file, without the newline at its end."""
    if len(data) > MAX_PROMPT_BYTES:
        raise TemplateError(f"{source}: longer than {MAX_PROMPT_BYTES >> 20} MB; not a prompt")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text:
        raise TemplateError(f"{source}: not UTF-8 text", hint="save the file as UTF-8")
    text = clean_text(text).replace("\r\n", "\n").strip("\n")
    if not text.strip():
        raise TemplateError(f"{source}: the file is empty")
    return text


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _nearest(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name, list(names), n=1)
    return f"did you mean {close[0]}? " if close else ""
