"""`pagemind demo`: 600 messages through a window of 2,048 tokens, a kill, questions,
a walk and an erasure.

No model, no key, no network: a script plays the model (runtime/demo/script.py), everything else is
what `chat` runs. The numbers of --json are all measured (docs/json.md says which).
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder
from pagemind.runtime.written_path import expanded

if TYPE_CHECKING:
    from pagemind.runtime.cli.demo_screen import Screen
    from pagemind.runtime.demo.asking import Answered
    from pagemind.runtime.demo.forgetting import Forgotten
    from pagemind.runtime.demo.tally import Check, Tally
    from pagemind.runtime.demo.walk import Walked

_ASKED_ALONE = 3  # prepared questions, where nobody is there to ask
_PACE_MS = 25.0  # of a turn, where somebody watches


def demo(
    home: HomeFolder = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the demo's home, to look around in it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Watch the memory at work: no model, no key, no network, under a minute.

    600 messages pour through a window of 2,048 tokens; the process is killed in the middle of a
    flush and restarted; then you ask about anything that was said, and one answer is found by
    walking the tree of pages. In the end that is erased, with a receipt.
    """
    import shutil
    import tempfile

    if home is not None:
        _run(expanded(home), kept=True, as_json=as_json)
        return
    folder = Path(tempfile.mkdtemp(prefix="pagemind-demo-"))
    try:
        _run(folder, kept=keep, as_json=as_json)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _run(home: Path, *, kept: bool, as_json: bool) -> None:
    from pagemind.runtime.cli.demo_screen import Screen
    from pagemind.runtime.cli.render import answer, console
    from pagemind.runtime.clock import SystemClock
    from pagemind.runtime.demo.forgetting import forget
    from pagemind.runtime.demo.pouring import Pouring, check

    _refuse_used(home)
    clock = SystemClock()
    began = clock.monotonic()
    screen = None if as_json else Screen(console())
    watched = screen is not None and screen.live
    if screen is None:
        tally = Pouring(home, lambda *_: None).run()
    else:
        with screen:
            tally = Pouring(home, screen.pour, _PACE_MS if watched else 0.0).run()
    checked = check(home, tally)
    if screen is not None:
        screen.check(checked, tally)
    asked, walked = _ask(home, screen)
    forgotten = forget(home, walked.answered)
    if screen is not None:
        screen.forgotten(forgotten)
    seconds = clock.monotonic() - began
    if screen is None:
        answer(_report(tally, checked, asked, walked, forgotten, seconds, home if kept else None))
    else:
        screen.end(home if kept else None, None if watched else seconds)


def _refuse_used(home: Path) -> None:
    from pagemind.runtime.demo.stage import AGENT
    from pagemind.runtime.errors import AgentExists
    from pagemind.runtime.runtime import Runtime

    with Runtime(home) as runtime:
        if runtime.home.exists(AGENT):
            raise AgentExists(
                f"there is an agent called {AGENT!r} in {home} already",
                hint="leave --home out, or name another folder",
            )


def _ask(home: Path, screen: "Screen | None") -> "tuple[list[Answered], Walked]":
    """The person's questions, the prepared ones where there is no person; then the walk."""
    from pagemind.runtime.demo.asking import Asking
    from pagemind.runtime.demo.phrases import QUESTIONS
    from pagemind.runtime.demo.walk import walk

    prepared = [question for question, _ in QUESTIONS]
    answered = []
    with Asking(home) as asking:
        if screen is None:
            answered = [asking.ask(question) for question in prepared[:_ASKED_ALONE]]
            return answered, walk(asking)
        alone = not (screen.live and sys.stdin.isatty())
        screen.invite([] if alone else prepared)
        questions = iter(prepared[:_ASKED_ALONE]) if alone else screen.questions(prepared)
        for question in questions:
            if alone:
                screen.asked(question)
            answered.append(asking.ask(question, screen.call))
            screen.answer(answered[-1])
        walked = walk(asking)
        screen.walk(walked)
    return answered, walked


def _report(
    tally: "Tally",
    checked: "Check",
    asked: "list[Answered]",
    walked: "Walked",
    forgotten: "Forgotten",
    seconds: float,
    home: Path | None,
) -> dict[str, Any]:
    """The answer of --json (docs/json.md), without the schema number."""
    from dataclasses import asdict

    from pagemind.runtime.demo.stage import WINDOW, definition
    from pagemind.runtime.demo.talk import SEED

    assert tally.kill is not None
    return {
        "messages": tally.messages,
        "window": WINDOW,
        "embedding": definition().embedding,
        "seed": SEED,
        "seconds": round(seconds, 3),
        "home": str(home) if home else None,
        "pour": {
            "turns": len(tally.acknowledged),
            "seconds": round(tally.seconds, 3),
            "model_calls": tally.model_calls,
            "warnings": tally.warnings,
            "archived": tally.archived,
            "flushes": tally.flushes,
            "pages": tally.pages,
            "usable": tally.usable,
            "max_prompt_tokens": tally.max_prompt_tokens,
            "tokens_sent": tally.tokens_sent,
            "tokens_replay": tally.tokens_replay,
            "tokens_vs_replay": round(tally.sent_vs_replay, 4),
        },
        "kill": {"signal": "SIGKILL", "during": "flush", **asdict(tally.kill)},
        "check": asdict(checked),
        "questions": [each.as_json() for each in asked],
        "walk": walked.as_json(),
        "erasure": forgotten.as_json(),
    }
