"""Reading what a model answers when it is asked for facts or decisions. Pure.

An answer that cannot be read is None; one that says that there is nothing is the empty list. Weak
models wrap JSON in prose, leave out the object around a list, or write one thing without a list.
"""

import re
from collections.abc import Mapping
from typing import Any

from pagemind.runtime.json_reply import read_json
from pagemind.runtime.message import clean_json, clean_text
from pagemind.runtime.model import ModelReply

Item = Mapping[str, Any]
_NOTHING = re.compile(
    r"\W*(?:\[\s*\]|\{\s*\}|nothing|none|null|no facts?|(?:there (?:is|are) )?nothing to (?:store|"
    r"remember|save|note|keep)[\w ]*|n/?a)\W*",
    re.IGNORECASE,
)
_PARTS = ("subject", "relation", "object", "quote")
_MOST = 1000  # items that are looked at: nobody tells so much


def items(reply: ModelReply, key: str) -> list[Item] | None:
    """The objects of a JSON answer: those of `{key: […]}`, of a bare list, or a single one."""
    text = clean_text(reply.text).strip()
    if reply.finish == "refusal" or not text:
        return None
    if _NOTHING.fullmatch(text):
        return []
    try:
        value = clean_json(read_json(text))
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        if key in value:
            value = value[key]
        elif not value:
            value = []
        else:
            value = [value]
    if not isinstance(value, list):
        return None
    found: list[Item] = [each for each in value[:_MOST] if isinstance(each, dict)]
    return found if found or not value else None


def lines(reply: ModelReply) -> list[Item] | None:
    """The same of a plainer answer: a line for each fact, its parts with | between them."""
    text = clean_text(reply.text).strip()
    if reply.finish == "refusal" or not text:
        return None
    if _NOTHING.fullmatch(text):
        return []
    if text.lstrip("`json \n")[:1] in ("{", "["):
        return items(reply, "facts")
    found: list[Item] = []
    for line in text.splitlines()[:_MOST]:
        parts = [part.strip(' \t*`"“”') for part in line.strip().strip("|-*• ").split("|")]
        if len(parts) == len(_PARTS) and all(parts[::3]):
            found.append(dict(zip(_PARTS, parts, strict=True)))
    return found or None


def text_of(item: Item, key: str, most: int) -> str:
    """A text of an item, on one line; "" for anything else."""
    value = item.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value:g}" if isinstance(value, float) else str(value)
    return " ".join(value.split())[:most].strip() if isinstance(value, str) else ""


def number_of(item: Item, key: str) -> int | None:
    """A whole number of an item, however it is written: 3, "3", "Known 3"."""
    value = item.get(key)
    if isinstance(value, bool) or value is None:
        return None
    digits = re.search(r"\d{1,6}", str(value))
    return int(digits[0]) if digits else None
