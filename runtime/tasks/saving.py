"""What an action saves: a row of JSON, or a line; and into which file."""

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from pagemind.runtime.tasks.failing import ActionFailed
from pagemind.runtime.tasks.known import Known
from pagemind.runtime.tasks.parts import Save
from pagemind.runtime.tasks.text import Text, as_text


def file_of(save: Save, known: Known, own: Collection[str], path: Callable[[str], Path]) -> Path:
    """`own` are the variables that a person has written. Any other is what an agent said, which
    names a file below the folder that stands before it and none elsewhere. Raises ActionFailed."""
    text = Text.parse(save.file)
    found = path(known.fill(text))
    head = text.before(own)
    if head is not None:
        upto, slash, _ = head.rpartition("/")
        folder = path(known.fill(Text.parse(upto)) or slash or ".")
        if folder not in found.parents:
            raise ActionFailed(f"{found} is outside of {folder}: what was said may not lead there")
    return found


def line_of(save: Save, made: str, known: Known, source: Mapping[str, str]) -> str:
    """With the end of its line. `made` is the variable that is saved where nothing is said, and
    `source` says in a row where it comes from. Raises ActionFailed."""
    if save.row is not None:
        row = {
            name: known.value(value) if isinstance(value, str) else value
            for name, value in save.row.items()
        }
        return json.dumps(row, ensure_ascii=False) + "\n"
    name = "text"
    if save.block is not None:
        name, found = save.block, known.all()["block"][save.block]
    elif save.text is not None:
        found = known.value(save.text) if save.as_rows else known.fill(Text.parse(save.text))
    else:
        name, found = made, known.scope[made]
    if save.as_rows:
        return json.dumps({**source, name: found}, ensure_ascii=False) + "\n"
    return as_text(found).rstrip("\n") + "\n"
