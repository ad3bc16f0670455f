"""How answers look: JSON for programs; tables, bars and short times for people."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pagemind.runtime.settings import JSON_SCHEMA

if TYPE_CHECKING:
    from rich.console import Console

_LAST_COLUMNS = 24  # the last column is not cut below this while others can go
_PIPE_WIDTH = 10_000  # nothing is cut or wrapped for a program that reads the text
_CONTROL = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {0x7F: 0x2421}


def answer(body: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps({"schema": JSON_SCHEMA, **body}, ensure_ascii=ascii_only, indent=2))


def listing(items: Sequence[Mapping[str, Any]], total: int | None = None, **more: Any) -> None:
    """A list as one JSON object; `total` where not all are shown."""
    answer({"items": list(items), "total": len(items) if total is None else total, **more})


def console() -> "Console":
    """Standard output, as wide as the terminal."""
    from rich.console import Console

    found = Console(highlight=False, markup=False, emoji=False)
    return (
        found
        if found.is_terminal
        else Console(
            highlight=False, markup=False, emoji=False, width=_PIPE_WIDTH, color_system=None
        )
    )


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, right: str = "", spare: str = ""
) -> None:
    """Columns without lines; those named in `right` are numbers. Where there is too little room,
    those named in `spare` go, the first of them first, and the last column is cut."""
    from rich.cells import cell_len, set_cell_size
    from rich.text import Text

    out = console()
    cells = [list(headers), *([visible(str(cell)) for cell in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    shown = list(range(len(headers)))
    last_header = cell_len(headers[-1])
    for name in spare.split():
        fixed = sum(widths[i] + 2 for i in shown[:-1])
        if fixed + min(widths[-1], max(last_header, _LAST_COLUMNS)) <= out.width:
            break
        shown.remove(headers.index(name))
    room = max(last_header, out.width - sum(widths[i] + 2 for i in shown[:-1]))
    for number, row in enumerate(cells):
        pieces = []
        for i in shown[:-1]:
            pad = " " * (widths[i] - cell_len(row[i]))
            pieces.append(pad + row[i] if headers[i] in right.split() else row[i] + pad)
        last = row[-1]
        pieces.append(last if cell_len(last) <= room else set_cell_size(last, room - 1) + "…")
        out.print(Text("  ".join(pieces).rstrip(), "" if number else "dim"), soft_wrap=True)


def fields(rows: Iterable[tuple[str, object]]) -> None:
    """Names and values, one a line."""
    from rich.text import Text

    out = console()
    pairs = list(rows)
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        out.print(
            Text.assemble((name.ljust(width + 2), "dim"), visible(str(value))), soft_wrap=True
        )


def visible(text: str) -> str:
    """Control characters shown as pictures, so that a text cannot steer the terminal."""
    return text.translate(_CONTROL)


def one_line(text: str) -> str:
    """White space and line ends as single spaces."""
    return visible(" ".join(text.split()))


def bar(fraction: float, width: int) -> str:
    """`████░░░░`; more than full is full."""
    filled = round(min(1.0, max(0.0, fraction)) * width)
    if fraction > 0:
        filled = max(1, filled)
    return "█" * filled + "░" * (width - filled)


def size(count: int) -> str:
    """`491 MB`"""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return (
                f"{value:.0f} {unit}"
                if unit in ("B", "kB") or value >= 10
                else (f"{value:.1f} {unit}")
            )
        value /= 1000
    raise AssertionError("the last unit takes everything")


def ago(then: datetime, now: datetime) -> str:
    """`3 hours ago`"""
    seconds = max(0, int((now - then).total_seconds()))
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count:,} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def local(at: datetime | None) -> str:
    """`2026-11-29 14:03` in the machine's time zone."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}" if at is not None else ""


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 message`, `2,000 messages`; `many` where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


def money(amount: float, known: bool) -> str:
    """`$0.0012`; `≥` where some calls have no known price."""
    if not amount:
        return "–" if not known else "$0"
    return f"{'' if known else '≥ '}${amount:.4f}"
