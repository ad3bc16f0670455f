"""What a person sees of a turn while it runs: Markdown as it streams, one dim line for the rest.

→ core_append human "lives in Porto" ✓
noted: lives in Porto
paged out p3–p5, 34 messages
"""

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from pagemind.runtime.cli.consent_view import exact
from pagemind.runtime.cli.markdown import MarkdownStream
from pagemind.runtime.cli.render import console, one_line, plural, visible
from pagemind.runtime.trace import TraceEvent

_NOTES = {"core_append": "content", "core_edit": "new_text", "core_rewrite": "content"}
_MOST_COLUMNS = 110
Writing = AbstractContextManager[Any]  # a lock


class TurnView:
    """An Observer for one turn. `writing` is held while the terminal is written to; `guided`: a
    very small model's notes are shown as facts noted."""

    def __init__(self, *, guided: bool, writing: Writing | None = None) -> None:
        self._writing = writing or threading.RLock()
        self._out = console()
        self._guided = guided
        self._waiting = False  # the sign of life stands at the cursor
        self._fresh = True  # the cursor is at the start of a line
        self._calls: dict[str, str] = {}
        self._pages: list[str] = []
        self._paged = 0
        self.spoke = False
        self._ended = False
        self._markdown = markdown() if self._out.is_terminal else None
        self._speaking = False  # Markdown has begun, and may hold something back

    def __call__(self, event: TraceEvent) -> None:
        if self._ended:
            return
        show = getattr(self, f"_on_{event.kind}", None)
        if show is not None:
            with self._writing:
                show(event.data)

    def end(self) -> None:
        """Leave the cursor at the start of a line. What the agent does later is not shown."""
        with self._writing:
            self._break()
        self._ended = True

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Something else is written meanwhile, from the start of a line; what still runs is shown
        again after it."""
        with self._writing:
            self._break()
        yield
        with self._writing:
            self._fresh = True
            for said in list(self._calls.values())[-1:]:
                self._wait(self._cut(said))

    # --- events ---------------------------------------------------------------------------------

    def _on_model_called(self, data: Any) -> None:
        self._break()
        self._wait("…")

    def _on_model_retrying(self, data: Any) -> None:
        self._line(f"{data['why']}; trying again in {data['seconds']:.0f} s")
        self._wait("…")

    def _on_text_delta(self, data: Any) -> None:
        self._say(visible(data["text"]))

    def say(self, text: str) -> None:
        """A piece of the answer."""
        with self._writing:
            self._say(visible(text))

    def _say(self, text: str) -> None:
        if not self.spoke or self._fresh:
            text = text.lstrip("\n")
        if not text:
            return
        self._erase()
        if self._markdown is None:
            self._write(text)
            self._fresh = text.endswith("\n")
        else:
            self._markdown.feed(text)
            sys.stdout.flush()
            self._speaking, self._fresh = True, False
        self.spoke = True

    def _on_tool_called(self, data: Any) -> None:
        name, arguments = data["name"], data["arguments"]
        if self._guided and name in _NOTES:
            said = f"noted: {one_line(str(arguments.get(_NOTES[name], '')))}"
        else:
            said = f"→ {name} {_told(arguments)}".rstrip()
        self._calls[data["id"]] = said
        self._break()
        self._wait(self._cut(said))

    def _on_tool_returned(self, data: Any) -> None:
        said = self._calls.pop(data["id"], f"→ {data['name']}")
        if not data["ok"]:
            why = one_line(data["text"])
            said = f"not {said}" if said.startswith("noted:") else said
            self._line(f"{self._cut(said, 40)} ✗ {why}" if why else f"{said} ✗")
        else:
            self._line(said if said.startswith("noted:") else f"{self._cut(said, 2)} ✓")

    def _on_warned(self, data: Any) -> None:
        self._line(f"the window is {data['ratio']:.0%} full: the agent was warned")

    def _on_flush_started(self, data: Any) -> None:
        self._pages, self._paged = [], 0
        self._break()
        self._wait("paging out …")

    def _on_page_written(self, data: Any) -> None:
        self._pages.append(data["id"])
        self._paged += data["last_seq"] - data["first_seq"] + 1

    def _on_flush_ended(self, data: Any) -> None:
        if self._pages:
            self._line(paged_out(self._pages, self._paged))
        else:
            self._erase()

    # --- the terminal ---------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        """A dim line of its own."""
        self._break()
        self._dim(self._cut(text))
        self._write("\n")

    def _wait(self, text: str) -> None:
        """A sign of life, which the next thing replaces. Only where someone watches."""
        if self._out.is_terminal:
            self._dim(text)
            self._waiting, self._fresh = True, False

    def _erase(self) -> None:
        if self._waiting:
            self._write("\r\x1b[K")
            self._waiting, self._fresh = False, True

    def _break(self) -> None:
        self._erase()
        if self._markdown is not None and self._speaking:
            self._markdown.end()
            sys.stdout.flush()
            self._speaking, self._fresh = False, True
        if not self._fresh:
            self._write("\n")
            self._fresh = True

    def _cut(self, text: str, reserve: int = 0) -> str:
        """No wider than the terminal, so that it can be replaced and stays one line."""
        room = min(self._out.width if self._out.is_terminal else 10_000, _MOST_COLUMNS) - 1
        room -= reserve
        return text if len(text) <= room else text[: room - 1] + "…"

    def _dim(self, text: str) -> None:
        from rich.text import Text

        self._out.print(Text(text, "dim"), end="", soft_wrap=True)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def markdown() -> MarkdownStream:
    """Markdown on standard output, a terminal."""
    return MarkdownStream(
        lambda text: print(text, end=""),
        _columns,
        coloured=not os.environ.get("NO_COLOR"),
    )


def _columns() -> int:
    """Asked for at each line: a terminal may be resized while an answer streams."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def paged_out(pages: list[str], messages: int) -> str:
    """`paged out p3–p5, 34 messages`"""
    span = pages[0] if len(pages) == 1 else f"{pages[0]}–{pages[-1]}"
    return f"paged out {span}, {plural(messages, 'message')}"


def _told(arguments: dict[str, Any]) -> str:
    """Arguments as a person would say them: words bare, texts quoted."""
    told = []
    for value in arguments.values():
        if isinstance(value, str):
            word = value.replace("_", "").isalnum() and len(value) <= 24
            told.append(
                value if word else json.dumps(exact(" ".join(value.split())), ensure_ascii=False)
            )
        elif value is not None:
            told.append(json.dumps(value, ensure_ascii=False))
    return " ".join(told)
