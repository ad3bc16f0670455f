"""What a person sees of an awake home: a line for what happens, or JSON."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pagemind.runtime.cli.render import console, one_line, plural
from pagemind.runtime.cli.tended import counted
from pagemind.runtime.settings import JSON_SCHEMA

if TYPE_CHECKING:
    from pagemind.runtime.awake.events import AwakeEvent, Tell

_TEXT_CHARS = 200  # of an answer; the agent has all of it
_CAME = {
    "UserMessage": "message",
    "TimerFired": "timer",
    "SystemAlert": "alert",
    "AgentMessage": "message of an agent",
}


@contextmanager
def telling(*, as_json: bool) -> Iterator["Tell"]:
    """Tells what happens in the way that fits where it is shown."""
    if as_json:
        yield _json
    elif sys.stdout.isatty():
        yield _colored
    else:
        yield lambda event: print(" ".join(_parts(event)), flush=True)


def _json(event: "AwakeEvent") -> None:
    body = {"schema": JSON_SCHEMA, **event.as_json()}
    print(json.dumps(body), flush=True)


def _colored(event: "AwakeEvent") -> None:
    from rich.text import Text

    at, who, what = _parts(event)
    bad = event.kind in ("file_failed", "put_aside", "warning", "waits")
    line = Text.assemble((at, "dim"), " ", (who, "bold"), " ", (what, "yellow" if bad else ""))
    console().print(line, soft_wrap=True)


def _parts(event: "AwakeEvent") -> tuple[str, str, str]:
    """The time, whom it is about, and what happened."""
    at = _local(event.at)
    who = str(event.data.get("agent", "pagemind"))
    return at, f"{one_line(who)}:", one_line(_what(event.kind, event.data))


def _local(at: str) -> str:
    from pagemind.runtime.clock import parse_rfc3339

    return f"{parse_rfc3339(at).astimezone():%Y-%m-%d %H:%M:%S}"


def _what(kind: str, data: Any) -> str:
    came = _CAME.get(data.get("kind", ""), "event")
    if kind == "awake":
        said = f"awake: {plural(len(data['agents']), 'agent')}, {plural(data['timers'], 'timer')}"
        if data["waiting"]:
            said += f", {plural(data['waiting'], 'event')} waiting"
        return said + (f", {data['aside']:,} put aside" if data["aside"] else "")
    if kind == "listening":
        return f"serves {data['url']}" + (", with a token" if data["token"] else "")
    if kind == "timer_fired":
        missed = f", {data['missed']:,} missed before" if data["missed"] else ""
        return f"timer {data['timer']} fired, due {_local(data['due_at'])}{missed}"
    if kind == "file_taken":
        return f"took {data['file']}"
    if kind == "file_failed":
        return f"could not take {data['file']}: {data['reason']}"
    if kind == "turn_started":
        return f"begins a turn for a {came}"
    if kind == "turn_ended":
        spent = f"{data['tokens']:,} tokens" + (f", ${data['cost']:.4f}" if data["cost"] else "")
        text = (
            data["text"] if len(data["text"]) <= _TEXT_CHARS else data["text"][:_TEXT_CHARS] + "…"
        )
        return f"turn {data['turn']} {data['stop_reason']} ({spent}): {text}"
    if kind == "slept":
        return f"tended its memory: {counted(data)}"
    if kind == "waits":
        return f"waits: {data['why']}"
    if kind == "put_aside":
        return f"a {came} was put aside: {data['why']} (`pagemind queue list` shows it)"
    if kind == "warning":
        return f"{data['why']}"
    left = f"; {plural(data['left'], 'event')} waiting for the next time" if data["left"] else ""
    return f"asleep{left}"
