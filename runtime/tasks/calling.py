"""Calling a function of the agent directly, without its model: one attempt, done once.

A function that changes memory commits with its answer, so it is done once whatever happens. One
that changes the world cannot: cut off before its answer it is unknown whether it happened, and
`on_unknown` says what then. Its id is the same each time, for whoever can tell by it.
"""

import json
from collections.abc import Mapping
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import PagemindError, StorageError
from pagemind.runtime.tasks.failing import ActionFailed, TaskStopped
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.text import Text


def arguments_of(action: Action, scope: Mapping[str, Any]) -> dict[str, Any]:
    """What the function is given."""
    return {
        name: Text.parse(value).value(scope) if isinstance(value, str) else value
        for name, value in action.arguments.items()
    }


def call(
    job: Job, agent: Agent, action: Action, arguments: Mapping[str, Any], *, id: str, cut_off: bool
) -> dict[str, Any]:
    """The answer as `result`. Raises ActionFailed, TaskStopped. `cut_off`: a process died in it."""
    assert action.call is not None
    effect = agent.loop.effect(action.call)
    if (cut_off or job.lost) and effect == "world":
        choice = action.on_unknown or job.on_unknown
        if choice == "ask":
            given = json.dumps(dict(arguments), ensure_ascii=False)[:200]
            raise TaskStopped(
                f"{action.call} {given} was cut off: nobody knows whether it happened",
                hint="look, then go on with --on-unknown skip if it did, or --on-unknown redo",
            )
        if choice == "skip":
            return {"result": "", "unknown": True, "effect": effect}
    try:
        return {"result": agent.call(action.call, arguments, id=id), "effect": effect}
    except StorageError:
        raise
    except PagemindError as error:
        raise ActionFailed(error.message) from None
    except Exception as fault:  # a function of somebody else's may raise anything
        raise ActionFailed(f"{action.call}: {type(fault).__name__}: {fault}") from None
