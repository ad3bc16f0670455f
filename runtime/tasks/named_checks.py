"""Checks that have a name: `not_empty`, `json`, `number`, `one_of`, how long a text is, and
functions of one's own. Each says what does not hold, as the model is told it; "" is all well.

A function of one's own, `mypackage.checks:is_polite`, takes the text. It returns true or nothing
where the text will do, false or what is wrong with it where not. Its module is looked for beside
the task file, then wherever Python looks.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from pagemind.runtime.definition_parts import Number, Section
from pagemind.runtime.json_reply import read_json

ALONE = ("not_empty", "json", "number")  # what needs no more than its name
Own = Callable[[str], object]
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][+-]?\d+)?")
_AROUND = " \t\r\n\"'`*.!"  # what models put around a single word


class Range(Section):
    """A number, and between what it must lie."""

    at_least: Number | None = None
    at_most: Number | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        low, high = self.at_least, self.at_most
        if low is not None and high is not None and low > high:
            raise ValueError("at_least is more than at_most: no number is such")
        return self


def spelt_range(value: Any) -> Any:
    return {} if value is True else value


def not_empty(said: str) -> str:
    return "" if said.strip() else "it is empty"


def json(said: str) -> str:
    try:
        read_json(said)
    except ValueError as fault:
        return str(fault)
    return ""


def number(said: str, wanted: Range) -> str:
    """One number, and nothing else: 12, -0.5, 1,200 or 3e8."""
    bare = said.strip(_AROUND)
    if not bare or not any(map(str.isdigit, bare)) or not _NUMBER.fullmatch(bare):
        return f"it is no number: {_short(said)}"
    value = float(bare.replace(",", ""))
    if wanted.at_least is not None and value < wanted.at_least:
        return f"it is {bare}: less than {wanted.at_least:g}"
    if wanted.at_most is not None and value > wanted.at_most:
        return f"it is {bare}: more than {wanted.at_most:g}"
    return ""


def one_of(said: str, wanted: Sequence[str]) -> str:
    """Letter case, and a full stop or quotes around it, do not count."""
    bare = said.strip(_AROUND).casefold()
    if any(bare == each.strip(_AROUND).casefold() for each in wanted):
        return ""
    return f"it is not one of: {', '.join(wanted)}"


def length(said: str, least: int | None, most: int | None, characters: int | None) -> str:
    """In words, as spaces part them, and in characters."""
    words = len(said.split())
    if least is not None and words < least:
        return f"it has {words:,} words; at least {least:,} are wanted"
    if most is not None and words > most:
        return f"it has {words:,} words; at most {most:,} are allowed"
    if characters is not None and len(said.strip()) > characters:
        return f"it has {len(said.strip()):,} characters; at most {characters:,} are allowed"
    return ""


# --- functions of one's own ---------------------------------------------------------------------


def own(said: str, written: str, function: Own) -> str:
    """What a function of one's own says of a text. Raises what that raises."""
    answer = function(said)
    if isinstance(answer, str):
        return answer
    return "" if answer is None or answer else f"{written.rpartition(':')[2]} does not hold"


def function_of(written: str, beside: Path) -> Own:
    """The function of an import path. Raises ValueError with what is not there."""
    module, _, name = written.partition(":")
    with _looking_in(beside):
        try:
            found = getattr(import_module(module), name, None)
        except Exception as fault:  # somebody else's module may raise anything
            raise ValueError(f"{module} cannot be imported: {fault}") from None
    if not callable(found):
        raise ValueError(f"{module} has no function {name!r}")
    return found  # type: ignore[no-any-return]  # what it gives is looked at in own()


@contextmanager
def _looking_in(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _short(said: str) -> str:
    bare = " ".join(said.split())
    return repr(bare if len(bare) <= 40 else f"{bare[:40]}…")
