"""All that a stored thing says, as one text to look through: a message with its calls, a record
with its facets, any JSON. Pure."""

import json
from collections.abc import Iterator
from typing import Any

from pagemind.runtime.message import Blob, Message, Reasoning
from pagemind.runtime.passage import Passage
from pagemind.runtime.scope import ROOT


def of_message(message: Message) -> str:
    """What was said, called and thought; captions of images, too."""
    found = [message.text]
    for call in message.tool_calls:
        found += strings(call.parsed()) if call.parsed() else [call.arguments]
    for part in message.parts:
        if isinstance(part, Reasoning):
            found += [part.text, *strings(part.opaque)]
        elif isinstance(part, Blob):
            found.append(part.caption)
    return "\n".join(each for each in found if each)


def of_record(record: Passage) -> str:
    """Text, tags, metadata and names of one version."""
    facets = record.facets
    found = [record.text, *record.tags, *strings(record.metadata)]
    found += [facets.subject, facets.object, facets.key, facets.speaker, facets.owner]
    found.append("" if facets.scope == ROOT else facets.scope)
    return "\n".join(each for each in found if each)


def of_json(stored: str) -> str:
    """The texts in a JSON value; the text itself where it is none."""
    try:
        return "\n".join(strings(json.loads(stored)))
    except (ValueError, RecursionError):
        return stored


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys of mappings among them."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += [*each.values(), *each.keys()][::-1]
        elif isinstance(each, list | tuple):
            waiting += list(each)[::-1]
        elif isinstance(each, int | float) and not isinstance(each, bool):
            yield str(each)
