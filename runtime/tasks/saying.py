"""Saying something to the agent: one attempt, done once.

What is said has the identity of the action and its attempt as the client's id, and stands in the
ledger before it is said: after a kill the same text goes to the same turn, which gives its stored
answer or is taken up where it was.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pagemind.runtime.agent import Agent
from pagemind.runtime.errors import (
    AuthenticationFailed,
    Cancelled,
    LimitExceeded,
    LocalModelError,
    ModelError,
    ModelNotFound,
    UserError,
)
from pagemind.runtime.person import ApprovalRequest, Consent
from pagemind.runtime.state.ledger import Spent
from pagemind.runtime.structured import ids_of
from pagemind.runtime.tasks.asking import ByPolicy
from pagemind.runtime.tasks.failing import ActionFailed
from pagemind.runtime.tasks.job import Job
from pagemind.runtime.tasks.parts import Action
from pagemind.runtime.tasks.purse import Purse
from pagemind.runtime.template import load
from pagemind.runtime.turn import TurnResult

UNANSWERED = (None, "interrupted", "model_error")
# Nothing that is asked of such a model would be answered.
_FATAL = (AuthenticationFailed, ModelNotFound, LocalModelError)


def words(written: str, why: str) -> str:
    """What is said: the text, or, where its answer was refused, that and why."""
    return load("task_again").fill(reason=why) if why else written


Consenting = Callable[[ApprovalRequest], Consent]  # raises Waits


@contextmanager
def held_to(job: Job, agent: Agent, action: Action, purse: Purse) -> Iterator[None]:
    """Turns take no more than what is left, and who consents to calls is as the action says."""
    before, person = agent.limits, agent.person
    agent.limits = purse.limits(before)
    agent.person = ByPolicy(action.on_approval or job.task.spec.on_approval, job.asking.person)
    try:
        yield
    finally:
        agent.limits, agent.person = before, person


def say(
    job: Job,
    agent: Agent,
    action: Action,
    *,
    id: str,
    text: str,
    purse: Purse,
    consenting: Consenting,
    document: str = "",
) -> dict[str, Any]:
    """One turn, within what is left of the budgets; its reply and data. A call in it that wants
    consent is asked about by `consenting`; `document` names what strangers said in it.
    Raises ActionFailed, Waits, Cancelled."""
    schema = job.task.schema(action.json_schema)
    held = {"text": text}

    def tell() -> TurnResult:
        return agent.send(text, id=id, schema=schema, document=document, cancel=job.cancel)

    id = _fresh(agent, id)
    try:
        with held_to(job, agent, action, purse):
            turn = tell()
            while turn.stop_reason == "approval" and (request := agent.pending()) is not None:
                agent.approve(consenting(request), cancel=job.cancel)
                # The same id again gives what the turn came to.
                turn = tell()
    except (LimitExceeded, UserError) as error:
        fatal = isinstance(error, LocalModelError)
        raise ActionFailed(error.message, held, fatal=fatal, hint=error.hint) from None
    _must_be_answered(turn, held)
    if schema is not None and turn.data is None:
        # It was told what is wrong, several times: the whole of it is said anew.
        raise ActionFailed(turn.reasons[-1], held)
    return {"reply": turn.text, **({} if schema is None else {"data": turn.data})}


def turn_of(agent: Agent, id: str) -> int | None:
    """The turn that say() with this id came to."""
    rows = [agent.state.turns.by_client_id(each) for each in ids_of(_fresh(agent, id))]
    return max((row.turn for row in rows if row is not None), default=None)


def _fresh(agent: Agent, id: str) -> str:
    """The id, or another where its turn has failed and something else was said to the agent since:
    a turn is taken up only where it stands last, or its answer would follow another's."""
    turns = agent.state.turns
    newest = next((row.turn for row in turns.newest(1)), 0)

    def left_behind(each: str) -> bool:
        row = turns.by_client_id(each)
        return row is not None and row.stop_reason in UNANSWERED and row.turn < newest

    number, found = 0, id
    while any(left_behind(each) for each in ids_of(found)):
        number += 1
        found = f"{id} anew {number}"
    return found


def _must_be_answered(turn: TurnResult, held: dict[str, Any]) -> None:
    if turn.stop_reason == "interrupted":
        raise Cancelled("stopped")
    if turn.stop_reason == "model_error":
        error = turn.error
        raise ActionFailed(
            error.message if isinstance(error, ModelError) else "; ".join(turn.reasons),
            {**held, "resumes": True},
            resumes=True,
            waits=error is None or error.retryable,
            fatal=isinstance(error, _FATAL),
            hint=error.hint if error is not None else "",
        )
    if turn.stop_reason != "answered":
        raise ActionFailed("; ".join(turn.reasons) or turn.stop_reason, held)


def spent_on(agent: Agent, identity: str, ms: float) -> Spent:
    """What an action took so far, over all its attempts, by the agent's own books: they have what
    was spent before a kill, too. What other agents did for it counts as well."""
    steps, usage, cost, unpriced = agent.state.history.usage_of(identity)
    others = agent.team.spent(identity)
    return Spent(steps + others[0], usage + others[1], cost + others[2], unpriced + others[3], ms)
