"""Reviewing: what waits for a person, as it is seen and decided on: records in quarantine (a7), and
planned changes (c12), whatever they change.

Quarantine is decided on in quarantine.py, changes of records in sleep/review.py, skills in their
book, instructions where they are kept, blocks here. Each decision is one transaction; whoever calls
holds the agent.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.core_editor import CoreEditor
from pagemind.runtime.errors import NotFound, RecordChanged, UserError
from pagemind.runtime.quarantine import Kept, Quarantine, told_json
from pagemind.runtime.skill import Skill, skill_of
from pagemind.runtime.skill_book import SkillBook
from pagemind.runtime.sleep import learned
from pagemind.runtime.sleep import review as records
from pagemind.runtime.sleep.apply import RECORD_OPS
from pagemind.runtime.sleep.promote import LIFT
from pagemind.runtime.source_named import Told, roots_of, told_by
from pagemind.runtime.state.changes import STATES, Change, ChangeState
from pagemind.runtime.state.state import State

_ID = re.compile(r"(c|a)?(\d{1,18})")
WAITING: tuple[ChangeState, ...] = ("pending", "dead")


@dataclass(frozen=True, slots=True)
class Seen:
    """A change, and the texts before and after it: "" for what is not there."""

    change: Change
    before: str
    after: str
    told: tuple[Told, ...] = ()

    @property
    def id(self) -> str:
        return self.change.short_id

    @property
    def state(self) -> str:
        return self.change.state

    @property
    def sources(self) -> tuple[str, ...]:
        return self.change.sources

    def as_json(self) -> dict[str, Any]:
        """An item of `memory review`."""
        change = self.change
        return {
            "id": change.short_id,
            "job": change.job,
            "op": change.op,
            "target": change.target,
            "state": change.state,
            "why": change.why,
            "error": change.error,
            "before": self.before,
            "after": self.after,
            "sources": list(change.sources),
            "trust": change.trust,
            "result": change.result,
            "at": rfc3339(change.at),
            "decided_at": rfc3339(change.decided_at) if change.decided_at else None,
            "decided_by": change.decided_by,
            "kind": "change",
            "origin": change.origin,
            "source": "",
            "messages": [told_json(each) for each in self.told],
            "told_by": list(dict.fromkeys(each.source for each in self.told)),
            "like": [],
            "burst": "",
        }


class Reviewing:
    """Of one agent. `editor` writes blocks on a person's behalf; `by` is who decides. An id is that
    of a change or a record (c12, a7)."""

    def __init__(self, state: State, editor: Callable[[], CoreEditor], by: str = "user") -> None:
        self._state = state
        self._editor = editor
        self._by = by
        self._quarantine = Quarantine(state, by)

    def list(
        self, states: Sequence[ChangeState] = WAITING, *, source: str = ""
    ) -> list[Seen | Kept]:
        """Records first, then changes, the oldest first; only what came from a source. Raises
        NotFound for a source that nothing came from."""
        kept = self._quarantine.waiting() if "pending" in states else []
        found: list[Seen | Kept] = [*kept]
        found += [self.seen(each) for each in self._state.changes.in_state(*states)]
        if not source:
            return found
        wanted = set(roots_of(self._state, source))
        return [each for each in found if each.id in wanted or not wanted.isdisjoint(each.sources)]

    def shown(self, id: str) -> Seen | Kept:
        """What has this id. Raises NotFound."""
        record = self._record(id)
        return self._quarantine.find(record) if record else self.seen(self.find(id))

    def find(self, id: str) -> Change:
        """The change of an id such as c12, or that decides on a record. Raises NotFound."""
        match = _ID.fullmatch(id.strip().lower())
        found = self._state.changes.seen(int(match[2])) if match and match[1] != "a" else None
        if match and match[1] == "a":
            found = self._about(int(match[2]))
        if found is None:
            raise NotFound(
                f"there is no change {id!r}",
                hint="`memory review` lists what waits: a1, c1, c2 …",
            )
        return found

    def _about(self, number: int) -> Change | None:
        """The open change that a record waits for."""
        name = f"a{number}"
        waiting = self._state.changes.in_state("pending", "dead")
        return next((each for each in waiting if name in (each.target, each.result)), None)

    def _record(self, id: str) -> int:
        """The number of a record that is decided on by itself; 0 for what a change decides."""
        match = _ID.fullmatch(id.strip().lower())
        if match is None or match[1] != "a":
            return 0
        number = int(match[2])
        found = self._state.passages.get([number]).get(number)
        waits = found is not None and found.provenance.status == "pending"
        return 0 if waits and self._about(number) is not None else number

    def seen(self, change: Change) -> Seen:
        """With its texts. Of one that is made, those of when it was planned."""
        text = str(change.body.get("text") or "")
        told = tuple(told_by(self._state, change.sources))
        if change.op == "skill":
            body = f"{change.body.get('name')}: {change.body.get('body', '')}"
            return Seen(change, "", body, told)
        if change.op in ("block", "prompt"):
            before, after = change.body.get("before"), change.body.get("after")
            return Seen(change, str(before or ""), str(after or ""), told)
        before = self._before(change)
        after = "" if change.op == "delete" else str(_planned(change) or text)
        if (ends := change.body.get("ends")) is not None and before:
            after = f"{before} (until {ends or 'it is approved'})"
        return Seen(change, before, after, told)

    def _before(self, change: Change) -> str:
        if not change.target.startswith("a"):
            return ""
        number = int(change.target[1:])
        if change.base is not None:
            then = self._state.passages.version(number, change.base)
            if then is not None:
                return then.text
        now = self._state.passages.get([number]).get(number)
        return now.text if now else ""

    def approve(self, id: str) -> Seen | Kept:
        """Let a record in, or make a change that waits. Raises UserError, RecordChanged."""
        if record := self._record(id):
            return self._quarantine.approve(record)
        change = self._waiting(id)
        if change.op in RECORD_OPS:
            records.approve(self._state, change.number, self._by)
        elif change.op == "block":
            self._approve_block(change)
        elif change.op == "skill":
            book, skill = self._skill(change)
            book.approve(skill, by=self._by, why="a person approved it")
        elif change.op == "prompt":
            learned.approve(self._state, change.number, self._by)
        else:
            raise UserError(f"{change.short_id} is a change of a {change.op or 'candidate'}")
        return self.seen(self.find(id))

    def reject(self, id: str) -> Seen | Kept:
        """It is never made, or let in. Raises UserError."""
        if record := self._record(id):
            return self._quarantine.reject(record)
        change = self.find(id)
        if change.op == "skill" and change.state == "pending":
            book, skill = self._skill(change)
            book.refuse(skill, by=self._by)
        else:
            records.reject(self._state, change.number, self._by)
        return self.seen(self.find(id))

    def reword(self, id: str, text: str) -> Seen | Kept:
        """Keep it in other words, when it is approved. Raises UserError."""
        if record := self._record(id):
            return self._quarantine.reword(record, text)
        change = self._waiting(id)
        if change.op not in RECORD_OPS:
            raise UserError(
                f"{change.short_id} is a change of a {change.op}, which has no other words",
                hint="approve or reject it; what comes of it can be edited",
            )
        records.reword(self._state, change.number, text, self._by)
        return self.seen(self.find(id))

    def retry(self, id: str) -> Seen | Kept:
        """Try what was put aside anew, at the next sleep. Raises UserError."""
        if record := self._record(id):
            raise UserError(f"a{record} is no change that could be tried anew")
        change = self.find(id)
        records.retry(self._state, change.number)
        return self.seen(self.find(id))

    def undo(self, id: str) -> Seen | Kept:
        """Take a change back that was made. Raises UserError, RecordChanged."""
        if record := self._record(id):
            raise UserError(
                f"a{record} is no change that could be undone",
                hint="`memory forget` hides a record, `memory restore` brings one back",
            )
        change = self.find(id)
        if change.op == "block":
            self._undo_block(change)
        elif change.op in learned.OPS:
            learned.revert(self._state, change.number, self._by)
        else:
            records.undo(self._state, change.number, self._by)
        return self.seen(self.find(id))

    def _waiting(self, id: str) -> Change:
        change = self.find(id)
        if change.state != "pending":
            raise UserError(
                f"{change.short_id} is {change.state}, and does not wait",
                hint="`memory review` lists what waits",
            )
        return change

    def _skill(self, change: Change) -> tuple[SkillBook, Skill]:
        record = self._state.passages.get([int(change.target[1:])])
        found = [skill for each in record.values() if (skill := skill_of(each)) is not None]
        if not found:
            raise UserError(f"the skill of {change.short_id} is not there any more")
        return SkillBook(self._state), found[0]

    def _approve_block(self, change: Change) -> None:
        state = self._state
        with state.database.transaction():
            label, base = change.target, change.base
            now = next((each for each in state.blocks.all() if each.label == label), None)
            if now is None or (base is not None and now.version != base):
                raise RecordChanged(
                    f"{label} is not in the version that {change.short_id} was planned on",
                    hint="reject it; the worker plans anew",
                )
            self._editor().replace(label, str(change.body["after"]), reason=change.short_id)
            version = next(each.version for each in state.blocks.all() if each.label == label)
            state.lineage.add(
                f"block:{label}",
                change.sources,
                "promoted" if change.job == LIFT else "from",
                seq=state.journal.last_seq,
                version=version,
            )
            result = f"{label}@{version}"
            state.changes.settle(change.number, "applied", by=self._by, result=result)

    def _undo_block(self, change: Change) -> None:
        if change.state != "applied":
            raise UserError(f"{change.short_id} is {change.state}, not applied")
        label, _, version = change.result.partition("@")
        now = next((each for each in self._state.blocks.all() if each.label == label), None)
        if now is None or str(now.version) != version:
            raise RecordChanged(
                f"{label} has changed since {change.short_id}",
                hint="`pagemind memory restore` gives a block any of its versions",
            )
        with self._state.database.transaction():
            self._editor().restore(label, now.version - 1)
            self._state.changes.settle(
                change.number, "rejected", by=self._by, result=change.result, error="undone"
            )


def _planned(change: Change) -> str:
    """The text of an update."""
    plan = change.body.get("plan")
    return str(plan.get("text") or "") if isinstance(plan, dict) else ""


def states_of(names: Sequence[str]) -> tuple[ChangeState, ...]:
    """States by their names. Raises UserError."""
    found = tuple(state for state in STATES if state in names)
    if len(found) != len(set(names)):
        raise UserError(
            f"there is no state {', '.join(sorted(set(names) - set(STATES)))}",
            hint=f"states are {', '.join(STATES)}",
        )
    return found
