"""A person's word on planned changes of records: approve, reject, reword, retry, undo.

Each is one transaction; hold the agent's lock. `by` is who decides. What waits is listed by
`state.changes` (pending, dead).
"""

from collections.abc import Mapping
from typing import Any

from pagemind.runtime.entity_names import plain
from pagemind.runtime.errors import NotFound, RecordChanged, UserError
from pagemind.runtime.held import JOB as HELD
from pagemind.runtime.message import clean_text
from pagemind.runtime.settings import ENTITY_NAME_CHARS, PASSAGE_CHARS
from pagemind.runtime.sleep.apply import RECORD_OPS, Made, apply, only_as_planned
from pagemind.runtime.sleep.derived import JOBS
from pagemind.runtime.state.changes import Change, ChangeState
from pagemind.runtime.state.state import State


def approve(state: State, number: int, by: str) -> Made:
    """Make a change that waits. Where its record has changed since, it is compared anew at the next
    sleep, and waits again: that is RecordChanged. What tells nothing but what records say already
    is then stale."""
    change = _of_records(state, number, "pending")
    try:
        made = apply(state, number, by=by)
    except RecordChanged as error:
        if only_as_planned(change):
            state.changes.settle(number, "stale", by=by, error=error.message)
            raise RecordChanged(f"c{number} is not made: {error.message}") from None
        with state.database.transaction():
            state.changes.plan(number, "", state="candidate")
        raise RecordChanged(
            f"c{number} is not made: {error.message}; it is compared anew at the next sleep"
        ) from None
    if made is None:
        raise UserError(f"c{number} does not wait any more")
    return made


def reject(state: State, number: int, by: str) -> None:
    """It is never made. What was put aside for it goes."""
    with state.database.transaction():
        change = _found(state, number, "pending", "dead", "candidate", "planned")
        if change.op in RECORD_OPS and change.result:
            _retire(state, int(change.result[1:]), by, f"{change.short_id} was rejected")
        state.changes.settle(number, "rejected", by=by, result=change.result)


def reword(state: State, number: int, text: str, by: str) -> None:
    """What waits is to be kept in other words."""
    text = " ".join(clean_text(text).split())
    if not text:
        raise UserError("the new wording is empty", hint="`reject` drops a change")
    if len(text) > PASSAGE_CHARS:
        raise UserError(f"the wording has {len(text):,} characters; at most {PASSAGE_CHARS:,}")
    with state.database.transaction():
        change = _of_records(state, number, "pending")
        if change.job in JOBS and change.op != ("update" if change.job == HELD else "add"):
            raise UserError(f"{change.short_id} changes no words; approve or reject it")
        body = {**corrected(change.body, text), "text": text, "reworded_by": by}
        plan = body.get("plan")
        if isinstance(plan, dict) and "text" in plan:
            body["plan"] = {**plan, "text": text}
        if change.result:
            state.passages.edit(
                int(change.result[1:]),
                text,
                author=by,
                reason=f"{change.short_id} was reworded",
                seq=state.journal.last_seq,
            )
        state.changes.plan(
            number,
            change.op,
            state="pending",
            target=change.target,
            base=change.base,
            body=body,
        )


def corrected(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A body whose object is what the new words name: the value that a person put in the place of
    the old one; none where they say it otherwise, which makes a note of it."""
    value, was = str(body.get("object") or ""), str(body.get("text") or "")
    if not value or f" {plain(value)} " in f" {plain(text)} ":
        return dict(body)
    before, found, after = was.partition(value)
    put = text.removeprefix(before).removesuffix(after)
    kept = found and text == f"{before}{put}{after}" and len(put) <= ENTITY_NAME_CHARS
    return {**body, "object": put.strip() if kept else ""}


def retry(state: State, number: int) -> None:
    """A dead change is tried anew at the next sleep."""
    with state.database.transaction():
        _found(state, number, "dead")
        state.changes.retry(number)


def undo(state: State, number: int, by: str) -> list[str]:
    """Bring every record that a change touched back to what it was before; their ids. What has
    changed since is left alone, and so is then all of it: RecordChanged."""
    with state.database.transaction():
        change = _found(state, number, "applied")
        touched = _touched(change)
        if change.op not in RECORD_OPS or not touched:
            raise UserError(f"{change.short_id} is no change of records that can be undone")
        now = state.passages.get([each[0] for each in touched])
        for record, _, after in touched:
            if record not in now or now[record].version != after:
                raise RecordChanged(
                    f"a{record} has changed since {change.short_id}; undo what came after it first"
                )
        for record, before, _ in touched:
            back(state, record, before, by, f"{change.short_id} was undone")
        state.changes.settle(number, "rejected", by=by, result=change.result, error="undone")
    return [f"a{record}" for record, _, _ in touched]


def _touched(change: Change) -> list[tuple[int, int, int]]:
    """Each record with its version before (0: it was not there) and after. What a file that was
    imported says otherwise is none."""
    kept = change.body.get("touched")
    found = [tuple(each) for each in kept if isinstance(each, list)] if kept else []
    return [
        (each[0], each[1], each[2])
        for each in found
        if len(each) == 3 and all(type(number) is int for number in each)
    ]


def back(state: State, record: int, before: int, by: str, reason: str) -> None:
    """One record to an earlier version; one that was not there is retired."""
    seq = state.journal.last_seq
    if not before:
        _retire(state, record, by, reason)
        return
    then = state.passages.version(record, before)
    now = state.passages.get([record])[record]
    if then is None:
        raise RecordChanged(f"a{record} has no version {before}")
    if now.provenance.status != then.provenance.status:
        state.passages.set_status(record, then.provenance.status, author=by, reason=reason, seq=seq)
    if then.provenance.status != "retired":
        state.passages.edit(
            record,
            then.text,
            tags=then.tags,
            importance=then.importance,
            no_importance=then.importance is None,
            metadata=then.metadata,
            facets=then.facets,
            author=by,
            reason=reason,
            seq=seq,
        )


def _retire(state: State, record: int, by: str, reason: str) -> None:
    state.passages.set_status(
        record, "retired", author=by, reason=reason, seq=state.journal.last_seq
    )


def _found(state: State, number: int, *states: ChangeState) -> Change:
    change = state.changes.seen(number)
    if change is None:
        raise NotFound(f"there is no change c{number}", hint="`memory review` lists them")
    if change.state not in states:
        raise UserError(
            f"{change.short_id} is {change.state}, not {' or '.join(states)}",
            hint="`memory review` lists what waits",
        )
    return change


def _of_records(state: State, number: int, *states: ChangeState) -> Change:
    change = _found(state, number, *states)
    if change.op not in RECORD_OPS:
        raise UserError(f"{change.short_id} is a change of a {change.op}, not of a record")
    return change
