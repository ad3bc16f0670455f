"""/help: the table of commands as a person reads it."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from textwrap import wrap

from pagemind.runtime.cli.commands.command import Command
from pagemind.runtime.errors import UserError

_MOST_COLUMNS = 100
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
            first, *more = wrap(about, max(20, min(out.width, _MOST_COLUMNS) - width - 5))
            line = Text.assemble((f"  {usage:<{width}}", "cyan"), f"  {first}")
            out.print(line, soft_wrap=True)
            for rest in more:
                out.print(" " * (width + 4) + rest, soft_wrap=True)


def unknown(name: str, every: Mapping[str, Command]) -> UserError:
    """There is no such command, but perhaps one that is nearly written so."""
    slashed = name if name.startswith("/") else f"/{name}"
    close = get_close_matches(slashed, every, n=1)
    nearest = f"did you mean {close[0]}?" if close else "/help lists them"
    return UserError(
        f"there is no command {slashed}",
        hint=f"{nearest} (a space before the slash sends it as text)",
    )
