"""/help: the table of commands as a person reads it."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from pagemind.runtime.cli.commands.command import Command
from pagemind.runtime.errors import UserError

KEYS = (
    ("Enter", "sends"),
    ("Alt-Enter", "begins a new line"),
    ("Tab", "completes commands, agents, blocks, ids, models, files"),
    ("Ctrl-R", "searches what you typed before"),
    ("Ctrl-C", "stops the turn; twice at the prompt leaves"),
    ("Ctrl-D", "leaves"),
)


def print_help(sections: Mapping[str, Sequence[Command]], name: str) -> None:
    """All of it, or one command. Raises UserError for one that is not there."""
    from rich.text import Text

    from pagemind.runtime.cli.render import console

    out = console()
    every = {command.name: command for commands in sections.values() for command in commands}
    if name:
        command = every.get(name if name.startswith("/") else f"/{name}")
        if command is None:
            raise unknown(name, every)
        out.print(Text.assemble((command.usage, "cyan"), "  ", command.about), soft_wrap=True)
        return
    rows = {
        section: [(command.usage, command.about) for command in commands]
        for section, commands in sections.items()
    }
    rows["Keys"] = list(KEYS)
    width = max(len(usage) for some in rows.values() for usage, _ in some)
    for section, some in rows.items():
        out.print(Text(section, "bold"))
        for usage, about in some:
            out.print(_row(usage, about, width, out.width))


def _row(usage: str, about: str, width: int, room: int) -> "object":
    """What it does beside its name; wrapped lines stand under it."""
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 2, 0, 0), collapse_padding=True)
    line.add_column(width=width + 2, no_wrap=True)
    line.add_column(width=max(10, min(room, 100) - width - 4))
    line.add_row(Text(f"  {usage}", "cyan"), about)
    return line


def unknown(name: str, every: Mapping[str, Command]) -> UserError:
    """There is no such command, but perhaps one that is nearly written so."""
    slashed = name if name.startswith("/") else f"/{name}"
    close = get_close_matches(slashed, every, n=1)
    nearest = f"did you mean {close[0]}?" if close else "/help lists them"
    return UserError(
        f"there is no command {slashed}",
        hint=f"{nearest} (a space before the slash sends it as text)",
    )
