"""`pagemind observe`: record something that happened, without a model call."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder, Wait


def observe(
    agent: AgentName,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What happened; - reads standard input.")
    ],
    source: Annotated[
        str, typer.Option("--source", metavar="SOURCE", help="Where it comes from.")
    ] = "observation",
    speaker: Annotated[
        str,
        typer.Option("--as", metavar="SPEAKER", help="Who said it, if anyone did."),
    ] = "",
    wait: Wait = 0.0,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Record something that happened: the agent sees it in its next turn, and finds it later.

    If the agent is in use, it is left in its inbox and taken up in its next turn.
    """
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.cli.session import opened, text_or_stdin
    from pagemind.runtime.errors import AgentInUse
    from pagemind.runtime.intake import checked_text

    said = checked_text(text_or_stdin(text))
    with opened(home) as runtime:
        name = runtime.home.find(agent).name
        try:
            with runtime.writer(name, wait=wait) as writer:
                message_id = writer.observe(said, source=source, speaker=speaker).short_id
                for lapsed in writer.lapsed:
                    say(lapsed)
        except AgentInUse:
            runtime.leave(name, "observe", {"text": said, "source": source, "speaker": speaker})
            message_id = None
    if as_json:
        answer({"agent": name, "id": message_id, "left": message_id is None})
    elif message_id is None:
        say(f"{name} is in use: left in its inbox, for its next turn")
    else:
        print(f"recorded as {message_id}")
    return 0
