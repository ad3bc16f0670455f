"""The command that erases for good: the chat lets go of the agent, which has to be at rest."""

import re
from typing import TYPE_CHECKING

from pagemind.runtime.cli.commands.command import Command, Leave, Scene
from pagemind.runtime.errors import UserError

if TYPE_CHECKING:
    from datetime import datetime

    from pagemind.runtime.erasure.wanted import Wanted
    from pagemind.runtime.runtime import Runtime

_IDS = re.compile(r"[amptAMPT]\d{1,18}(?:[\s,]+[amptAMPT]\d{1,18})*")
_WAYS = ("subject", "source", "before")


def _erase(scene: Scene, rest: str) -> None:
    asked = _wanted(rest, scene.agent.state.clock.now().astimezone(scene.agent.zone))
    try:
        scene.opening.at_rest(lambda runtime, name: _carry_out(scene, runtime, name, asked))
    finally:
        scene.agent = scene.opening.agent()
    if not scene.opening.runtime.home.exists(scene.agent.name):
        raise Leave


def _carry_out(scene: Scene, runtime: "Runtime", name: str, asked: "Wanted") -> None:
    from pagemind.runtime.cli import erase_view

    with runtime.erasing(name, at_step=erase_view.told) as erasing:
        preview = erasing.preview(asked)
        if preview.nothing:
            raise UserError("there is nothing of that", hint="/recall QUERY finds what there is")
        erase_view.show(name, preview, keep_files=False)
        answer = scene.ask(f"{erase_view.question_of(name, preview)} y/N: ")
        sure = answer.strip().lower() in ("y", "yes")
        if sure and erase_view.is_most(preview):
            sure = scene.ask(f"sure? type {name}: ").strip() == name
        if not sure:
            print("nothing was erased")
            return
        erase_view.tell(erasing.erase(preview), as_json=False)


def _wanted(rest: str, now: "datetime") -> "Wanted":
    """Ids, one of the ways that are named, or words. Raises UserError."""
    from pagemind.runtime.cli.memory_erase import before_of
    from pagemind.runtime.erasure.wanted import wanted

    way, _, what = rest.partition(" ")
    if _IDS.fullmatch(rest):
        return wanted(ids=re.split(r"[\s,]+", rest))
    if rest == "all":
        return wanted(everything=True)
    if way in _WAYS and what.strip():
        if way == "before":
            return wanted(before=before_of(what, now))
        return wanted(subject=what) if way == "subject" else wanted(source=what)
    return wanted(query=rest)


COMMANDS = (
    Command(
        "/erase",
        "WHAT",
        "remove for good: m42 a7, subject NAME, all, or words",
        _erase,
        "passage",
    ),
)
