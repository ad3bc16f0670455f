"""taken_out(): a block's value without what one of its versions brought, as far as that still
stands there; what the version had replaced or taken away comes back. Pure.

Text is taken by lines, a profile by fields.
"""

import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any


def taken_out(before: str, made: str, now: str) -> str:
    """`before` and `made` are the version before and the one that is taken back."""
    if now == made:
        return before
    values = [_object(each) for each in (before or "{}", made, now)]
    if None not in values:
        changed = _fields(*values)
        return now if changed == values[2] else json.dumps(changed, ensure_ascii=False, indent=2)
    old, new, lines = (each.splitlines() for each in (before, made, now))
    result = list(lines)
    for tag, i1, i2, j1, j2 in reversed(
        SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    ):
        if tag != "equal":
            result = _lines(result, old[i1:i2], new[j1:j2], new[j1 - 1] if j1 else None)
    return now if result == lines else "\n".join(result)


def _lines(now: list[str], old: Sequence[str], new: Sequence[str], ahead: str | None) -> list[str]:
    """The old lines in the place of the new; after the line ahead of them, where there are none."""
    if not new:
        at = now.index(ahead) + 1 if ahead in now else (0 if ahead is None else len(now))
        return [*now[:at], *(each for each in old if each not in now), *now[at:]]
    found = [at for at, line in enumerate(now) if line in new]
    if not found:
        return now
    left = [line for line in now[found[0] :] if line not in new]
    return [*now[: found[0]], *(each for each in old if each not in now), *left]


def _object(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _fields(before: Any, made: Any, now: Any) -> Any:
    """Each field that is as the version made it, as it was before; None for what was not there."""
    if now == made:
        return before
    if not (isinstance(made, dict) and isinstance(now, dict)):
        return now
    result, known = dict(now), before if isinstance(before, dict) else {}
    for name in {**known, **made}:
        if known.get(name) == made.get(name):
            continue
        value = _fields(known.get(name), made.get(name), now.get(name))
        if name not in known and value in (None, {}):
            result.pop(name, None)
        else:
            result[name] = value
    return result
