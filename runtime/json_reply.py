"""The JSON value in a model's reply, whatever stands around it. Pure."""

import json
import re
from typing import Any

from pagemind.runtime.settings import STRUCTURED_STARTS

_OPENING = re.compile(r"[{\[]")
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)


def read_json(text: str) -> Any:
    """The JSON value in a reply: all of it, what is fenced in it, or what of it can be mended.
    Raises ValueError."""
    fenced = _FENCED.search(text)
    inner = (fenced[1] if fenced else text).strip()
    try:
        return json.loads(inner)
    except ValueError:
        pass
    except RecursionError:  # so many brackets that it cannot be meant
        raise ValueError("it is nested too deeply") from None
    starts = [match.start() for match in _OPENING.finditer(inner)][:STRUCTURED_STARTS]
    whole = [found for at in starts if (found := _value_at(inner, at)) is not None]
    if whole:
        return max(whole, key=lambda found: found[1])[0]
    if starts:
        from json_repair import repair_json

        try:
            value = repair_json(inner[starts[0] :], return_objects=True)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if value not in ("", {}, []):
            return value
    raise ValueError("it holds no JSON")


def _value_at(text: str, at: int) -> tuple[Any, int] | None:
    """The value that begins there, and how long it is."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return value, end - at
