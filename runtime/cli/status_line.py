"""The lines around a turn: the banner when a chat begins, and the line of status under the prompt.

`ada · openai/gpt-4o-mini ▕███░░░░░▏ 1,604/6,963 · 3 pages · 1,204+56 tokens $0.0012 · day $0.03`
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pagemind.runtime.cli.render import ago, bar, console, money, plural
from pagemind.runtime.cli.spent import Day, Spent
from pagemind.runtime.cli.wrapping import cells

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.cli.opening import Greeting

_METER = 10
_LEVELS = {"normal": "ansigreen", "warn": "ansiyellow", "flush": "ansired"}
_MODEL_COLUMNS = 32
Fragment = tuple[str, str]  # a style, and a text


@dataclass(frozen=True, slots=True)
class Status:
    """What the line says. `turn` is None before the first turn of this chat."""

    agent: str
    model: str
    used: int
    usable: int
    level: str
    pages: int
    day: Day
    turn: Spent | None = field(default=None)

    @classmethod
    def of(cls, agent: "Agent", day: Day, turn: Spent | None) -> "Status":
        """As things stand now."""
        pressure = agent.queue_manager.measure()
        return cls(
            agent.name,
            agent.model.name,
            pressure.used,
            pressure.usable,
            str(pressure.level),
            agent.state.pages.count(),
            day,
            turn,
        )

    def fragments(self, width: int) -> list[Fragment]:
        """The line in pieces, without those that have no room; the most needed go last."""
        fraction = self.used / max(1, self.usable)
        filled = bar(fraction, _METER).rstrip("░")
        colour = _LEVELS.get(self.level, "")
        level = "" if self.level == "normal" else f" {self.level}"
        window = [
            ("", "▕"),
            (colour, filled),
            ("", "░" * (_METER - len(filled)) + f"▏ {self.used:,}/{self.usable:,}"),
            (colour, level),
        ]
        # From the least needed to what is never left out.
        for spare in ("", "day tokens", "turn", "model", "day", "pages", "agent"):
            line = [*window] if spare == "agent" else self._line(window, spare)
            if sum(cells(text) for _, text in line) <= width:
                return line
        return window

    def _line(self, window: list[Fragment], spare: str) -> list[Fragment]:
        """Without `spare` and all that is needed less."""
        order = ["day tokens", "turn", "model", "day", "pages"]
        gone = set(order[: order.index(spare) + 1]) if spare in order else set()
        model = _last_columns(self.model, _MODEL_COLUMNS)
        head = self.agent if "model" in gone else f"{self.agent} · {model}"
        tail = []
        if "pages" not in gone and self.pages:
            tail.append(plural(self.pages, "page"))
        if "turn" not in gone and self.turn is not None and self.turn.tokens:
            tail.append(f"turn {self.turn.sent:,}+{self.turn.received:,} tokens{_cost(self.turn)}")
        if "day" not in gone and self.day.spent.tokens:
            spent = self.day.spent
            tokens = "" if "day tokens" in gone and spent.cost else f" {spent.tokens:,} tokens"
            tail.append(f"day{tokens}{_cost(spent)}")
        return [("", f"{head} "), *window, ("", "".join(f" · {each}" for each in tail))]


def _cost(spent: Spent) -> str:
    return f" {money(spent.cost, spent.known)}" if spent.cost else ""


def _last_columns(text: str, most: int) -> str:
    """The end of a name says more than its start."""
    return text if len(text) <= most else "…" + text[1 - most :]


def print_status(status: Status) -> None:
    """The line where there is no prompt to stand under."""
    from rich.text import Text

    out = console()
    line = Text()
    for colour, text in status.fragments(out.width - 1 if out.is_terminal else 100):
        line.append(text, f"dim {colour.removeprefix('ansi')}".strip())
    out.print(line, soft_wrap=True)


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
