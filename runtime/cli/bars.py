"""A progress bar for a person: on standard error, and only where that is a terminal."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


def bar_of(*columns: "ProgressColumn") -> "Progress":
    """It goes away when it ends."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
