"""What is wrong with a definition, in words: all faults at once, each line `file:line: …`.

Takes the validator's findings and the document they came from; makes one DefinitionError.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

from pagemind.runtime.errors import DefinitionError
from pagemind.runtime.yaml_reader import Document, Path

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

Fault = tuple[Path, str]

_CARRIES_KEY = re.compile(r"authorization|api[-_]?key|token$|secret|password|cookie", re.I)

_LEVELS = ("level", "trust", "default", "minimum", "min", "raise")
_ONLY_A_PERSON = (
    "no definition says how far something is trusted; only a person raises that:"
    " `pagemind memory trust AGENT ID`. The section trust has rules: world, allow, arguments …"
)
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_WANTED = {
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
}


def complain(
    document: Document, faults: Sequence[Fault], *, first_item: int = 0
) -> DefinitionError:
    """One error for all of them, in the order of the file. `first_item`: the number that the first
    item of a list is called by."""
    first = {path: number for number, path in enumerate(document.lines)}

    def position(fault: Fault) -> int:
        path = fault[0]
        while path and path not in first:
            path = path[:-1]
        return first.get(path, 0)

    lines = []
    for path, message in sorted(faults, key=position):
        where = document.where(path)
        if where == document.source and document.lines:
            where += ":1"
        steps = (step + first_item if isinstance(step, int) else step for step in path)
        name = ".".join(str(step) for step in steps)
        lines.append(f"{where}: {name}: {message}" if name else f"{where}: {message}")
    return DefinitionError("\n".join(dict.fromkeys(lines)))


def from_validation(error: "ValidationError", root: "type[BaseModel]") -> list[Fault]:
    """The validator's findings, in our words."""
    findings = error.errors(include_url=False, include_input=True)
    misspelt = {
        (*f["loc"][:-1], close)
        for f in findings
        if f["type"] == "extra_forbidden"
        and (close := _nearest(str(f["loc"][-1]), _keys_at(root, f["loc"][:-1])))
    }
    faults: list[Fault] = []
    for finding in findings:
        path = tuple(step for step in finding["loc"] if step != "[key]")
        if finding["type"] == "missing" and path in misspelt:
            continue  # said already: the key stands there, misspelt
        faults.append(_fault(finding, path, root))
    return faults


def _fault(finding: "ErrorDetails", path: Path, root: "type[BaseModel]") -> Fault:
    kind, context = finding["type"], finding.get("ctx", {})
    if _raises_trust(path, kind):
        return path, _ONLY_A_PERSON
    if kind == "extra_forbidden":
        keys = _keys_at(root, path[:-1])
        close = _nearest(str(path[-1]), keys)
        nearest = f"; did you mean {close!r}?" if close else ";"
        return path, f"unknown key{nearest} allowed: {', '.join(keys)}"
    if kind == "missing":
        return path, "is missing"
    if kind == "value_error":
        return path, str(context["error"])
    if kind == "literal_error":
        return path, f"must be {context['expected']}, not {_what(finding['input'])}"
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return path, f"must be {words} {context[key]:,}, not {finding['input']!r}"
    if kind in _WANTED:
        return path, f"{_WANTED[kind]}, not {_what(finding['input'])}"
    return path, finding["msg"][:1].lower() + finding["msg"][1:]


def _raises_trust(path: Path, kind: str) -> bool:
    """Whether it wants to say how far something is trusted."""
    names = [step for step in path if isinstance(step, str)]
    if not names:
        return False
    if kind != "extra_forbidden":
        return names == ["trust"] and kind in ("model_type", "model_attributes_type")
    within = names[0] == "trust" and names[-1] in _LEVELS
    return within or names[-1] in ("trusted", "trust", "trust_level", "untrusted")


def _what(value: object) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()  # as YAML writes it
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return repr(value) if len(repr(value)) <= 60 else "long text"


def _nearest(key: str, keys: Iterable[str]) -> str | None:
    close = get_close_matches(key.lower(), list(keys), n=1)
    return close[0] if close else None


def _keys_at(root: "type[BaseModel]", path: Path) -> list[str]:
    """The keys allowed at a path. Labels and list positions are no fields and are stepped over."""
    section = root
    for step in path:
        field = section.model_fields.get(str(step))
        if field is not None:
            section = _section_in(field.annotation) or section
    return [field.alias or name for name, field in section.model_fields.items()]


def _section_in(annotation: object) -> "type[BaseModel] | None":
    """The section of `ModelSpec | None`, `tuple[Endpoint, ...]` or `Annotated[Save, …] | None`."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if (found := _section_in(each))), None)


def written_keys(model: Any) -> Iterator[Fault]:
    """Keys that stand in `model` as written: definitions are stored, shown and passed around."""
    if isinstance(model, dict):
        yield from _written(model.get("params"), ("model", "params"), named=False)
        fallbacks = model.get("fallbacks")
        for at, each in enumerate(fallbacks if isinstance(fallbacks, list) else ()):
            if isinstance(each, dict):
                yield from _written(
                    each.get("params"), ("model", "fallbacks", at, "params"), named=False
                )


def _written(value: Any, path: Path, *, named: bool) -> Iterator[Fault]:
    if isinstance(value, dict):
        for key, item in value.items():
            carries = named or bool(_CARRIES_KEY.search(str(key)))
            yield from _written(item, (*path, key), named=carries)
    elif isinstance(value, str) and named and "${" not in value:
        # The value is not repeated: it would be in the log then.
        yield path, "is a key, and keys stay out of definitions: write ${NAME} and export NAME"
