"""`pagemind schedules`: the timers of agents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pagemind.runtime.cli.options import AgentName, AsJson, HomeFolder
from pagemind.runtime.cli.shell_completion import agent_names

if TYPE_CHECKING:
    from pagemind.runtime.services import Timer

AnyAgent = Annotated[
    str | None,
    typer.Argument(
        metavar="[AGENT]",
        help="The agent's name; by default all.",
        show_default=False,
        autocompletion=agent_names,
    ),
]


def list_schedules(
    agent: AnyAgent = None, as_json: AsJson = False, home: HomeFolder = None
) -> None:
    """What wakes an agent by itself, the next one first."""
    from pagemind.runtime.cli.render import listing
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        names = [agent] if agent else [each.name for each in runtime.home.all()]
        found = [(name, one) for name in names for one in runtime.timers(name).all()]
    found.sort(key=lambda each: each[1].due_at)
    if as_json:
        listing([one.as_json(name) for name, one in found])
    else:
        print_timers(found)


def print_timers(found: "Sequence[tuple[str, Timer]]") -> None:
    """Timers, each with its agent's name, as a table."""
    from pagemind.runtime.cli.render import one_line, table

    rows = [
        [name, one.id, one.name, one.when, _due(one), f"{one.fired:,}", one_line(one.message)]
        for name, one in found
    ]
    if rows:
        headers = ["agent", "id", "name", "when", "next", "fired", "message"]
        table(headers, rows, right="fired", spare="fired name")
    else:
        print('no timers; `pagemind schedules add AGENT "every day at 9:00" MESSAGE` sets one')


def add(
    agent: AgentName,
    when: Annotated[
        str,
        typer.Argument(
            metavar="WHEN",
            help="every 10 minutes, every weekday at 9:00, a cron line, at 2026-12-01 09:00, in 2"
            " hours.",
            show_default=False,
        ),
    ],
    message: Annotated[
        str,
        typer.Argument(
            metavar="MESSAGE",
            help="What it is told then; - reads standard input.",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Set a timer. Times of day are the agent's; it fires while `pagemind up` runs."""
    from pagemind.runtime.cli.by_mail import is_awake
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.session import opened, text_or_stdin

    with opened(home) as runtime:
        made = runtime.timers(agent).add(when, text_or_stdin(message))
        awake = is_awake(runtime)
        name = runtime.home.find(agent).name
    rule = "" if made.when.startswith("at ") else f"{made.when}, next "
    _show(name, made, as_json, f"{made.id}: {rule}{_due(made)}")
    if not (as_json or awake):
        say("it fires while `pagemind up` runs, which it does not now")


def cancel(
    agent: AgentName,
    id: Annotated[
        str, typer.Argument(metavar="ID", help="As in s3, or its name.", show_default=False)
    ],
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Cancel a timer."""
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        gone = runtime.timers(agent).cancel(id)
        name = runtime.home.find(agent).name
    _show(name, gone, as_json, f"{gone.id} is cancelled: {gone.when}: {gone.message}")


def reset(agent: AgentName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Set up the timers and the inbox of the agent's definition, as for a new agent: after a fork
    or an import, or where one was cancelled. Others stay."""
    from pagemind.runtime.cli.session import opened

    with opened(home) as runtime:
        runtime.reset_timers(agent)
    list_schedules(agent, as_json, home)


def _show(agent: str, one: "Timer", as_json: bool, line: str) -> None:
    from pagemind.runtime.cli.render import answer, one_line

    if as_json:
        answer(one.as_json(agent))
    else:
        print(one_line(line))


def _due(one: "Timer") -> str:
    return f"{one.due_at:%a %Y-%m-%d %H:%M %Z}"
