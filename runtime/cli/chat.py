"""`pagemind chat`: talk to an agent, line by line.

The prompt stands before any library is loaded (opening.py); a turn runs in the main thread, so
that Ctrl-C reaches it. Where standard input is not a terminal, each of its lines is one turn.
"""

import os
import sys
from typing import Annotated

import typer

from pagemind.runtime.cli.options import (
    DefinitionName,
    HomeFolder,
    ModelName,
    NoContent,
    Speaker,
    TraceTo,
    Wait,
    WithOtel,
)
from pagemind.runtime.cli.shell_completion import agent_names


def chat(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="An agent, new or known; default: the one used last.",
            autocompletion=agent_names,
        ),
    ] = "",
    definition: DefinitionName = None,
    model: ModelName = None,
    speaker: Speaker = "user",
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Text as it comes: no colours, no line editor. So it is when piped."
        ),
    ] = False,
    wait: Wait = 0.0,
    trace: TraceTo = None,
    no_content: NoContent = False,
    otel: WithOtel = False,
    home: HomeFolder = None,
) -> int:
    """Talk to an agent; it remembers.

    Without AGENT it is the one used last, or a new assistant. /help lists what can be typed beside
    messages. Ctrl-C stops a turn, Ctrl-D leaves. Lines that are piped in are one turn each.
    """
    from pagemind.runtime.cli.opening import Wanted
    from pagemind.runtime.cli.session import Watching
    from pagemind.runtime.cli.talk import Talk

    watching = Watching(trace, not no_content, otel).checked()
    wanted = Wanted(agent, definition, model, home, wait, watching)
    plain = plain or os.environ.get("TERM") == "dumb"
    talk = Talk(wanted, speaker, watched=sys.stdout.isatty() and not plain)
    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return talk.over(
            line.decode("utf-8", "replace").rstrip("\r\n") for line in sys.stdin.buffer
        )
    # All that the first prompt needs, and nothing else.
    from pagemind.runtime.cli.completion import ChatCompleter
    from pagemind.runtime.cli.editor import Editor
    from pagemind.runtime.cli.paste_input import PasteInput
    from pagemind.runtime.settings import home_path

    editor = Editor(
        home_path(home) / "chat_history",
        PasteInput(sys.stdin),
        completer=ChatCompleter(talk.opened),
        status=talk.status,
    )
    return talk.at(editor)
