"""The commands of the chat: the table that help, completion and argument checks are made from.

run() carries out one line; whatever it can get wrong is told in one line. A new command is a
function in one of the files here, and its row in that file's table.
"""

from pagemind.runtime.cli.commands import (
    asking,
    erasing,
    going_back,
    paging,
    remembering,
    talking,
    vouching,
    window,
)
from pagemind.runtime.cli.commands.command import Command, Leave, Scene
from pagemind.runtime.cli.commands.helping import print_help, unknown

__all__ = ["COMMANDS", "SECTIONS", "Command", "Leave", "Scene", "is_command", "run"]


def _help(scene: Scene, rest: str) -> None:
    print_help(SECTIONS, rest)


def _quit(scene: Scene, rest: str) -> None:
    raise Leave


SECTIONS: dict[str, tuple[Command, ...]] = {
    "Talk": talking.COMMANDS,
    "Memory": (
        *remembering.COMMANDS,
        *erasing.COMMANDS,
        *asking.COMMANDS,
        *vouching.COMMANDS,
    ),
    "Going back": going_back.COMMANDS,
    "Pages": paging.COMMANDS,
    "The window": window.COMMANDS,
    "The chat": (
        Command("/help", "[COMMAND]", "this list, or one command", _help, "command"),
        Command("/quit", "", "leave, as Ctrl-D does", _quit),
    ),
}
COMMANDS: dict[str, Command] = {
    command.name: command for section in SECTIONS.values() for command in section
}


def is_command(line: str) -> bool:
    """Whether a line is one, rather than text: a path that a file was dropped for is none."""
    name = line.split(maxsplit=1)[0] if line.strip() else ""
    return line.startswith("/") and (name in COMMANDS or "/" not in name[1:])


def run(scene: Scene, line: str) -> None:
    """Carry out one line. Raises Leave, or a UserError for what is no command or no use of it."""
    name, _, rest = line.strip().partition(" ")
    command = COMMANDS.get(name)
    if command is None:
        raise unknown(name, COMMANDS)
    command.check(rest.strip())
    command.run(scene, rest.strip())
