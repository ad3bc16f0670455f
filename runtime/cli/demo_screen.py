"""The screen of `pagemind demo`: a live picture of the window, the kill, the count, the answers.

Where nobody watches (a pipe, CI) the same is printed once, when it is over.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import shorten
from threading import Event
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pagemind.runtime.cli.render import one_line
from pagemind.runtime.demo.asking import Answered
from pagemind.runtime.demo.forgetting import Forgotten
from pagemind.runtime.demo.stage import WINDOW
from pagemind.runtime.demo.talk import EXCHANGES
from pagemind.runtime.demo.tally import Check, Tally
from pagemind.runtime.demo.walk import Walked
from pagemind.runtime.settings import FANOUT

_WIDE = 80  # the picture is made for it; a wider terminal leaves it alone
_BAR = 34
_LABEL = 11
_MESSAGES = 2 * EXCHANGES
_COLOURS = {
    "system": "blue",
    "tools": "bright_blue",
    "core": "cyan",
    "summary": "magenta",
    "page_table": "bright_magenta",
    "queue": "green",
}
_LEVELS = {"normal": "green", "warn": "yellow", "flush": "red"}
_GIST = 60  # characters
_HOLD_SECONDS = 1.6  # so that the kill is seen


class Screen:
    """Entered while the talk pours. `live`: somebody watches a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.live = console.is_terminal
        self._width = min(_WIDE, console.width)
        self._picture: Live | None = None
        self._tally = Tally()
        self._dead = False
        self._embedding = False

    # --- the talk pours -------------------------------------------------------------------------

    def __enter__(self) -> "Screen":
        self._say(
            Text.assemble(
                ("pagemind demo", "bold"),
                "  no model, no key, no network: a script plays the model.\n",
                ("The kernel, the database, LanceDB and the local embedder are real.", "dim"),
            )
        )
        self._head(1, f"{_MESSAGES} messages pour through a window of {WINDOW:,} tokens")
        if self.live:
            self._picture = Live(
                self._pouring(), console=self._console, refresh_per_second=15, transient=False
            )
            self._picture.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._picture is not None:
            self._picture.update(self._pouring(), refresh=True)
            self._picture.stop()
            self._picture = None
        else:
            self._console.print(self._pouring())

    def pour(self, what: str, tally: Tally) -> None:
        """Something happened in the process that talks."""
        self._tally = tally
        self._dead = what == "killed"
        self._embedding = what == "embedding"
        if self._picture is not None:
            self._picture.update(self._pouring(), refresh=self._dead)
            if self._dead:
                Event().wait(_HOLD_SECONDS)

    def _pouring(self) -> Padding:
        tally = self._tally
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=_LABEL, style="dim", no_wrap=True)
        grid.add_column(no_wrap=True, overflow="ellipsis", width=self._width - _LABEL - 5)
        used = sum(tally.sections.values())
        level = tally.level if tally.sections else "normal"
        grid.add_row(
            "window",
            Text.assemble(
                _stack(tally),
                f" {used:,} of {tally.usable:,} tokens ",
                (level, _LEVELS.get(level, "")),
            ),
        )
        grid.add_row("", _legend())
        grid.add_row(
            "said",
            Text.assemble(
                _filled(tally.messages / _MESSAGES, "white"),
                f" {tally.messages} of {_MESSAGES} messages",
                (", embedding …" if self._embedding else "", "dim"),
            ),
        )
        grid.add_row("", "")
        most = max(tally.tokens_replay, tally.tokens_sent, 1)
        grid.add_row(
            "sent",
            Text.assemble(
                _filled(tally.tokens_sent / most, "green"), f" {tally.tokens_sent:,} tokens"
            ),
        )
        grid.add_row(
            "replay",
            Text.assemble(
                _filled(tally.tokens_replay / most, "red"),
                f" {tally.tokens_replay:,} tokens",
            ),
        )
        grid.add_row("", Text("replay: the whole history sent again at every turn", "dim"))
        grid.add_row("", "")
        grid.add_row(Text("WARN", "yellow"), self._warned())
        grid.add_row(Text("FLUSH", "red"), self._flushed())
        grid.add_row("", "")
        grid.add_row(Text("kill -9", "bold red" if tally.kill else "dim"), self._kill())
        return Padding(grid, (0, 0, 0, 3))

    def _warned(self) -> Text:
        tally = self._tally
        text = Text(f"{tally.warnings:>3} × ")
        if tally.last_kept:
            text.append(f"→ archival_insert({one_line(tally.last_kept)!r})", "dim")
        return text

    def _flushed(self) -> Text:
        tally = self._tally
        text = Text(f"{tally.flushes:>3} × ")
        if tally.last_pages:
            text.append("→ ", "dim")
            text.append(", ".join(tally.last_pages), "cyan")
            text.append(f" written; {tally.pages} pages now", "dim")
        return text

    def _kill(self) -> Text:
        kill = self._tally.kill
        if kill is None:
            return Text("comes in the middle of a flush, half-way", "dim")
        text = Text(f"in flush {kill.flush}, pages made but not committed")
        if self._dead:
            text.append("  † dead", "bold red")
        elif kill.reopened_ms:
            text.append(f"; back in {kill.reopened_ms:,.0f} ms", "green")
        return text

    # --- what is there --------------------------------------------------------------------------

    def check(self, check: Check, tally: Tally) -> None:
        """The count after the kill."""
        kill = tally.kill
        assert kill is not None
        self._head(2, "What is there after the kill")
        row = Table.grid(padding=(0, 4))
        for _ in range(3):
            row.add_column(justify="right")
        row.add_row(*(Text(t, "dim") for t in ("acknowledged", "found", "twice")))
        good = check.found == check.acknowledged and not check.twice
        style = "bold green" if good else "bold red"
        row.add_row(*(Text(str(n), style) for n in (check.acknowledged, check.found, check.twice)))
        self._console.print(Padding(row, (0, 0, 1, 3)))
        self._line(
            f"{kill.acknowledged} were acknowledged when the process died;"
            f" {kill.found_at_start} were on disk."
        )
        self._line(
            f"{kill.resent} were sent again with their ids: {kill.answered_from_store} were"
            " answered from the store, none was stored again."
        )
        self._line(
            f"{check.in_pages} lie in {check.pages} pages, {check.in_window} still stand in the"
            f" window, {check.homeless} nowhere."
        )

    # --- questions ------------------------------------------------------------------------------

    def invite(self, prepared: Sequence[str]) -> None:
        """What may be asked; nothing to choose from where nobody chooses."""
        self._head(3, "Ask about anything that was said")
        for number, question in enumerate(prepared, 1):
            self._line(f"{number}  {question}")
        if prepared:
            self._line("A number, or words of your own; an empty line ends.", "dim")

    def questions(self, prepared: Sequence[str]) -> Iterator[str]:
        """What the person types, until an empty line or Ctrl-D."""
        while True:
            try:
                typed = self._console.input(Text("\n   you       ", "bold")).strip()
            except EOFError:
                self._console.print()
                return
            if not typed:
                return
            if typed.isdecimal() and 1 <= int(typed) <= len(prepared):
                typed = prepared[int(typed) - 1]
                self._row("", Text(typed))
            yield typed

    def asked(self, question: str) -> None:
        """A question that nobody had to type."""
        self._console.print()
        self._row("you", Text(question), "bold")

    def call(self, what: str, data: dict[str, Any]) -> None:
        """A function that the agent calls, what came back, or a flush."""
        if what == "called":
            given = ", ".join(f"{k}={v!r}" for k, v in data["arguments"].items())
            self._row("", Text(f"→ {data['name']}({given})", "dim cyan"), wrap=False)
        elif what == "flushed":
            self._row("", Text(f"FLUSH: {data['freed']} tokens paged out", "dim red"))
        else:
            first = data["text"].splitlines()[0] if data["text"] else ""
            self._row("", Text(f"← {one_line(first)}", "dim"), wrap=False)

    def answer(self, answered: Answered) -> None:
        """The answer, and what the others would know."""
        self._row("agent", Text(answered.answer), "bold green")
        if not answered.quote:
            return
        self._console.print()
        ago = f"{answered.messages_ago} messages ago"
        self._row(
            "",
            _known(
                "pagemind",
                answered.exact,
                f"word for word, from {ago}" if answered.exact else "not word for word",
            ),
        )
        since = f"{answered.window_since:%-d %B}" if answered.window_since else ""
        reach = f"its {answered.window_messages} messages begin on {since}"
        there = "in view: " if answered.window_knows else "gone: "
        self._row("", _known("sliding window", answered.window_knows, there + reach))
        has, telling = len(answered.summary_has), len(answered.telling)
        self._row(
            "",
            _known(
                "summary",
                has == telling,
                f"{has} of the {telling} telling words, in {answered.summary_tokens} tokens",
            ),
        )

    def walk(self, walked: Walked) -> None:
        """The way down the tree, a line for each read, and what stood at its end."""
        self._head(4, "Walk the tree of pages to an old one: no search, page_in only")
        self._row("you", Text(walked.answered.question), "bold")
        for step in walked.steps:
            gist = shorten(one_line(step.gist), _GIST, placeholder=" …")
            self._row(f"→ {step.id}", Text.assemble(step.span, (f" {gist}", "dim")), wrap=False)
        self._row("agent", Text(walked.answered.answer), "bold green")
        self._console.print()
        style = "green" if walked.found and walked.reads <= walked.bound else "red"
        self._line(
            f"{walked.reads} reads, where the bound is ⌈log{FANOUT}({walked.pages} pages)⌉ + 1 ="
            f" {walked.bound}.",
            style,
        )
        if walked.calls > walked.reads:
            self._line(f"{walked.calls} calls: the parts of one listing count as one read.", "dim")

    def forgotten(self, forgotten: Forgotten) -> None:
        """What went with the message, what was read to prove it, and the question once more."""
        self._head(5, "Erase what it has just found, for good")
        receipt = forgotten.receipt
        self._row("you", Text(f"pagemind memory erase demo --id {forgotten.message}"), "bold")
        counts = [f"{number:,} {what}" for what, number in receipt.erased.to_dict().items()]
        self._line(f"erased: {', '.join(counts)}")
        looked = receipt.looked
        style = "green" if receipt.verified else "red"
        self._line(
            f"read to prove it: {looked['rows']:,} rows, {looked['files']:,} files,"
            f" {looked['bytes'] / 1e6:.1f} MB; left of it: {len(receipt.found)}",
            style,
        )
        for each in receipt.unverifiable:
            self._line(f"nobody can show: {each}", "dim")
        self._row("you", Text(forgotten.after.question), "bold")
        self._row("agent", Text(forgotten.after.answer), "bold green" if forgotten.gone else "red")

    def end(self, home: Path | None, seconds: float | None) -> None:
        """Where to go from here; how long it took, where nobody made it wait."""
        self._console.print()
        if seconds is not None:
            self._line(f"{seconds:.1f} seconds in all.", "dim")
        if home is not None:
            self._line(f"pagemind inspect demo --home {home}", "cyan")
        self._line("pagemind chat        talks to a model of yours, or to the embedded one", "cyan")

    # --- lines ----------------------------------------------------------------------------------

    def _head(self, number: int, text: str) -> None:
        self._console.print(Text.assemble(f"\n{number}  ", (text, "bold")))
        self._console.print()

    def _say(self, text: Text) -> None:
        self._console.print(text)

    def _line(self, text: str, style: str = "") -> None:
        self._console.print(
            Padding(Text(text, style), (0, 0, 0, 3), expand=False), width=self._width
        )

    def _row(self, label: str, text: Text, style: str = "", *, wrap: bool = True) -> None:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=_LABEL - 2, no_wrap=True)
        grid.add_column(
            width=self._width - _LABEL - 3 if self.live else None,
            no_wrap=not wrap,
            overflow="fold" if wrap else "ellipsis",
        )
        grid.add_row(Text(label, style), text)
        self._console.print(Padding(grid, (0, 0, 0, 3), expand=False))


def _filled(share: float, colour: str) -> Text:
    full = round(min(1.0, share) * _BAR)
    return Text.assemble(("█" * full, colour), ("░" * (_BAR - full), "dim"))


def _stack(tally: Tally) -> Text:
    """The window as a bar: a colour for each section, as wide as its share of tokens."""
    bar, done, tokens = Text(), 0, 0
    for name, colour in _COLOURS.items():
        tokens += tally.sections.get(name, 0)
        upto = min(_BAR, round(_BAR * tokens / max(1, tally.usable)))
        bar.append("█" * (upto - done), colour)
        done = max(done, upto)
    bar.append("░" * (_BAR - done), "dim")
    return bar


def _legend() -> Text:
    text = Text()
    for name, colour in _COLOURS.items():
        text.append("■ ", colour)
        text.append(f"{name.replace('_', ' ')}  ", "dim")
    return text


def _known(name: str, knows: bool, detail: str) -> Text:
    mark = ("✓ ", "green") if knows else ("✗ ", "red")
    return Text.assemble(mark, (f"{name:<16}", "bold" if knows else ""), detail)
