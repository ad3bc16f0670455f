"""Records that a job makes of others: planned as rows of `changes`, then made, or left to a person.

propose()   inside the transaction that moves a job's cursor: the row, and at once what it says,
            unless a person looks at changes first
make()      what a row says, when it is approved: a new record with its lineage, another version
            of one, or the end of one
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pagemind.runtime import held
from pagemind.runtime.errors import RecordChanged
from pagemind.runtime.message import Provenance
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.sleep.inherited import Inherited
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.state.changes import Change, ChangeState, Op
from pagemind.runtime.state.lineage import How
from pagemind.runtime.state.state import State

AUTHOR = "worker"
# Whose changes make() knows: those of jobs, and those that a tainted step asked for.
JOBS = ("reflect", "fallen", "compress", "link", held.JOB)


def propose(
    context: SleepContext,
    job: str,
    op: Op,
    body: Mapping[str, Any],
    *,
    sources: Sequence[str],
    trust: int,
    why: str,
    target: str = "",
    base: int | None = None,
) -> ChangeState:
    """What became of it; an open one of the same kind for the same target is not planned twice."""
    changes = context.state.changes
    if target and changes.in_state("planned", "pending", job=job, target=target, limit=1):
        return "pending"
    change = changes.add(
        job,
        op,
        body,
        state="pending" if context.review else "planned",
        seq=context.state.journal.last_seq,
        target=target,
        base=base,
        why=why,
        sources=sources,
        trust=trust,
    )
    if context.review:
        context.report.count("pending")
        return "pending"
    try:
        with context.state.database.transaction():
            return make(context.state, change, by=AUTHOR)[0]
    except RecordChanged as error:
        changes.settle(change.number, "stale", by=AUTHOR, error=error.message)
        return "stale"


def record_body(
    text: str, kind: str, importance: float, heirs: Inherited, **more: Any
) -> dict[str, Any]:
    """A new record as a planned change has it."""
    return {
        "text": text,
        "kind": kind,
        "importance": importance,
        "scope": heirs.scope,
        "owner": heirs.owner,
        **more,
    }


def make(state: State, change: Change, *, by: str) -> tuple[ChangeState, str]:
    """Do what a planned change says: what it is now, and the record. Inside a transaction. Raises
    RecordChanged for a record that has changed since; nothing may be kept then."""
    wanted = {change.target, *dict(change.body.get("cold", {}))} - {""}
    before = _versions(state, wanted)
    does = held.MADE if change.job == held.JOB else _MADE
    result = does[change.op](state, change, by)
    if not result:
        state.changes.settle(change.number, "noop", by=by)
        return "noop", ""
    after = _versions(state, {*wanted, result})
    touched = [[int(id[1:]), before.get(id, 0), version] for id, version in sorted(after.items())]
    state.changes.plan(
        change.number,
        change.op,
        state="planned",
        target=change.target,
        base=change.base,
        body={**change.body, "touched": touched},
    )
    state.changes.settle(change.number, "applied", by=by, result=result)
    return "applied", result


def _versions(state: State, ids: Iterable[str]) -> dict[str, int]:
    known = state.passages.get([int(id[1:]) for id in ids])
    return {each.short_id: each.version for each in known.values()}


def _add(state: State, change: Change, by: str) -> str:
    body = change.body
    seq = state.journal.last_seq
    how: How = body.get("how", "from")
    passage, new = state.passages.insert(
        str(body["text"]),
        tags=body.get("tags", ()),
        importance=body["importance"],
        metadata=body.get("metadata", {}),
        seq=seq,
        # The sources of evidence stand in the lineage alone: they are no copies of one another.
        provenance=Provenance(
            change.origin,
            change.job,
            change.trust,
            sources=change.sources if how == "from" else (),
        ),
        author=by,
        facets=Facets(
            body["kind"],
            scope=body["scope"],
            owner=body["owner"],
            level=body.get("level", 0),
        ),
        reason=change.why or change.job,
    )
    if not new:
        return ""
    if how != "from":
        state.lineage.add(passage.short_id, change.sources, how, seq=seq)
    for id, version in dict(body.get("cold", {})).items():
        now = _known(state, id)
        facets = replace(now.facets, cold=True)
        _edit(state, now, by, facets=facets, base=version, reason=f"told in {passage.short_id}")
    return passage.short_id


def _update(state: State, change: Change, by: str) -> str:
    now = _known(state, change.target)
    tags, metadata = change.body.get("tags"), change.body.get("metadata")
    _edit(state, now, by, tags=tags, metadata=metadata, base=change.base, reason=change.why)
    return change.target


def _end(state: State, change: Change, by: str) -> str:
    now = _known(state, change.target)
    facets = replace(now.facets, valid_to=state.clock.now())
    _edit(state, now, by, facets=facets, base=change.base, reason=change.why)
    return change.target


_MADE = {"add": _add, "update": _update, "delete": _end}


def _known(state: State, id: str) -> Passage:
    found = state.passages.get([int(id[1:])]).get(int(id[1:]))
    if found is None or found.provenance.status == "retired":
        raise RecordChanged(f"{id} is not there any more")
    return found


def _edit(
    state: State,
    record: Passage,
    by: str,
    *,
    base: int | None,
    reason: str,
    facets: Facets | None = None,
    tags: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    state.passages.edit(
        record.number,
        None,
        facets=facets,
        tags=tags,
        metadata=metadata,
        base=base,
        author=by,
        reason=reason,
        seq=state.journal.last_seq,
    )
