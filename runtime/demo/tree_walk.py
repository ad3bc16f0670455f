"""Walking the tree by time, as the demo's script does it: which line of the page table or of a
directory's listing leads towards a minute. Pure; reads only what a request shows.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from pagemind.runtime.message import Message

_ASKED = re.compile(r"\bon (\d{4}-\d\d-\d\d) at (\d\d:\d\d)\b")
_TABLE = re.compile(r"<page_table>\n(.*?)\n</page_table>", re.DOTALL)
_LINE = re.compile(
    r"^([dp]\d+) \[(\d{4}-\d\d-\d\d) (\d\d:\d\d)(?:(?: – (\d{4}-\d\d-\d\d) |–)(\d\d:\d\d))?\]",
    re.MULTILINE,
)


def asked_time(question: str) -> str:
    """The minute that a question names, `2026-03-04 09:31`; "" if it names none."""
    named = _ASKED.search(question)
    return f"{named[1]} {named[2]}" if named else ""


def page_table(window: Sequence[Message]) -> str:
    """The table's lines; "" before the first flush."""
    shown = _TABLE.search(window[0].text) if window and window[0].kind == "notice" else None
    return shown[1] if shown else ""


def towards(minute: str, lines: str) -> str:
    """The id of the shortest span that holds the minute; "" if none does.

    A table may show a directory and its children, or a page read of late: the shortest is the
    lowest in the tree. Of equal ones the first: what was said stands before what was answered.
    """
    at = datetime.fromisoformat(minute)
    best, shortest = "", None
    for line in _LINE.finditer(lines):
        id, day, begin, last_day, end = line.groups()
        first = datetime.fromisoformat(f"{day} {begin}")
        last = datetime.fromisoformat(f"{last_day or day} {end or begin}")
        if first <= at <= last and (shortest is None or last - first < shortest):
            best, shortest = id, last - first
    return best
