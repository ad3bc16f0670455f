"""The way to a page by its time alone: from the table in the prompt, directory by directory.

What is read is what a model would read: the lines of the table, and the answers of page_in.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from paging_kit import Lookup, result, section

from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.testing import call

FAN_OUT = 16
_LINE = re.compile(r"^\s*([pd]\d+) \[([^\]]+)\] ?(.*)$", re.M)
_PARTS = re.compile(r"\[\w+ part \d+ of (\d+)")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)?(?:\s*(\d\d:\d\d))?")


@dataclass(frozen=True, slots=True)
class Line:
    """A page or directory as the table and directories show it."""

    id: str
    first: datetime
    last: datetime
    text: str

    def covers(self, at: datetime) -> bool:
        return self.first <= at <= self.last

    @property
    def order(self) -> tuple[timedelta, bool]:
        """The narrowest first; of equals a page before a directory."""
        return self.last - self.first, self.id.startswith("d")


@dataclass
class Walked:
    """The pages and directories that were read, in order; the parts of one count as one."""

    read: list[str] = field(default_factory=list)
    found: bool = False


def bound(pages: int) -> int:
    """⌈log16(pages)⌉ + 1 reads reach every page."""
    reads, reach = 1, 1
    while reach < pages:
        reads, reach = reads + 1, reach * FAN_OUT
    return reads


def walk(at: datetime, wanted: str) -> Lookup[Walked]:
    """Read towards what was said at a time (UTC, to the minute) until a text holds what is wanted:
    always the narrowest span around it that was not read yet."""
    request = yield None
    at = at.replace(second=0, microsecond=0)
    known = lines_in(shown_table(request))
    found = Walked()
    while open_ := [line for line in known if line.covers(at) and line.id not in found.read]:
        best = min(open_, key=lambda line: line.order)
        found.read.append(best.id)
        text, _ = yield from read(best.id)
        if best.id.startswith("d"):
            known += lines_in(text)
        elif wanted in text:
            found.found = True
            break
    return found


def read(id: str) -> Generator[ToolCall | None, ModelRequest, tuple[str, ModelRequest]]:
    """All parts of a page or directory."""
    request = yield call("page_in", id=id)
    texts = [result(request)]
    parts = _PARTS.match(texts[0])
    for part in range(2, int(parts[1]) + 1 if parts else 2):
        request = yield call("page_in", id=id, part=part)
        texts.append(result(request))
    return "\n".join(texts), request


def shown_table(request: ModelRequest) -> str:
    """The page table of the prompt."""
    return section(request, "page_table")


def lines_in(text: str) -> list[Line]:
    """The lines of pages and directories in a text."""
    return [Line(id, *_span(span), gist) for id, span, gist in _LINE.findall(text)]


def _span(written: str) -> tuple[datetime, datetime]:
    """From the beginning of the first moment to the end of the last."""
    first, _, last = written.partition("–")
    day, from_ = _moment(first.strip())
    last_day, to = _moment(last.strip() or first.strip())
    begin = datetime.fromisoformat(f"{day}T{from_ or '00:00'}").replace(tzinfo=UTC)
    end = datetime.fromisoformat(f"{last_day or day}T{to or '23:59'}").replace(tzinfo=UTC)
    return begin, end


def _moment(written: str) -> tuple[str, str]:
    found = _MOMENT.match(written)
    assert found is not None  # it matches nothing as well
    return found[1] or "", found[2] or ""
