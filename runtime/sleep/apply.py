"""Making a planned change: in one transaction with its lineage and the row that it settles.

A target that is not in the version that the plan was made on any more is RecordChanged, and nothing
is made. What each change touched stands in its body, so that it can be undone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pagemind.runtime.clock import parse_rfc3339
from pagemind.runtime.entity_resolver import resolve
from pagemind.runtime.errors import RecordChanged
from pagemind.runtime.facts import FactBook
from pagemind.runtime.message import TRUST, Provenance, Status
from pagemind.runtime.passage import Passage
from pagemind.runtime.sleep import derived
from pagemind.runtime.sleep.plan import began
from pagemind.runtime.sleep.similar import New, new_of
from pagemind.runtime.state.changes import Change, ChangeState
from pagemind.runtime.state.state import State

AUTHOR = "worker"
RECORD_OPS = ("add", "update", "supersede", "delete", "noop")


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a change: the state that it has now, and the record."""

    state: ChangeState
    result: str


def apply(state: State, number: int, *, by: str = AUTHOR) -> Made | None:
    """None for a change that is not planned or pending any more: somebody else was faster. A
    person's word (`by` is not the worker) stands above trust. Raises RecordChanged, ToolFailed,
    ValueError; nothing is made then."""
    with state.database.transaction():
        change = state.changes.open(number)
        if change is None or change.state == "candidate":
            return None
        target = _target(state, change)
        if change.job in derived.JOBS:
            return Made(*derived.make(state, change, by=by))
        made = _Making(state, change, target, by).make()
    return made


def only_as_planned(change: Change) -> bool:
    """Whether a change is stale once what it was planned on is another: it tells nothing that is
    not stored already, so that planning it anew could only bring back what somebody took away."""
    return change.job in derived.JOBS or not {"into", "ended_by"}.isdisjoint(change.body)


def retire_into(state: State, change: Change, target: Passage, kept: str, by: str) -> str:
    """One record goes, and another has all that it said. Raises RecordChanged where that is not
    there any more, or holds no longer."""
    seq = state.journal.last_seq
    number = int(kept[1:]) if re.fullmatch(r"a\d{1,18}", kept) else 0
    stays = state.passages.get([number]).get(number)
    if stays is None or stays.standing != "active" or stays.provenance.status != "active":
        raise RecordChanged(f"{kept[:40]}, which says the same, is not there any more")
    state.passages.set_status(
        target.number, "retired", base=change.base, author=by, reason=_reason(change), seq=seq
    )
    state.lineage.add(kept, [target.short_id], "merged", seq=seq)
    state.lineage.add(
        kept, [edge.source for edge in state.lineage.sources_of(target.short_id)], "merged", seq=seq
    )
    return kept


def end_by(state: State, change: Change, target: Passage, successor: str, by: str) -> str:
    """A record that is there took the place of another. Raises RecordChanged, ToolFailed."""
    number = int(successor[1:]) if re.fullmatch(r"a\d{1,18}", successor) else 0
    newer = state.passages.get([number]).get(number)
    if newer is None or newer.standing != "active" or newer.provenance.status != "active":
        raise RecordChanged(f"{successor[:40]}, which took its place, is not there any more")
    FactBook(state).close(
        target.number,
        max(began(newer), began(target)),
        by=number,
        author=by,
        reason=_reason(change),
        base=change.base,
    )
    seq = state.journal.last_seq
    state.lineage.add(successor, [target.short_id], "supersedes", seq=seq, version=newer.version)
    return successor


def _target(state: State, change: Change) -> Passage | None:
    if not change.target:
        return None
    if not re.fullmatch(r"a\d{1,18}", change.target):
        raise RecordChanged(f"{change.target[:40]} is no record")
    number = int(change.target[1:])
    found = state.passages.get([number]).get(number)
    if found is None or found.provenance.status == "retired":
        raise RecordChanged(f"{change.target} is not there any more")
    if change.base is not None and found.version != change.base:
        raise RecordChanged(
            f"{change.target} is version {found.version} now; the change was planned on version"
            f" {change.base}"
        )
    return found


def _reason(change: Change) -> str:
    return f"{change.short_id}: {change.why}" if change.why else change.short_id


class _Making:
    """One change being made."""

    def __init__(self, state: State, change: Change, target: Passage | None, by: str) -> None:
        self._state = state
        self._change = change
        self._target = target
        self._by = by
        self._seq = state.journal.last_seq
        self._book = FactBook(state)
        plan = change.body.get("plan")
        self._plan: Mapping[str, Any] = plan if isinstance(plan, dict) else {}
        self._aside = bool(self._plan.get("aside")) and by == AUTHOR

    def make(self) -> Made:
        change, target = self._change, self._target
        into = change.body.get("into")
        if change.op == "delete" and isinstance(into, str) and target is not None:
            before = self._versions(target.number)
            result = retire_into(self._state, change, target, into, self._by)
            return self._settled("applied", result, before, target.number)
        successor = change.body.get("ended_by")
        if change.op == "supersede" and isinstance(successor, str) and target is not None:
            before = self._versions(target.number)
            result = end_by(self._state, change, target, successor, self._by)
            return self._settled("applied", result, before, target.number)
        new = new_of(change, self._book)
        before = self._touchable(new)
        if change.op == "noop" and target is not None:
            self._state.lineage.add(
                target.short_id, change.sources, "merged", seq=self._seq, version=target.version
            )
            return self._settled("noop", target.short_id, {})
        if change.op == "update" and target is not None and not self._aside:
            return self._update(new, target, before)
        record = self._waiting() or self._insert(new)
        if record.provenance.status == "pending":
            if self._by == AUTHOR:
                return self._settled("pending", record.short_id, {})
            record = self._let_in(record)
        if target is not None and change.op in ("supersede", "delete"):
            self._end(target, record, new)
        self._state.lineage.add(record.short_id, change.sources, "merged", seq=self._seq)
        return self._settled("applied", record.short_id, before, record.number, new=new)

    def _waiting(self) -> Passage | None:
        """The record that an earlier attempt has put aside for a person."""
        number = int(self._change.result[1:]) if self._change.result else 0
        found = self._state.passages.get([number]).get(number)
        return found if found is not None and found.provenance.status == "pending" else None

    def _let_in(self, record: Passage) -> Passage:
        """A person says that what was put aside is true."""
        self._state.passages.set_trust(record.number, max(TRUST.values()), by=self._by)
        if record.kind == "fact":
            return self._book.approve(
                record.number, author=self._by, reason=_reason(self._change)
            ).passage
        self._state.passages.set_status(
            record.number, "active", author=self._by, reason=_reason(self._change), seq=self._seq
        )
        return self._state.passages.get([record.number])[record.number]

    def _insert(self, new: New) -> Passage:
        """The new record; of a relation with one value at a time, with what follows for others."""
        facets, change, plan = new.facets, self._change, self._plan
        status: Status = "pending" if self._aside else "active"
        provenance = Provenance(change.origin, change.job, change.trust, status, change.sources)
        if self._by != AUTHOR:
            provenance = replace(provenance, trust=max(TRUST.values()))
        ends, successor = plan.get("valid_to"), plan.get("superseded_by")
        over = parse_rfc3339(str(ends)) if ends else None
        importance = change.body.get("importance")
        rated = float(importance) if isinstance(importance, int | float) else None
        single = self._book.is_single(facets.relation)
        if new.is_fact and change.op != "delete" and (single or over is None):
            added = self._book.add(
                facets.subject,
                facets.relation,
                facets.object,
                new.text,
                valid_from=facets.valid_from,
                speaker=facets.speaker,
                importance=rated,
                scope=facets.scope,
                owner=facets.owner,
                provenance=provenance,
                author=self._by,
                reason=_reason(change),
            )
            return added.passage
        if facets.subject and facets.subject_entity is None:
            entity = resolve(self._state, facets.subject, seq=self._seq, speaker=facets.speaker)
            facets = replace(facets, subject_entity=entity)
        kind_of = replace(facets, kind="note", relation="", object="")
        if new.is_fact and change.op != "delete":
            kind_of = facets
        if over is not None:
            number = int(str(successor)) if successor else None
            kind_of = replace(kind_of, valid_to=over, superseded_by=number)
        passage, _ = self._state.passages.insert(
            new.text,
            tags=(),
            importance=rated,
            metadata={},
            seq=self._seq,
            provenance=provenance,
            author=self._by,
            facets=kind_of,
            reason=_reason(change),
        )
        return passage

    def _end(self, target: Passage, record: Passage, new: New) -> None:
        """Close the target, unless placing the new one among the others has done it."""
        now = self._state.passages.get([target.number])[target.number]
        if now.version != target.version or record.number == target.number:
            return
        since = new.facets.valid_from or record.facets.valid_from or began(record)
        at = max(since, began(target))
        takes_its_place = self._change.op == "supersede"
        self._book.close(
            target.number,
            at,
            by=record.number if takes_its_place else None,
            author=self._by,
            reason=_reason(self._change),
            base=target.version,
        )
        self._state.lineage.add(
            record.short_id, [target.short_id], "supersedes", seq=self._seq, version=record.version
        )

    def _update(self, new: New, target: Passage, before: dict[int, int]) -> Made:
        """Scope and owner stay as they were; what a model joined is trusted as the least."""
        changed = self._state.passages.edit(
            target.number,
            str(self._plan.get("text") or new.text),
            base=target.version,
            trust=self._change.trust if self._by == AUTHOR else None,
            author=self._by,
            reason=_reason(self._change),
            seq=self._seq,
        )
        assert changed is not None
        self._state.lineage.add(
            changed.short_id,
            self._change.sources,
            "merged",
            seq=self._seq,
            version=changed.version,
        )
        return self._settled("applied", changed.short_id, before, changed.number)

    # --- what was touched -------------------------------------------------------------------------

    def _touchable(self, new: New) -> dict[int, int]:
        numbers = {self._target.number} if self._target is not None else set()
        return self._versions(*numbers, new=new)

    def _versions(self, *numbers: int, new: New | None = None) -> dict[int, int]:
        """The versions of these, and of all facts of the same matter."""
        wanted = set(numbers)
        if new is not None and new.is_fact:
            entity = self._book.entity(new.facets.subject, speaker=new.facets.speaker)
            if entity is not None:
                found = self._state.facts.of_subject(entity, new.facets.relation)
                wanted.update(each.number for each in found)
        stored = self._state.passages.get(sorted(wanted))
        return {number: each.version for number, each in stored.items()}

    def _settled(
        self,
        state: ChangeState,
        result: str,
        before: dict[int, int],
        *numbers: int,
        new: New | None = None,
    ) -> Made:
        changes, change = self._state.changes, self._change
        after = self._versions(*before, *numbers, new=new)
        touched = [
            [number, before.get(number, 0), version]
            for number, version in sorted(after.items())
            if before.get(number) != version
        ]
        if state == "applied" and not touched:
            state = "noop"  # it was known after all
        if state == "applied":
            changes.plan(
                change.number,
                change.op,
                state="planned",
                target=change.target,
                base=change.base,
                body={**change.body, "touched": touched},
            )
        changes.settle(change.number, state, by=self._by, result=result)
        return Made(state, result)
