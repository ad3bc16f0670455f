"""What every command does first and last: open the home, read what was said, ask before harm."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pagemind.runtime.errors import UserError
from pagemind.runtime.settings import MAX_MESSAGE_BYTES, home_path

if TYPE_CHECKING:
    from pagemind.runtime.runtime import Runtime


@contextmanager
def opened(home: str | None) -> Iterator["Runtime"]:
    """The runtime of the home, closed afterwards."""
    from pagemind.runtime.cli import logs
    from pagemind.runtime.runtime import Runtime

    with Runtime(home) as runtime:
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
