"""Text with variables: `{{ name }}`, or `{{ name.field }}` for what is in it. Strict.

Everything else is literal. A text that is one variable and nothing else keeps its kind where a
value may be kept (`value`): a list stays a list. Inside double braces only a path may stand.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pagemind.runtime.errors import TemplateError

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
# After the first point a field may be called anything: it is a column of somebody's table.
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[^.{}\n]+)*")


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and the variables in it as paths, in order."""

    written: str
    paths: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, written: str) -> "Text":
        """Raises ValueError for double braces around what is no path."""
        paths = []
        for match in _BRACES.finditer(written):
            inner = match[1].strip()
            if _looks_like_json(inner):
                continue
            if not _PATH.fullmatch(inner):
                raise ValueError(
                    f"{match[0][:60]} is no variable; write {{{{ name }}}} or {{{{ name.field }}}}"
                )
            paths.append(_steps(inner))
        return cls(written, tuple(paths))

    def fill(self, scope: Mapping[str, Any]) -> str:
        """The text with every variable replaced. Raises TemplateError for one that is not there."""

        def value(match: re.Match[str]) -> str:
            inner = match[1].strip()
            if _looks_like_json(inner):
                return match[0]
            return as_text(look_up(scope, _steps(inner)))

        return _BRACES.sub(value, self.written)

    def before(self, own: Collection[str]) -> str | None:
        """What stands before the first variable that is none of these; None where all are."""
        for match in _BRACES.finditer(self.written):
            inner = match[1].strip()
            if not _looks_like_json(inner) and _steps(inner)[0] not in own:
                return self.written[: match.start()]
        return None

    def value(self, scope: Mapping[str, Any]) -> Any:
        """As `fill`, but a text that is one variable alone gives what that is."""
        stripped = self.written.strip()
        match = _BRACES.fullmatch(stripped)
        if match is None or len(self.paths) != 1:
            return self.fill(scope)
        found = look_up(scope, self.paths[0])
        return found[""] if isinstance(found, Fields) else found


class Fields(dict[str, Any]):
    """Something with fields that is also a text of its own, under the empty key: an input."""


def look_up(scope: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """Raises TemplateError with what is there instead."""
    found: Any = scope
    for at, step in enumerate(path):
        if isinstance(found, list) and step.lstrip("-").isdigit():
            if not -len(found) <= int(step) < len(found):
                raise TemplateError(f"{'.'.join(path[:at])} has {len(found)} items; {step} is none")
            found = found[int(step)]
        elif isinstance(found, Mapping) and step in found:
            found = found[step]
        else:
            here = ".".join(path[:at])
            names = [name for name in found if name] if isinstance(found, Mapping) else []
            raise TemplateError(unknown(step, names, here))
    return found


def unknown(name: str, known: list[str], inside: str = "") -> str:
    """`no variable is called 'inptu'; did you mean 'input'? known: …`"""
    close = get_close_matches(name, known, n=1)
    nearest = f"; did you mean {close[0]!r}?" if close else ";"
    what = f"{inside} has no field {name!r}" if inside else f"no variable is called {name!r}"
    listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "") if known else "none"
    return f"{what}{nearest} known: {listed}"


def as_text(value: Any) -> str:
    """A value inside a text: text as it is, nothing as nothing, all else as JSON."""
    if isinstance(value, Fields):
        return as_text(value[""])
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _steps(inner: str) -> tuple[str, ...]:
    return tuple(step.strip() for step in inner.split("."))


def _looks_like_json(inner: str) -> bool:
    """`{{"a": 1}}` stands in examples of JSON and means nothing to us."""
    return not inner or inner[0] in "\"'{["
