"""A person's word on planned changes of an agent's instructions.

approve() makes one that waits; revert() takes one back. Each is one transaction; hold the agent's
lock. `by` is who decides. It holds from the next time that the agent is opened.
"""

from pagemind.runtime.errors import NotFound, UserError
from pagemind.runtime.instructions import TARGET, replaced
from pagemind.runtime.patch import diff_of
from pagemind.runtime.sleep.prompts import JOB
from pagemind.runtime.state.changes import Change, ChangeState
from pagemind.runtime.state.state import State

OPS = ("skill", "prompt")  # of changes that are no changes of records


def approve(state: State, number: int, by: str) -> str:
    """Make a change of the instructions; what it became: `instructions@3`. Raises NotFound,
    UserError."""
    change = _found(state, number, "pending")
    with state.database.transaction():
        body = change.body
        replaced(state.database, body["before"], body["after"], what=change.short_id)
        result = f"instructions@{_version(state) + 1}"
        state.changes.settle(number, "applied", by=by, result=result)
    return result


def revert(state: State, number: int, by: str) -> str:
    """Take a change of the instructions back, as a change of its own; its result. Raises UserError
    where they have changed since."""
    change = _found(state, number, "applied")
    if change.op != "prompt":
        raise UserError(
            f"{change.short_id} is a change of a skill",
            hint="`pagemind memory skills AGENT NAME --approve --version N` goes back to a version",
        )
    before, after = change.body["after"], change.body["before"]
    with state.database.transaction():
        replaced(state.database, before, after, what=change.short_id)
        made = state.changes.add(
            JOB,
            "prompt",
            {"diff": diff_of(before, after, "instructions"), "before": before, "after": after},
            state="planned",
            seq=state.journal.last_seq,
            target=TARGET,
            why=f"takes {change.short_id} back",
            origin="user",
            trust=100,
        )
        result = f"instructions@{_version(state) + 1}"
        state.changes.settle(made.number, "applied", by=by, result=result)
    return result


def _version(state: State) -> int:
    """Of the instructions: 1 as the definition came, and one more with each change."""
    return 1 + sum(each.state == "applied" for each in state.changes.of(TARGET))


def _found(state: State, number: int, *states: ChangeState) -> Change:
    change = state.changes.seen(number)
    if change is None or change.op not in OPS:
        raise NotFound(f"there is no change c{number} of a skill or of instructions")
    if change.state not in states:
        raise UserError(f"{change.short_id} is {change.state}, not {' or '.join(states)}")
    return change
