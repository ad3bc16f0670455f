"""What the sleep-time worker did, and what it is up to, in words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pagemind.runtime.cli.render import plural

if TYPE_CHECKING:
    from pagemind.runtime.sleep.worker import SleepStatus


def counted(report: Mapping[str, Any]) -> str:
    """`added 3, superseded 1; 2 calls, 1,204 tokens; extract: the model is not there`."""
    done = ", ".join(f"{name} {many:,}" for name, many in report["done"].items())
    parts = [done or "nothing to do"]
    if report["calls"]:
        parts.append(f"{plural(report['calls'], 'call')}, {report['tokens']:,} tokens")
    return "; ".join([*parts, *report["notes"]])


def waiting(status: "SleepStatus", agent: str) -> str:
    """What waits for a person or was put aside, and where that is decided on; "" for nothing."""
    waits = "change waits" if status.waiting == 1 else "changes wait"
    parts = [f"{status.waiting:,} {waits}"] if status.waiting else []
    parts += [f"{status.dead:,} put aside"] if status.dead else []
    return f"{', '.join(parts)}: `pagemind memory review {agent}`" if parts else ""


def standing(status: "SleepStatus") -> str:
    """One line about the worker of an agent."""
    if status.when == "off" and status.at is None:
        return "off"
    when = status.when
    last = f"last {status.at.astimezone():%Y-%m-%d %H:%M}" if status.at is not None else "not yet"
    parts = [when, last, f"{plural(status.turns, 'turn')} since"]
    if status.running:
        parts.append(f"at work: {status.job}" if status.job else "at work")
    for many, what in (
        (status.undecided, "undecided"),
        (status.waiting, "waiting for review"),
        (status.dead, "put aside"),
    ):
        if many:
            parts.append(f"{many:,} {what}")
    return ", ".join(parts)
