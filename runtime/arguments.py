"""The arguments of a tool call as JSON text: repaired once at the border, so that any history can
be replayed. What cannot be repaired becomes `{"_unparsed": "<what the model wrote>"}`: still an
object, still readable by the model, and recognised by the executor through `unparsed()`.
"""

import json
import math
import re
from typing import Any

from pagemind.runtime.message import ToolCall, clean_text

UNPARSED = "_unparsed"
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_UNPARSED_CHARACTERS = 2000  # of the raw text that is kept: enough for the model to see its fault
_REPAIR_CHARACTERS = 200_000  # the repairer is not linear; no honest call is longer than this


def repair_arguments(raw: object) -> str:
    """JSON text of an object, from whatever a provider handed over as arguments.

    A valid object is kept to the letter (its bytes are part of the prompt's stable prefix). A
    doubled object, an object inside a string, a truncated or sloppy one are mended.
    """
    if raw is None:
        return "{}"
    if not isinstance(raw, str):
        return _dump(raw) if isinstance(raw, dict) else _give_up(json.dumps(raw, default=str))
    text = clean_text(raw)
    if not text.strip():
        return "{}"
    value = _loads(text)
    if isinstance(value, str):  # encoded twice
        text, value = value, _loads(value)
    if isinstance(value, dict):
        return text if _is_plain(text) else _dump(value)
    mended = _first_of_repeated(text) or _repair(text)
    return _dump(mended) if mended else _give_up(raw)


def plain_arguments(text: str) -> str:
    """The stored text if any provider can read it as an object, else the nearest that it can."""
    return text if _is_plain(text) and isinstance(_loads(text), dict) else repair_arguments(text)


def unparsed(call: ToolCall) -> str | None:
    """What the model wrote, if it could not be read as arguments; None for a sound call."""
    raw = call.parsed().get(UNPARSED)
    return raw if isinstance(raw, str) else None


def is_json_object(text: str) -> bool:
    """Whether the text is one complete JSON object."""
    return isinstance(_loads(text), dict)


def ends_in_text(text: str) -> bool:
    """Whether JSON breaks off inside a quoted text: closing it would be guessing at its end."""
    odd = _ESCAPED.sub("", text).count('"') % 2 == 1
    return odd and text.lstrip().startswith("{") and not is_json_object(text)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_plain(text: str) -> bool:
    """No NaN or Infinity (not JSON) and no escaped surrogate that strict parsers refuse."""
    return "NaN" not in text and "Infinity" not in text and "\\ud" not in text.lower()


def _dump(value: dict[str, Any]) -> str:
    try:
        return clean_text(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        return _give_up(repr(value)[:_UNPARSED_CHARACTERS])


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(k)): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value


def _first_of_repeated(text: str) -> dict[str, Any] | None:
    """`{…}{…}` with equal halves: a server that sent the final chunk twice."""
    try:
        value, end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    rest = text.lstrip()[end:]
    return value if isinstance(value, dict) and _loads(rest) == value else None


def _repair(text: str) -> dict[str, Any] | None:
    if "{" not in text or len(text) > _REPAIR_CHARACTERS:
        return None
    import json_repair

    try:
        value = json_repair.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _give_up(raw: str) -> str:
    return json.dumps({UNPARSED: clean_text(raw)[:_UNPARSED_CHARACTERS]}, ensure_ascii=False)
