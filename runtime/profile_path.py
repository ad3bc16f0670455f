"""Paths into a JSON value, and the value with one place of it set or deleted. Pure.

A path is a JSON pointer (RFC 6901: `/pets/0/name`, `/pets/-` for the end of a list) or the same
with dots and brackets (`pets[0].name`, `pets[-]`, `pets[0]["full name"]`). Every change is made in
a copy.
"""

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

END = "-"  # the place after the last item of a list
Steps = tuple[str, ...]
_INDEX = re.compile(r"0|[1-9]\d{0,6}")
# A quoted name or an index in brackets, or a name: after a dot, where it is not the first.
_STEP = re.compile(r"""\[\s*(?:["']([^"']*)["']|([^\[\]"']*?))\s*\]|(?:(?<=.)\.|^)([^.\[\]]+)""")
_PLAIN = re.compile(r"[^.\[\]/\"'\s]+")


def parse(path: str) -> Steps:
    """The steps of a path. Raises ValueError for one that is none."""
    written = path.strip().removeprefix("#").removeprefix("$.")
    if written.startswith("/"):
        steps = [each.replace("~1", "/").replace("~0", "~") for each in written[1:].split("/")]
    else:
        steps, at = [], 0
        while match := _STEP.match(written, at):
            quoted, index, name = match.groups()
            steps.append(name or (index or END if quoted is None else quoted))
            at = match.end()
        if at < len(written):
            raise ValueError(f"{path!r} is not a path; write it like pets[0].name")
    if not steps or "" in steps:
        raise ValueError(f"{path!r} names no field; write it like pets[0].name")
    return tuple(steps)


def shown(steps: Sequence[str | int]) -> str:
    """Steps as a person reads them: `pets[0].name`."""
    text = ""
    for step in map(str, steps):
        if _INDEX.fullmatch(step) or step == END:
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


def put(root: Any, steps: Steps, value: Any, listed: Callable[[Steps], bool | None]) -> Any:
    """The value with this place set. What is missing on the way is made: a list where `listed`
    says that one belongs there, or where it cannot say and the next step is an index.

    Raises ValueError where the way leads through a text or a number, or beyond the end of a list.
    """
    root = deepcopy(root)
    here = root
    for at, step in enumerate(steps[:-1]):
        below = _child(here, steps[:at], step)
        if below is None:
            below = [] if _is_list(steps, at + 1, listed) else {}
            _set(here, steps[:at], step, below)
        here = below
    _set(here, steps[:-1], steps[-1], value)
    return root


def take(root: Any, steps: Steps) -> Any:
    """The value without this place. Raises ValueError if nothing is there."""
    root = deepcopy(root)
    here = root
    for at, step in enumerate(steps[:-1]):
        here = _child(here, steps[:at], step)
        if here is None:
            raise ValueError(f"there is nothing at {shown(steps[: at + 1])} to delete")
    if isinstance(here, list):
        at_ = _index(here, steps[:-1], steps[-1])
        if at_ < len(here):
            del here[at_]
            return root
    elif isinstance(here, dict):
        if steps[-1] in here:
            del here[steps[-1]]
            return root
    else:
        raise ValueError(_no_container(here, steps[:-1]))
    raise ValueError(f"there is nothing at {shown(steps)} to delete{_there(here, steps)}")


def _is_list(steps: Steps, upto: int, listed: Callable[[Steps], bool | None]) -> bool:
    told = listed(steps[:upto])
    return told if told is not None else bool(_INDEX.fullmatch(steps[upto])) or steps[upto] == END


def _child(here: Any, before: Steps, step: str) -> Any:
    if isinstance(here, list):
        at = _index(here, before, step)
        return here[at] if at < len(here) else None
    if isinstance(here, dict):
        return here.get(step)
    raise ValueError(_no_container(here, before))


def _set(here: Any, before: Steps, step: str, value: Any) -> None:
    if isinstance(here, dict):
        here[step] = value
    elif isinstance(here, list):
        at = _index(here, before, step)
        here[at : at + 1] = [value]
    else:
        raise ValueError(_no_container(here, before))


def _index(here: list[Any], before: Steps, step: str) -> int:
    """Where a step leads in a list: to an item, or to the place after the last."""
    held = f"{shown(before) or 'it'} has {len(here)} item{'' if len(here) == 1 else 's'}"
    if step == END:
        return len(here)
    if not _INDEX.fullmatch(step):
        raise ValueError(f"{held}: say which by its number from 0, or - for a new one, not {step}")
    if int(step) > len(here):
        raise ValueError(f"{held}: the next is {shown((*before, str(len(here))))}")
    return int(step)


def _no_container(here: Any, before: Steps) -> str:
    return f"{shown(before)} is {here!r}, which has no fields; set {shown(before)} itself"


def _there(here: Any, steps: Steps) -> str:
    if isinstance(here, list):
        return f"; {shown(steps[:-1])} has {len(here)} item{'' if len(here) == 1 else 's'}"
    close = get_close_matches(steps[-1], here, n=1)
    if close:
        return f"; did you mean {shown((*steps[:-1], close[0]))}?"
    return f"; there: {', '.join(here) or 'nothing yet'}"
