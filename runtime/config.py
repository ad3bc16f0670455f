"""config.yaml in the home: what holds for every agent that does not say otherwise.

load() reads and checks it. set_value() changes one line and leaves all others, comments among
them, as they are. A key that is not known is an error, with the nearest one that is.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pagemind.runtime import yaml_reader
from pagemind.runtime.errors import HomeUnusable, NotFound, UserError

FILE = "config.yaml"


@dataclass(frozen=True, slots=True)
class Key:
    """One key: what it is for, how it may look, and how a text becomes its value."""

    name: str
    about: str
    example: str
    parse: Callable[[str], str | bool]


def _name(text: str) -> str:
    if not text.strip() or any(character.isspace() for character in text.strip()):
        raise ValueError("is a name without spaces")
    return text.strip()


def _path(text: str) -> str:
    if not text.strip():
        raise ValueError("is a name or a file")
    return text.strip()


def _switch(text: str) -> bool:
    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    if text.strip().lower() not in words:
        raise ValueError("is true or false")
    return words[text.strip().lower()]


KEYS: Mapping[str, Key] = {
    key.name: key
    for key in (
        Key("model", "The model of agents that name none.", "openai/gpt-4o-mini", _name),
        Key("embedding", "What new agents find memories by meaning with.", "local/minilm", _name),
        Key("definition", "What a new agent is made from.", "assistant", _path),
        Key("otel", "Send OpenTelemetry spans.", "true", _switch),
    )
}
_KIND = yaml_reader.Kind(
    "a config",
    "model: openai/gpt-4o-mini",
    64 << 10,
    "keep only the keys of `pagemind config list`",
)


@dataclass(frozen=True, slots=True)
class Config:
    """What is set. "" and None are not set."""

    model: str = ""
    embedding: str = ""
    definition: str = ""
    otel: bool | None = None


def path_of(home: Path) -> Path:
    """The file, which need not be there."""
    return home / FILE


def load(home: Path) -> Config:
    """What is set in a home. Raises UserError with the line of what is wrong."""
    return Config(**values(home))


def values(home: Path) -> dict[str, Any]:
    """The keys that are set, by name. Raises UserError."""
    path = path_of(home)
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):  # a home that is a file says so itself
        return {}
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error
    return _checked(yaml_reader.decode(data, str(path), _KIND), path)


def _checked(text: str, path: Path) -> dict[str, Any]:
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return {}  # nothing but comments
    document = yaml_reader.read(text, str(path), _KIND)
    found: dict[str, Any] = {}
    for name, value in document.value.items():
        where = document.where((name,))
        if name not in KEYS:
            raise UserError(f"{where}: {name!r} is not a key", hint=_nearest(name))
        if value is None:
            continue
        if not isinstance(value, str | bool):
            raise UserError(f"{where}: {name} must be one value, such as {KEYS[name].example}")
        found[name] = _parsed(name, _written(value), where)
    return found


def _parsed(name: str, text: str, where: str = "") -> str | bool:
    try:
        return KEYS[name].parse(text)
    except ValueError as error:
        at = f"{where}: " if where else ""
        raise UserError(
            f"{at}{name} {error}, not {text!r}", hint=f"such as {KEYS[name].example}"
        ) from None


def known(name: str) -> Key:
    """The key of a name. Raises NotFound with the nearest."""
    if name not in KEYS:
        raise NotFound(f"{name!r} is not a key of {FILE}", hint=_nearest(name))
    return KEYS[name]


def _nearest(name: str) -> str:
    close = get_close_matches(name.lower(), KEYS, n=1)
    return f"did you mean {close[0]}?" if close else f"the keys are {', '.join(KEYS)}"


def _written(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value


# --- changing ---------------------------------------------------------------------------------


def set_value(home: Path, name: str, text: str | None) -> str | bool | None:
    """Set a key, or take it out with None; the value. The file is made if it is not there.

    Raises NotFound, UserError for a value that cannot be or a file that must be mended first.
    """
    known(name)
    value = None if text is None else _parsed(name, text)
    wanted = {**values(home), name: value}
    path = path_of(home)
    before = path.read_text("utf-8-sig") if path.exists() else ""
    after = changed(before, name, value)
    try:
        kept = _checked(after, path)
    except UserError:
        kept = {}
    if kept != {key: each for key, each in wanted.items() if each is not None}:
        raise UserError(
            f"{path}: {name} is written in a way that cannot be changed from here",
            hint=f"edit it by hand: {name}: {text}",
        )
    save(path, after)
    return value


def changed(text: str, name: str, value: str | bool | None) -> str:
    """The file with one line changed. A line of it that is commented out is taken up again."""
    lines = text.splitlines()
    line = None if value is None else f"{name}: {_quoted(value)}"
    there = re.compile(rf"{name}\s*:(?:\s+[^#]*?)?(\s+#.*)?$")
    for at, each in enumerate(lines):
        if match := there.match(each):
            note = match[1] or ""
            lines[at] = f"# {each}" if line is None else f"{line}{note}"
            return "\n".join(lines) + "\n"
    if line is None:
        return text
    waiting = re.compile(rf"#\s?{name}:")
    for at, each in enumerate(lines):
        if waiting.match(each):
            lines[at] = line
            return "\n".join(lines) + "\n"
    return "\n".join([*lines, line]) + "\n"


def _quoted(value: str | bool) -> str:
    """The value so that YAML reads it as it is."""
    text = _written(value)
    plain = isinstance(value, bool) or re.fullmatch(r"[A-Za-z/~.][\w./:@+~-]*[\w]|\w", text)
    risky = re.search(r":(?=\s|$)| #", text) or text.lower() in (
        "true",
        "false",
        "null",
        "yes",
        "no",
    )
    if isinstance(value, bool) or (plain and not risky):
        return text
    return json.dumps(text, ensure_ascii=False)


def save(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises HomeUnusable."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, "utf-8")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise HomeUnusable(
            f"{path} cannot be written: {error.strerror or error}",
            hint="check the permissions of the home",
        ) from error


def fresh(chosen: Config) -> str:
    """A new file: every key with what it is for, those that are not chosen commented out."""
    lines = ["# What holds for every agent that does not say otherwise.", ""]
    for key in KEYS.values():
        value = getattr(chosen, key.name)
        set_ = value not in ("", None)
        shown = _quoted(value) if set_ else key.example
        lines += [f"# {key.about}", f"{'' if set_ else '# '}{key.name}: {shown}", ""]
    return "\n".join(lines[:-1]) + "\n"
