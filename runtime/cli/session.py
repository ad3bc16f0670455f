"""What every command does first and last: open the home, read what was said, ask before harm."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pagemind.runtime.errors import UserError
from pagemind.runtime.settings import MAX_MESSAGE_BYTES, home_path

if TYPE_CHECKING:
    from pagemind.runtime.clock import Clock
    from pagemind.runtime.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Watching:
    """Where what happens is written to, besides the agents themselves."""

    trace: Path | None = None
    content: bool = True
    otel: bool = False

    def checked(self) -> "Watching":
        """Raises UserError for what cannot be, before anything is loaded or made."""
        if not self.content and self.trace is None:
            raise UserError("--no-content is about a trace", hint="say --trace FILE, too")
        if self.trace is not None:
            from pagemind.runtime.trace_file import TraceFile

            TraceFile(self.trace).close()
        return self

    def open(self, home: str | None, clock: "Clock | None" = None) -> "Runtime":
        """The runtime of a home, watched so. Raises UserError, MissingExtra."""
        from pagemind.runtime.clock import SystemClock
        from pagemind.runtime.config import load
        from pagemind.runtime.recorder import Recorder
        from pagemind.runtime.runtime import Runtime
        from pagemind.runtime.spans import wanted

        recorder = None
        if self.trace is not None:
            recorder = Recorder(self.trace, SystemClock(), content=self.content)
        asked = self.otel
        if not asked and home != ":memory:":
            asked = load(home_path(home)).otel or False
        return Runtime(home, clock=clock, trace=recorder, watch=wanted(asked=asked))


UNWATCHED = Watching()


@contextmanager
def opened(
    home: str | None, watching: Watching = UNWATCHED, clock: "Clock | None" = None
) -> Iterator["Runtime"]:
    """The runtime of the home, closed afterwards; by default with the machine's clock."""
    from pagemind.runtime.cli import logs

    with watching.open(home, clock) as runtime:
        if home != ":memory:":
            logs.keep_in(home_path(home))
        yield runtime


def text_or_stdin(text: str) -> str:
    """The text, or all of standard input for `-`. Bytes that are not UTF-8 become U+FFFD."""
    if text != "-":
        return text
    # One byte more than is allowed is enough to be refused.
    data = sys.stdin.buffer.read(MAX_MESSAGE_BYTES + 1)
    return data.decode("utf-8-sig", "replace").removesuffix("\n")


def confirmed(question: str, *, yes: bool, doing: str) -> bool:
    """Whether the person wants it. Where nobody can be asked, only --yes is an answer."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError(f"{doing} is not done without being asked", hint="say --yes")
    import typer

    return typer.confirm(question, err=True)
