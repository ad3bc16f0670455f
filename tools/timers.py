"""The functions of timers: schedule, cancel_schedule, schedules_list."""

from pagemind.runtime.errors import NotFound, ToolFailed, UserError
from pagemind.runtime.services import Timer, Timers
from pagemind.runtime.tool import ToolContext, tool


@tool(effect="memory")
def schedule(ctx: ToolContext, when: str, message: str) -> str:
    """Set a timer that wakes you with a message to yourself: a reminder, or work to repeat.

    Args:
        when: `every 10 minutes`, `every weekday at 9:00`, `every monday at 18:30`, a cron line
            like `0 9 * * 1-5`, `at 2026-12-01 09:00`, or `in 2 hours`. Times are your own zone's.
        message: What you want to be told then, with all you need to act on it.
    """
    try:
        made = _timers(ctx).add(when, message)
    except UserError as error:
        raise ToolFailed(error.message) from None
    return f"timer {_line(made)}"


@tool(effect="memory")
def cancel_schedule(ctx: ToolContext, id: str) -> str:
    """Cancel a timer.

    Args:
        id: Its id, as in s3, or its name.
    """
    try:
        gone = _timers(ctx).cancel(id)
    except NotFound as error:
        raise ToolFailed(error.message) from None
    return f"timer {gone.id} is cancelled: {gone.when}: {gone.message}"


@tool(effect="none")
def schedules_list(ctx: ToolContext) -> str:
    """List your timers, the next one first."""
    timers = _timers(ctx).all()
    lines = [f"{_line(each)}: {' '.join(each.message.split())}" for each in timers]
    return "\n".join(lines) or "no timers"


def _timers(ctx: ToolContext) -> Timers:
    if ctx.timers is None:
        raise ToolFailed("timers need an agent that is kept in a home")
    return ctx.timers


def _line(one: Timer) -> str:
    due = f"{one.due_at:%a %Y-%m-%d %H:%M %Z}"
    called = f"{one.id} ({one.name})" if one.name else one.id
    once = one.when.startswith("at ")
    return f"{called}: {due}" if once else f"{called}: {one.when}, next {due}"
