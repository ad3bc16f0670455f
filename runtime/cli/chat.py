"""`pagemind chat`: talk to an agent, line by line.

The prompt stands before any library is loaded (opening.py); a turn runs in the main thread, so
that Ctrl-C reaches it. Where standard input is not a terminal, each of its lines is one turn.
"""

import sys
from typing import Annotated

import typer

from pagemind.runtime.cli.options import DefinitionName, HomeFolder, ModelName, Speaker, Wait


def chat(
    agent: Annotated[
        str,
        typer.Argument(metavar="AGENT", help="An agent, new or known; default: the one used last."),
    ] = "",
    definition: DefinitionName = None,
    model: ModelName = None,
    speaker: Speaker = "user",
    wait: Wait = 0.0,
    home: HomeFolder = None,
) -> int:
    """Talk to an agent; it remembers.

    Without AGENT it is the one used last, or a new assistant. Ctrl-C stops a turn, Ctrl-D leaves.
    Lines that are piped in are one turn each.
    """
    from pagemind.runtime.cli.opening import Wanted
    from pagemind.runtime.cli.talk import Talk

    wanted = Wanted(agent, definition, model, home, wait)
    talk = Talk(wanted, speaker, watched=sys.stdout.isatty())
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return talk.over(
            line.decode("utf-8", "replace").rstrip("\r\n") for line in sys.stdin.buffer
        )
    # All that the first prompt needs, and nothing else.
    from pagemind.runtime.cli.editor import Editor, PasteInput
    from pagemind.runtime.cli.slash import COMMANDS
    from pagemind.runtime.settings import home_path

    history = home_path(home) / "chat_history"
    return talk.at(Editor(history, list(COMMANDS), PasteInput(sys.stdin)))
