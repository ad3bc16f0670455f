"""Checks of a text: what a reply must hold, and what `if` and `until` ask. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from pagemind.runtime.structured import faults_of, read_json
from pagemind.runtime.tasks.parts import Check


def why_not(check: Check, said: str, schema: Mapping[str, Any] | None) -> str:
    """What of a check does not hold for this text; "" if all of it does."""
    folded = said.casefold()
    for wanted in check.contains:
        if wanted.casefold() not in folded:
            return f"it does not contain {wanted!r}"
    for unwanted in check.lacks:
        if unwanted.casefold() in folded:
            return f"it contains {unwanted!r}"
    if check.regex is not None and not re.search(check.regex, said):
        return f"it does not match the pattern {check.regex}"
    if schema is not None:
        try:
            value = read_json(said)
        except ValueError as fault:
            return str(fault)
        if found := faults_of(value, schema):
            return found
    return ""
