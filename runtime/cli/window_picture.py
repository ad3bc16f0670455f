"""The window as a picture: a bar to scale with the marks of warn and flush, a line for each
section that says what is in it, and what the next flush would take.

From 60 to 120 columns; the sixteen colours of the terminal only, and none of them needed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pagemind.runtime.cli.render import console, local, one_line, plural, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from pagemind.runtime.inspection import Inspection

# Fixed sections first, in the order of the prompt; the colours tell them apart in the bar.
COLOURS = {
    "system": "blue",
    "tools": "cyan",
    "core": "magenta",
    "summary": "yellow",
    "page_table": "bright_yellow",
    "pinned": "bright_magenta",
    "queue": "green",
    "prefetch": "bright_cyan",
}
_LEAST, _MOST, _PIPED = 60, 120, 80  # columns
_NAME = 14  # … of what a line begins with
_HOLDS = 29  # … of what stands before what a section holds
_BOXES = ("█ ", "▓ ", "▚ ", "░ ", "▒ ", "  ")
_LISTED = 8  # ids in a row before they are counted


def picture(found: "Inspection", *, name: str) -> None:
    """Print it."""
    out = console()
    wide = max(_LEAST, min(_MOST, out.width)) if out.is_terminal else _PIPED
    for line in _lines(found, name, wide, coloured=not out.no_color and bool(out.color_system)):
        indent = _HOLDS if line.plain[:2] in _BOXES else _NAME  # where its second column begins
        _print(out, line, wide, indent)


def _print(out: "Console", line: "Text", wide: int, indent: int) -> None:
    """A line, broken at words; what follows stands under its text."""
    from rich.text import Text

    if line.cell_len <= wide:
        out.print(line, soft_wrap=True)
        return
    head, rest = line[:indent], line[indent:]
    for number, part in enumerate(rest.wrap(out, wide - indent)):
        part.rstrip()
        out.print(Text.assemble(head if not number else " " * indent, part), soft_wrap=True)


def _lines(found: "Inspection", name: str, wide: int, *, coloured: bool) -> Iterator["Text"]:
    from rich.text import Text

    pressure = found.pressure
    yield Text.assemble(
        (visible(name), "bold"),
        f" · {visible(found.model) or 'no model yet'} · window {found.window.tokens:,} tokens"
        f" ({found.window.source})",
    )
    yield Text("")
    yield from _bar(found, wide, coloured=coloured)
    yield Text("")
    yield from _sections(found, coloured=coloured)
    yield Text("")
    percent = round(100 * pressure.ratio) if pressure.room > 0 else 100
    level = {"normal": "green", "warn": "yellow", "flush": "red"}[str(pressure.level)]
    yield _fact(
        "pressure",
        f"{pressure.paged:,} of {pressure.room:,} tokens of room: {percent} % ",
        (str(pressure.level), level),
        f"; warns at {pressure.warn_at:,}, flushes at {pressure.flush_at:,}, keeps"
        f" {pressure.keep_at:,}",
    )
    if not found.evicted:
        yield _fact("evicted next", "nothing: the queue is no larger than what a flush keeps")
    yield _fact("counter", _counter(found))
    if found.hot:
        heats = (f"{page.short_id} ({page.heat:.1f})" for page in found.hot)
        yield _fact("read of late", ", ".join(heats))
    if found.prefetch:
        ids = found.prefetched
        yield _fact(
            "prefetch",
            f"{plural(len(ids), 'memory', 'memories')},"
            f" {found.prefetch_tokens:,} tokens, before the last event:",
        )
        for memory in found.prefetch.splitlines()[1:-1]:
            line = Text.assemble(" " * _NAME, (one_line(memory), "dim"))
            line.truncate(wide, overflow="ellipsis")
            yield line
    waiting = f" ({found.unwritten:,} not in LanceDB yet)" if found.unwritten else ""
    yield _fact(
        "disk",
        f"{plural(found.recall, 'message')}{waiting}, "
        f"{plural(found.archival, 'passage')}, {plural(found.pages, 'page')}",
    )


# --- the bar --------------------------------------------------------------------------------------


def _bar(found: "Inspection", wide: int, *, coloured: bool) -> Iterator["Text"]:
    """All of the window from its first token to its last, and under it where warn and flush are."""
    from rich.text import Text

    pressure, reserve = found.pressure, _reserve(found)
    columns = wide - 2
    whole = max(1, pressure.usable + reserve, pressure.used + reserve)

    def column(tokens: float) -> int:
        return min(columns, round(tokens / whole * columns))

    strip, drawn, running = Text("▕"), 0, 0
    for number, (section, tokens) in enumerate(_filled(found)):
        going = found.freed if section == "queue" else 0
        for shade, part in (("▚", going), (_shade(number, coloured), tokens - going)):
            if part > 0:
                running += part
                upto = max(column(running), drawn + 1)  # however little it is, it is seen
                strip.append(shade * (upto - drawn), COLOURS.get(section, "white"))
                drawn = upto
    free = max(drawn, column(whole - reserve))
    strip.append("░" * (free - drawn), "dim")
    strip.append("▒" * (columns - free), "dim")
    strip.append("▏")
    yield strip[: columns + 2]

    warn, flush = (column(pressure.fixed + at) for at in (pressure.warn_at, pressure.flush_at))
    marks = [" "] * (columns + 2)
    _mark(marks, flush, "flush")
    if flush - warn > len("flush ▲"):
        _mark(marks, warn, "warn")
    yield Text("".join(marks).rstrip(), "dim")


def _mark(marks: list[str], at: int, word: str) -> None:
    """`warn ▲` under the column; the word stands before it, where it fits."""
    label = f"{word} ▲"
    start = max(0, min(at, len(marks) - 1) - len(label) + 1)
    marks[start : start + len(label)] = label


def _reserve(found: "Inspection") -> int:
    """What is kept for the reply, in our own tokens as everything here."""
    return found.window.scaled(found.calibration.factor).reserve


def _filled(found: "Inspection") -> list[tuple[str, int]]:
    return [(name, tokens) for name, tokens in found.pressure.sections.items() if tokens]


def _shade(number: int, coloured: bool) -> str:
    """Without colours neighbours are told apart by their shade."""
    return "█" if coloured or number % 2 == 0 else "▓"


# --- the sections ---------------------------------------------------------------------------------


def _sections(found: "Inspection", *, coloured: bool) -> Iterator["Text"]:
    from rich.text import Text

    pressure, reserve = found.pressure, _reserve(found)
    whole = max(1, pressure.usable + reserve)
    holds = _holds(found)
    for number, (section, tokens) in enumerate(_filled(found)):
        if section == "queue" and found.pins and not found.pressure.sections["pinned"]:
            box = Text(" ", COLOURS["pinned"])
            yield _section(box, "pinned", 0, whole, holds["pinned"])
        yield _section(
            Text(_shade(number, coloured), COLOURS.get(section, "white")),
            section.replace("_", " "),
            tokens,
            whole,
            holds.get(section, ""),
        )
        if section == "queue" and found.evicted:
            box = Text("▚", COLOURS["queue"])
            yield _section(box, "  next out", found.freed, whole, _evicted(found))
    free = max(0, pressure.usable - pressure.used)
    yield _section(Text("░", "dim"), "free", free, whole, "")
    yield _section(Text("▒", "dim"), "reply", reserve, whole, "kept for it")


def _section(box: "Text", name: str, tokens: int, whole: int, holds: str) -> "Text":
    from rich.text import Text

    percent = f"{100 * tokens / whole:3.0f} %"
    counted = f" {name:<{_NAME - 3}}{tokens:>9,} "
    return Text.assemble(box, counted, (percent, "dim"), f"  {holds}" if holds else "")


def _holds(found: "Inspection") -> dict[str, str]:
    """What is in each section, in a few words."""
    summary = found.summary
    shown = [pin.target for pin in found.pins if pin.target in found.pinned]
    waiting = [pin.target for pin in found.pins if pin.target not in found.pinned]
    pins = "; ".join(
        words
        for words in (_some(shown), f"not shown yet: {_some(waiting)}" if waiting else "")
        if words
    )
    return {
        "tools": plural(found.functions, "function"),
        "core": ", ".join(f"{b.label} {len(b.value):,}/{b.limit:,}" for b in found.blocks),
        "summary": (
            f"covers m1–m{summary.covers_last}; rung {summary.rung}, by {visible(summary.author)},"
            f" {local(summary.at)}"
            if summary
            else "the fence around table and pins"
        ),
        "page_table": f"{_some(found.table)}: the way to {plural(found.pages, 'page')}",
        "pinned": pins,
        "queue": (
            f"m{found.first}–m{found.last}: {plural(found.messages, 'message')} in"
            f" {plural(found.groups, 'group')}, conversation {found.conversation}"
        ),
    }


def _some(ids: "list[str] | tuple[str, ...]") -> str:
    """`p1, p2, p3`; of many the first and how many more."""
    more = len(ids) - _LISTED
    return ", ".join(ids[:_LISTED]) + (f" and {more:,} more" if more > 0 else "")


# --- what is under it -----------------------------------------------------------------------------


def _fact(name: str, *text: "str | tuple[str, str]") -> "Text":
    from rich.text import Text

    return Text.assemble((f"{name:<{_NAME}}", "bold"), *text)


def _evicted(found: "Inspection") -> str:
    """The groups that a flush would take now."""
    ids = [
        f"m{group.first_seq}"
        if group.first_seq == group.last_seq
        else f"m{group.first_seq}–m{group.last_seq}"
        for group in found.evicted
    ]
    first, last = found.evicted[0].first_seq, found.evicted[-1].last_seq
    return f"m{first}–m{last}, {len(ids):,} of {plural(found.groups, 'group')}: {_some(ids)}"


def _counter(found: "Inspection") -> str:
    calibration = found.calibration
    if not calibration.samples:
        return f"× {calibration.factor:.2f} of ours, a guess: no reply has told its usage yet"
    return (
        f"× {calibration.factor:.2f} of ours, learned from"
        f" {plural(calibration.samples, 'reply', 'replies')}"
        f" (average {calibration.ratio:.2f}, last {calibration.last:.2f}, and a margin)"
    )
