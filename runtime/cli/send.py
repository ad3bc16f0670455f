"""`pagemind send`: one message to an agent, for scripts and pipes."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import (
    AgentName,
    AsJson,
    DefinitionName,
    HomeFolder,
    ModelName,
    NoContent,
    Speaker,
    TraceTo,
    Wait,
    WithOtel,
)

if TYPE_CHECKING:
    from pagemind.runtime.agent import Agent
    from pagemind.runtime.cancel import CancelToken
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.turn import TurnResult

_CODES = {"answered": 0, "model_error": 4, "interrupted": 130}
_LIMIT_REACHED = 5


def send(
    agent: AgentName,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What to say; - reads standard input.")
    ],
    definition: DefinitionName = None,
    model: ModelName = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="Your id of the message: sent again, it is answered once."
        ),
    ] = None,
    speaker: Speaker = "user",
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", metavar="FILE", help="Send an image along; repeatable."),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema",
            metavar="FILE",
            help="A JSON schema that the answer must fit; its value is printed.",
        ),
    ] = None,
    wait: Wait = 0.0,
    trace: TraceTo = None,
    no_content: NoContent = False,
    otel: WithOtel = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Say something to an agent and print its answer.

    An agent that does not exist is made first. The exit code is 0 for an answer, 4 if the model
    failed or no answer fits the schema, 5 if a limit ended the turn, 75 if the agent is in use.
    """
    from pagemind.runtime.cli.interrupt import stop_on_interrupt
    from pagemind.runtime.cli.session import Watching, opened, text_or_stdin

    watching = Watching(trace, not no_content, otel).checked()
    wanted = None
    if schema is not None:
        from pagemind.runtime.structured import load_schema

        wanted = load_schema(schema)
    said = text_or_stdin(text)
    with opened(home, watching) as runtime:
        one = _open(runtime, agent, definition, model, wait)
        with stop_on_interrupt() as cancel:
            if wanted is not None:
                result = one.send(
                    said, speaker=speaker, id=id, images=image or (), schema=wanted, cancel=cancel
                )
                return _show_value(result, as_json)
            result = _turn(one, said, speaker, id, image or (), cancel, live=not as_json)
    return _show(result, as_json)


def _open(
    runtime: "Runtime", name: str, definition: str | None, model: str | None, wait: float
) -> "Agent":
    from pagemind.runtime.cli.failure import say

    known = runtime.home.exists(name)
    agent = runtime.agent(name, definition, model=model, wait=wait)
    if not known:
        say(f"made {agent.name} from {runtime.home.find(name).definition}")
    elif definition is not None:
        say(
            f"{agent.name} exists and keeps its definition; "
            f"`pagemind agents update {agent.name} -d {definition}` changes it"
        )
    return agent


def _turn(
    agent: "Agent",
    text: str,
    speaker: str,
    id: str | None,
    images: Sequence[Path],
    cancel: "CancelToken",
    *,
    live: bool,
) -> "TurnResult":
    """Where a person watches, the answer streams."""
    if not (live and sys.stdout.isatty()):
        result = agent.send(text, speaker=speaker, id=id, images=images, cancel=cancel)
        if live and result.text:
            print(result.text)
        return result
    from pagemind.runtime.cli.turn_view import TurnView

    view = TurnView(guided=False)
    result = agent.send(text, speaker=speaker, id=id, images=images, cancel=cancel, observer=view)
    if not view.spoke and result.text:  # a stored answer is not streamed again
        view.say(result.text)
    view.end()
    return result


def _show_value(result: "TurnResult", as_json: bool) -> int:
    """The value that was asked for, or why there is none."""
    import json

    from pagemind.runtime.cli.failure import say, say_error
    from pagemind.runtime.cli.render import answer

    if result.stop_reason != "answered":
        return _show(result, as_json)
    if as_json:
        answer({"data": None, **result.as_json()})
    elif result.data is not None:
        print(json.dumps(result.data, ensure_ascii=False))
    for warning in result.warnings:
        say(warning)
    if result.data is None:
        if not as_json:
            say_error("no answer fits the schema", "; ".join(result.reasons))
        return 4
    return 0


def _show(result: "TurnResult", as_json: bool) -> int:
    from pagemind.runtime.cli.failure import say, say_error
    from pagemind.runtime.cli.render import answer

    failed = result.error
    if as_json:
        body = result.as_json()
        if failed is not None:
            body["error"] = failed.as_json()
        answer(body)
    for warning in result.warnings:
        say(warning)
    if failed is not None and not as_json:
        say_error(failed.message, failed.hint)
    elif result.stop_reason != "answered" and not as_json:
        say("stopped: " + ("; ".join(result.reasons) or result.stop_reason))
    return _CODES.get(result.stop_reason, _LIMIT_REACHED)
