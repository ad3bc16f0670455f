"""Checks of a text: what a reply must hold, and what `if` and `until` ask."""

import re
from collections.abc import Mapping
from typing import Any

from pagemind.runtime.json_reply import read_json
from pagemind.runtime.structured import faults_of
from pagemind.runtime.tasks import named_checks as named
from pagemind.runtime.tasks.parts import Check


def why_not(
    check: Check, said: str, schema: Mapping[str, Any] | None, own: named.Own | None = None
) -> str:
    """What of a check does not hold for this text; "" if all of it does. `own` is the function of
    `check`; what that raises is raised."""
    if check.not_empty and (why := named.not_empty(said)):
        return why
    folded = said.casefold()
    for wanted in check.contains:
        if wanted.casefold() not in folded:
            return f"it does not contain {wanted!r}"
    for unwanted in check.lacks:
        if unwanted.casefold() in folded:
            return f"it contains {unwanted!r}"
    if check.one_of and (why := named.one_of(said, check.one_of)):
        return why
    if check.number is not None and (why := named.number(said, check.number)):
        return why
    if why := named.length(said, check.min_words, check.max_words, check.max_characters):
        return why
    if check.regex is not None and not re.search(check.regex, said):
        return f"it does not match the pattern {check.regex}"
    if check.is_json and (why := named.json(said)):
        return why
    if schema is not None:
        try:
            value = read_json(said)
        except ValueError as fault:
            return str(fault)
        if found := faults_of(value, schema):
            return found
    if own is not None:
        assert check.check is not None
        return named.own(said, check.check, own)
    return ""
