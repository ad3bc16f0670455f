"""`${VAR}` and `${VAR:-default}` in text, resolved from the environment at load.

As in a shell, the default also stands for a variable that is set but empty. `$${VAR}` is the
literal text `${VAR}`.
"""

import re
from collections.abc import Mapping
from typing import Any

_REFERENCE = re.compile(r"\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def resolve(text: str, environ: Mapping[str, str]) -> str:
    """The text with every reference replaced. Raises LookupError with the name that is not set."""

    def value(match: re.Match[str]) -> str:
        if match[0].startswith("$$"):
            return match[0][1:]
        name, default = match[1], match[2]
        found = environ.get(name)
        if default is not None:
            return found or default
        if found is None:
            raise LookupError(name)
        return found

    return _REFERENCE.sub(value, text)


def resolve_all(
    value: Any, environ: Mapping[str, str]
) -> tuple[Any, dict[tuple[str | int, ...], str]]:
    """A copy of nested mappings and lists with every text resolved, and what is not set.

    The second maps the path of a text to the first variable it lacks; that text stays as it was.
    """
    unset: dict[tuple[str | int, ...], str] = {}

    def walk(node: Any, path: tuple[str | int, ...]) -> Any:
        if isinstance(node, dict):
            return {key: walk(item, (*path, key)) for key, item in node.items()}
        if isinstance(node, list):
            return [walk(item, (*path, index)) for index, item in enumerate(node)]
        if isinstance(node, str):
            try:
                return resolve(node, environ)
            except LookupError as error:
                unset[path] = error.args[0]
        return node

    return walk(value, ()), unset
