"""Calling a function of the agent directly, without its model: one attempt, done once.

A function that changes memory commits with its answer, so it is done once whatever happens. One
that changes the world cannot, nor can an edit of a shared block or a timer (mend.py): cut off
before its answer it is unknown whether it happened, and `on_unknown` says what then. Its id is the
same each time, for whoever can tell by it.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import Cancelled, PagemindError, StorageError, ToolHung
from pagemind.runtime.mend import stands_apart
from pagemind.runtime.person import ApprovalRequest, Consent
from pagemind.runtime.tasks.asking import UNKNOWN, ByPolicy
from pagemind.runtime.tasks.failing import ActionFailed
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.saying import Consenting
from pagemind.runtime.tasks.text import Text


def arguments_of(action: Action, scope: Mapping[str, Any]) -> dict[str, Any]:
    """What the function is given."""
    return {
        name: Text.parse(value).value(scope) if isinstance(value, str) else value
        for name, value in action.arguments.items()
    }


def call(
    job: Job,
    agent: Agent,
    action: Action,
    arguments: Mapping[str, Any],
    *,
    id: str,
    trust: int,
    cut_off: bool,
    choose: Callable[[str, tuple[str, ...]], str],
    consenting: Consenting,
) -> dict[str, Any]:
    """The answer as `result`. Raises ActionFailed, Waits. `trust` is that of what the arguments are
    made from. `cut_off`: a process died in it, and
    `choose` says what then; `consenting` is asked where the function's rule says so."""
    assert action.call is not None
    effect = agent.loop.effect(action.call)
    apart = stands_apart(action.call, effect, arguments, agent.shared_blocks)
    unsure = (cut_off or job.lost) and apart and not agent.loop.functions.answered(id)
    choice: str = action.on_unknown or job.on_unknown
    if unsure and choice == "ask":
        given = json.dumps(dict(arguments), ensure_ascii=False)[:200]
        choice = choose(f"{action.call} {given} was cut off: did it happen?", UNKNOWN)
    if unsure and choice == "skip":
        return {"result": "", "unknown": True, "effect": effect}
    consent = _permit(job, agent, action, arguments, id, trust, consenting)
    before, agent.person = agent.person, job.asking.person
    try:
        result = agent.call(
            action.call, arguments, id=id, consent=consent, cancel=job.cancel, trust=trust
        )
        return {"result": result, "effect": effect}
    except (StorageError, Cancelled):
        raise
    except ToolHung as hung:
        if effect != "world":
            raise ActionFailed(hung.message) from None
        if choice == "ask":
            choice = choose(f"{hung.message}: did it happen?", UNKNOWN)
        if choice == "redo":
            raise ActionFailed(hung.message) from None
        return {"result": "", "unknown": True, "effect": effect}
    except PagemindError as error:
        raise ActionFailed(error.message) from None
    except Exception as fault:  # a function of somebody else's may raise anything
        raise ActionFailed(f"{action.call}: {type(fault).__name__}: {fault}") from None
    finally:
        agent.person = before


def _permit(
    job: Job,
    agent: Agent,
    action: Action,
    arguments: Mapping[str, Any],
    id: str,
    trust: int,
    consenting: Consenting,
) -> Consent | None:
    """By the rule that the agent has for the function, and for what text from outside was first to
    name; None where it needs none. Raises ActionFailed, Waits."""
    assert action.call is not None
    rule = agent.loop.functions.rule(action.call)
    if rule == "deny":
        raise ActionFailed(f"{action.call} is not allowed for this agent")
    verdict = agent.loop.functions.judged(action.call, arguments, trust)
    if verdict.kind == "refuse":
        raise ActionFailed(verdict.why)
    if rule != "ask" and verdict.kind != "ask":
        return None
    effect, why = agent.loop.effect(action.call), verdict.why
    given = dict(arguments)
    request = ApprovalRequest(agent.name, 0, id, action.call, given, effect, why, bool(why))
    policy = action.on_approval or job.task.spec.on_approval
    consent = ByPolicy(policy, None).approve(request) or consenting(request)
    if not consent.allowed:
        reason = f": {consent.reason}" if consent.reason else ""
        raise ActionFailed(f"{action.call} was not run: it was declined{reason}")
    return consent
