"""Held: changes of records that a tainted step asked for, which wait for a person.

hold()   plan one on the record as it is; the same asked for again is the one that waits already
MADE     what a person's approval does, by op, for sleep/derived.py: an edit, a deletion, the end of
         a fact

A step may change at once what it could have made worse by being trusted less: nothing, unless the
agent stores what is untrusted as it is, and the record is trusted no more than the step.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pagemind.runtime.clock import parse_rfc3339, rfc3339
from pagemind.runtime.errors import RecordChanged
from pagemind.runtime.fact import reworded
from pagemind.runtime.facts import FactBook
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Held
from pagemind.runtime.state.changes import Change, Op
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted

JOB: Final = "quarantine"  # of changes
WHY: Final = "text from outside was in view"


def may_change(record: Passage, trust: int, *, stores: bool) -> bool:
    """Whether a step of that trust changes a record itself."""
    return not untrusted(trust) or (stores and record.provenance.trust <= trust)


def hold(
    state: State,
    op: Op,
    target: Passage,
    body: Mapping[str, Any],
    *,
    trust: int,
    sources: Sequence[str] = (),
) -> Held:
    """Inside no transaction of its own: one row."""
    for each in state.changes.in_state("pending", job=JOB, target=target.short_id):
        if each.op == op and each.base == target.version and each.body == dict(body):
            return Held(each.short_id)
    change = state.changes.add(
        JOB,
        op,
        body,
        state="pending",
        seq=state.journal.last_seq,
        target=target.short_id,
        base=target.version,
        why=WHY,
        sources=sources,
        trust=trust,
    )
    return Held(change.short_id)


def hold_end(
    state: State, fact: Passage, at: datetime | None, *, trust: int, sources: Sequence[str] = ()
) -> Held:
    """The end of a fact, at a time or when it is approved."""
    body = {"ends": rfc3339(at) if at is not None else ""}
    return hold(state, "delete", fact, body, trust=trust, sources=sources)


# --- when a person approves ----------------------------------------------------------------------


def _edit(state: State, change: Change, by: str) -> str:
    now, text = _target(state, change), str(change.body.get("text") or "")
    if not text.strip():
        raise RecordChanged(f"{change.short_id} has no text")
    state.passages.edit(
        now.number,
        text,
        facets=reworded(now.facets, text),
        base=change.base,
        author=by,
        reason=change.short_id,
        seq=state.journal.last_seq,
    )
    return now.short_id


def _delete(state: State, change: Change, by: str) -> str:
    now, ends = _target(state, change), change.body.get("ends")
    if ends is not None:
        at = parse_rfc3339(str(ends)) if ends else None
        FactBook(state).close(now.number, at, author=by, reason=change.short_id, base=change.base)
        return now.short_id
    state.passages.set_status(
        now.number,
        "retired",
        base=change.base,
        author=by,
        reason=change.short_id,
        seq=state.journal.last_seq,
    )
    return now.short_id


MADE: Final[dict[str, Callable[[State, Change, str], str]]] = {"update": _edit, "delete": _delete}


def _target(state: State, change: Change) -> Passage:
    number = int(change.target[1:])
    found = state.passages.get([number]).get(number)
    if found is None or found.provenance.status == "retired":
        raise RecordChanged(f"{change.target} is not there any more")
    return found
