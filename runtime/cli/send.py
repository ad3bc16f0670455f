"""`pagemind send`: one message to an agent, for scripts and pipes."""

import sys
from collections.abc import Callable
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
    from pagemind.runtime.runtime import Runtime
    from pagemind.runtime.trace import Observer
    from pagemind.runtime.turn import TurnResult

_CODES = {"answered": 0, "model_error": 4, "interrupted": 130}
_LIMIT_REACHED = 5


def send(
    agent: AgentName,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT", help="What to say; - reads standard input.", show_default=False
        ),
    ] = None,
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
    approve: Annotated[
        bool, typer.Option("--approve", help="Instead of TEXT: run the call that waits.")
    ] = False,
    deny: Annotated[bool, typer.Option("--deny", help="Refuse it.")] = False,
    reason: Annotated[
        str | None,
        typer.Option("--reason", metavar="WHY", help="With --deny: what the agent reads."),
    ] = None,
    always: Annotated[
        bool,
        typer.Option("--always", help="With --approve: that function also later in the turn."),
    ] = False,
    call: Annotated[
        str | None,
        typer.Option(
            "--call", metavar="ID", help="Only if it is this one: `pending.id` of --json."
        ),
    ] = None,
    queue: Annotated[
        bool,
        typer.Option("--queue", help="Leave it for `pagemind up`, and wait for no answer."),
    ] = False,
    wait: Wait = 0.0,
    trace: TraceTo = None,
    no_content: NoContent = False,
    otel: WithOtel = False,
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> int:
    """Say something to an agent and print its answer.

    An agent that does not exist is made first. The exit code is 0 for an answer, 4 if the model
    failed or no answer fits the schema, 5 if a limit ended the turn, 75 if the agent is in use. One
    that `pagemind up` has is passed the message all the same.

    Where a function needs consent, the turn waits for --approve or --deny; a TEXT in their place
    lets the call lapse.
    """
    from pagemind.runtime.cli import by_mail
    from pagemind.runtime.cli.answering import check_usage
    from pagemind.runtime.cli.interrupt import stop_on_interrupt
    from pagemind.runtime.cli.session import Watching, opened, text_or_stdin
    from pagemind.runtime.errors import AgentInUse

    check_usage(
        text,
        approve=approve,
        deny=deny,
        answer=(("--reason", reason, deny), ("--always", always, approve)),
        more=(
            ("-d", definition),
            ("--id", id),
            ("--image", image),
            ("--schema", schema),
            ("--queue", queue),
        ),
        call=call,
    )
    watching = Watching(trace, not no_content, otel).checked()
    if text is None:
        with opened(home, watching) as runtime:
            one = runtime.agent(agent, create=False, model=model, wait=wait)
            return _answer(one, approve, reason or "", always, call or "", as_json)
    wanted = None
    if schema is not None:
        from pagemind.runtime.structured import load_schema

        wanted = load_schema(schema)
    said = text_or_stdin(text)
    if queue:
        if schema is not None or image or model is not None or definition is not None:
            raise typer.BadParameter(
                "goes with --id and --as, and an agent that exists", param_hint="--queue"
            )
        return by_mail.queue(agent, said, speaker, id, as_json, home)
    with opened(home, watching) as runtime:
        try:
            one = _open(runtime, agent, definition, model, wait)
        except AgentInUse:
            if definition or model or image or schema or not by_mail.is_awake(runtime):
                raise
            with stop_on_interrupt() as cancel:
                result = _watched(
                    lambda observer: by_mail.answered(
                        runtime, agent, said, speaker, id, wait=wait, cancel=cancel
                    ),
                    live=not as_json,
                )
            return _show(result, as_json, None)
        with stop_on_interrupt() as cancel:
            if wanted is not None:
                result = one.send(
                    said, speaker=speaker, id=id, images=image or (), schema=wanted, cancel=cancel
                )
                return _show_value(result, as_json, one)
            result = _watched(
                lambda observer: one.send(
                    said,
                    speaker=speaker,
                    id=id,
                    images=image or (),
                    cancel=cancel,
                    observer=observer,
                ),
                live=not as_json,
            )
        return _show(result, as_json, one)


def _answer(
    agent: "Agent", approve: bool, reason: str, always: bool, call: str, as_json: bool
) -> int:
    """Answer the call that waits, and go on with its turn."""
    from pagemind.runtime.cli.interrupt import stop_on_interrupt
    from pagemind.runtime.person import Consent

    consent = Consent(approve, always=always, reason=reason)
    with stop_on_interrupt() as cancel:
        result = _watched(
            lambda observer: agent.approve(consent, call=call, cancel=cancel, observer=observer),
            live=not as_json,
        )
    return _show(result, as_json, agent)


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


def _watched(run: "Callable[[Observer], TurnResult]", *, live: bool) -> "TurnResult":
    """A turn. Where a person watches, the answer streams."""
    from pagemind.runtime.trace import ignore

    if not (live and sys.stdout.isatty()):
        result = run(ignore)
        if live and result.text:
            print(result.text)
        return result
    from pagemind.runtime.cli.turn_view import TurnView

    view = TurnView(guided=False)
    result = run(view)
    if not view.spoke and result.text:  # a stored answer is not streamed again
        view.say(result.text)
    view.end()
    return result


def _show_value(result: "TurnResult", as_json: bool, agent: "Agent") -> int:
    """The value that was asked for, or why there is none."""
    import json

    from pagemind.runtime.cli.failure import say, say_error
    from pagemind.runtime.cli.render import answer

    if result.stop_reason != "answered":
        return _show(result, as_json, agent)
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


def _show(result: "TurnResult", as_json: bool, agent: "Agent | None") -> int:
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
    elif result.pending is not None and agent is None and not as_json:
        say(f"a call waits for consent: `pagemind send {result.agent} --approve`, or `--deny`")
    elif (
        result.pending is not None
        and not as_json
        and agent is not None
        and (waiting := agent.pending()) is not None
    ):
        from pagemind.runtime.cli.consent_view import tell_waiting

        tell_waiting(
            waiting,
            approve=f"`pagemind send {agent.name} --approve`",
            deny="`--deny --reason WHY`",
        )
    elif result.stop_reason != "answered" and not as_json:
        say("stopped: " + ("; ".join(result.reasons) or result.stop_reason))
    return _CODES.get(result.stop_reason, _LIMIT_REACHED)
