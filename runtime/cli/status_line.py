"""The lines around a turn: the banner when a chat begins, the status after each turn."""

from typing import TYPE_CHECKING, Any

from pagemind.runtime.cli.render import ago, bar, console, money, plural

if TYPE_CHECKING:
    from pagemind.runtime.cli.opening import Greeting
    from pagemind.runtime.turn import TurnResult

_MOST_COLUMNS = 100


def banner(found: "Greeting") -> None:
    """Who answers, on which model and why; for who comes back, what was."""
    from rich.text import Text

    out = console()
    head = Text.assemble(
        (found.name, "bold"),
        f" on {found.model} ",
        (f"({found.why})", "dim"),
        f", window {found.window_tokens:,} tokens",
    )
    out.print(head, soft_wrap=True)
    if found.made:
        out.print(Text(f"a new agent, made from {found.definition}", "dim"), soft_wrap=True)
        if found.nearest:
            hint = f"(there is also {found.nearest}: did you mean that?)"
            out.print(Text(hint, "dim"), soft_wrap=True)
    elif found.messages and found.last_active_at is not None:
        used = found.window
        full = f", window {used['used'] / used['usable']:.0%} full" if used else ""
        when = ago(found.last_active_at, found.now)
        said = f"coming back: {plural(found.messages, 'message')}, {when}{full}"
        out.print(Text(said, "dim"), soft_wrap=True)
    if found.local:
        said = "a demo of the memory, not of wit; /model NAME for a real one"
        out.print(Text(said, "dim"), soft_wrap=True)


def status(result: "TurnResult", pages: int) -> None:
    """`▕███░░░░░▏ 1,604/6,963 · 3 pages · 1,204+56 tokens · $0.0012`, as far as there is room."""
    from rich.text import Text

    out = console()
    wide = min(out.width if out.is_terminal else 80, _MOST_COLUMNS) - 1
    window: Any = result.window
    fraction = window["used"] / max(1, window["usable"])
    pieces = [f"{window['used']:,}/{window['usable']:,}"]
    if pages:
        pieces.append(plural(pages, "page"))
    usage = result.usage
    if usage.prompt_tokens:
        cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
        pieces.append(f"{usage.prompt_tokens:,}{cached}+{usage.completion_tokens:,} tokens")
    if result.cost_known and result.cost:
        pieces.append(money(result.cost, True))
    pieces.append(f"{result.duration_ms / 1000:.1f} s")
    meter = 16
    while len(pieces) > 1 and meter + 3 + len(" · ".join(pieces)) > wide:
        pieces.pop()
    colour = {"warn": "yellow", "flush": "red"}.get(window["level"], "green")
    line = Text("▕", "dim")
    filled = bar(fraction, meter)
    line.append(filled.rstrip("░"), f"dim {colour}")
    line.append(filled[len(filled.rstrip("░")) :] + "▏ " + " · ".join(pieces), "dim")
    out.print(line, soft_wrap=True)
