"""What a person sees of a running task: a live view on a terminal, plain lines in a pipe, JSON."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pagemind.runtime.cli.render import bar, console, plural, visible
from pagemind.runtime.settings import JSON_SCHEMA

if TYPE_CHECKING:
    from pagemind.runtime.tasks.events import TaskEvent, Watch
    from pagemind.runtime.tasks.tally import Tally

_BAR = 24
_DOING = 6  # inputs that run at once, shown by name


def json_line(body: dict[str, object]) -> None:
    """One object, on a line of its own."""
    print(json.dumps({"schema": JSON_SCHEMA, **body}), flush=True)


@dataclass(frozen=True)
class View:
    """`watch` shows what happens; while `aside` is entered the terminal is somebody else's."""

    watch: "Watch"
    aside: Callable[[], AbstractContextManager[None]] = nullcontext


@contextmanager
def watching(*, as_json: bool, monotonic: Callable[[], float]) -> Iterator[View]:
    """What shows a run in the way that fits where it is shown."""
    if as_json:
        yield View(lambda event: json_line(event.as_json()))
    elif sys.stdout.isatty():
        with _live(monotonic) as view:
            yield view
    else:
        yield View(_plain)


def status(tally: "Tally", now: float) -> list[str]:
    """The lines of the live view."""
    if not tally.task:
        return ["getting ready …"]
    settled = tally.done + tally.failed
    head = f"{tally.task}  "
    if tally.total:
        head += f"{bar(settled / tally.total, _BAR)}  {settled:,} of {tally.total:,}"
    else:
        head += f"{settled:,} inputs"
    if tally.failed:
        head += f", {tally.failed:,} failed"
    spent = f"{tally.tokens:,} tokens"
    if tally.cost:
        spent += f" · ${tally.cost:.4f}"
    rate, left = tally.rate(now), tally.left(now)
    if rate is not None:
        a_minute = rate * 60
        spent += f" · {a_minute:,.{0 if a_minute >= 100 else 1}f} a minute"
    if left is not None and settled < (tally.total or 0):
        spent += f" · about {span(left)} left"
    lines = [head, spent]
    doing = list(tally.doing.values())  # a copy: it changes while it is shown
    lines += [f"▸ {each}" for each in doing[:_DOING]]
    if len(doing) > _DOING:
        lines.append(f"  … and {len(doing) - _DOING:,} more at once")
    if tally.last_failure:
        lines.append(f"✗ {tally.last_failure}")
    return [visible(line) for line in lines]


def span(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 20 min`"""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _plain(event: "TaskEvent") -> None:
    """A line for what a person would want to find in a log."""
    data = event.data
    line = ""
    if event.kind == "task_started":
        total = plural(data["total"], "input") if data["total"] is not None else "inputs"
        before = f", {data['done']:,} done before" if data["done"] else ""
        line = f"{data['task']}: {total}{before}"
    elif event.kind == "input_done":
        line = f"done    {data['input']}"
    elif event.kind == "input_failed":
        line = f"failed  {data['input']}: {data['reason']}"
    elif event.kind == "warning":
        line = f"warning {data['input']}: {data['reason']}"
    elif event.kind == "input_waits":
        line = f"waits   {data['question']}"
    elif event.kind == "timer_fired":
        line = f"timer   {data['timer']}, due {data['due'][:16].replace('T', ' ')}"
    elif event.kind == "action_failed":
        what = f"{data['place']} {data['action']}, attempt {data['attempt']}"
        line = f"        {what}: {data['reason']}"
    if line:
        print(visible(line), flush=True)


@contextmanager
def _live(monotonic: Callable[[], float]) -> Iterator[View]:
    from rich.live import Live
    from rich.text import Text

    from pagemind.runtime.tasks.tally import Tally

    tally = Tally(monotonic())

    def take(event: "TaskEvent") -> None:
        tally.take(event)
        if event.kind == "task_started":
            tally.started = monotonic()

    def picture() -> Text:
        text = Text("\n".join(status(tally, monotonic())), no_wrap=True, overflow="ellipsis")
        return text

    def begun() -> Live:
        # A new one each time: a view that goes on would wipe the lines above it.
        live = Live(get_renderable=picture, console=console(), refresh_per_second=4, transient=True)
        live.start()
        return live

    live = begun()

    @contextmanager
    def aside() -> Iterator[None]:
        nonlocal live
        live.stop()
        try:
            yield
        finally:
            live = begun()

    try:
        yield View(take, aside)
    finally:
        live.stop()
