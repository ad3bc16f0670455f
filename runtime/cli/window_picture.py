"""The window as a picture: one bar for all of it, one line for each section."""

from typing import TYPE_CHECKING

from pagemind.runtime.cli.render import bar, console, one_line, plural

if TYPE_CHECKING:
    from pagemind.runtime.inspection import Inspection

# Fixed sections first, in the order of the prompt; the colours tell them apart in the bar.
_COLOURS = {
    "system": "blue",
    "tools": "cyan",
    "core": "magenta",
    "summary": "yellow",
    "page_table": "bright_yellow",
    "pinned": "bright_magenta",
    "queue": "green",
    "prefetch": "bright_cyan",
}
_MOST = 60  # columns of the bar


def picture(found: "Inspection", *, name: str) -> None:
    """Print it."""
    from rich.text import Text

    out = console()
    wide = min(_MOST, (out.width if out.is_terminal else 80) - 2)
    pressure = found.pressure
    out.print(
        Text.assemble(
            (name, "bold"),
            f" · {found.model or 'no model yet'} · window {found.window.tokens:,} tokens"
            f" ({found.window.source})",
        ),
        soft_wrap=True,
    )
    strip = Text("▕")
    drawn = 0
    running = 0
    for section, tokens in pressure.sections.items():
        running += tokens
        upto = min(wide, round(running / max(1, pressure.usable) * wide))
        strip.append("█" * (upto - drawn), _COLOURS.get(section, "white"))
        drawn = max(drawn, upto)
    strip.append("░" * (wide - drawn), "dim")
    strip.append("▏")
    out.print(strip)
    percent = round(100 * pressure.used / max(1, pressure.usable))
    out.print(
        f"{pressure.used:,} of {pressure.usable:,} usable tokens ({percent} %),"
        f" {found.window.reserve:,} kept for the reply",
        soft_wrap=True,
    )
    out.print()
    for section, tokens in pressure.sections.items():
        if not tokens:
            continue
        line = Text("  ")
        line.append("█ ", _COLOURS.get(section, "white"))
        line.append(f"{section.replace('_', ' '):<11}{tokens:>8,}  ")
        line.append(bar(tokens / max(1, pressure.usable), 20).replace("░", " ").rstrip(), "dim")
        out.print(line)
    out.print()
    percent = round(100 * pressure.ratio) if pressure.room > 0 else 100
    out.print(
        f"pressure  {pressure.paged:,} of {pressure.room:,} tokens of room ({percent} %:"
        f" {pressure.level}); warns at {pressure.warn_at:,}, flushes at {pressure.flush_at:,}",
        soft_wrap=True,
    )
    out.print(
        f"queue     {plural(found.messages, 'message')} in {plural(found.groups, 'group')},"
        f" conversation {found.conversation}",
        soft_wrap=True,
    )
    if found.pins:
        waits = {pin.target: ", not shown yet" for pin in found.pins}
        waits |= dict.fromkeys(found.pinned, "")
        pins = [f"{pin.target} ({pin.tokens:,}{waits[pin.target]})" for pin in found.pins]
        out.print(f"pins      {', '.join(pins)}", soft_wrap=True)
    if found.prefetch:
        out.print(f"prefetch  {found.prefetch_tokens:,} tokens before the last event:")
        for memory in found.prefetch.splitlines()[1:-1]:
            out.print(Text(f"          {one_line(memory)}"), soft_wrap=True)
    waiting = f" ({found.unwritten:,} not in LanceDB yet)" if found.unwritten else ""
    out.print(
        f"disk      {plural(found.recall, 'message')}{waiting}, "
        f"{plural(found.archival, 'passage')}, {plural(found.pages, 'page')}",
        soft_wrap=True,
    )
