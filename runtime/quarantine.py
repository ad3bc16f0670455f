"""Quarantine: the records that wait for a person, and what the person decides of them.

They were written while something untrusted was in view, or may not take the place of what is known.
Nothing finds them and nothing is made of them. approve() lets one in, trusted from then on as the
person's own word; reject() retires it; reword() gives it other words first. Each is one
transaction; whoever calls holds the agent.
"""

from dataclasses import dataclass, replace
from typing import Any

from pagemind.runtime.bursts import alike, bursts, tellers
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.entity_names import plain
from pagemind.runtime.errors import NotFound, ToolFailed, UserError
from pagemind.runtime.fact import reworded
from pagemind.runtime.facts import FactBook
from pagemind.runtime.floods import names, said_of
from pagemind.runtime.held import WHY
from pagemind.runtime.message import TRUST, clean_text
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import PASSAGE_CHARS
from pagemind.runtime.sleep.review import corrected
from pagemind.runtime.source_named import Told, told_by
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted

APPROVED = max(TRUST.values())
_TOLD_CHARS = 300
_STATES = {"pending": "pending", "active": "applied", "retired": "rejected"}


@dataclass(frozen=True, slots=True)
class Kept:
    """A record that waits, or that was decided on. `told` are the messages that it came from;
    `like` the other records that say nearly the same, `tellers` all sources that say it; `burst` is
    the first of a flood that it is part of."""

    record: Passage
    why: str
    told: tuple[Told, ...] = ()
    like: tuple[str, ...] = ()
    tellers: tuple[str, ...] = ()
    burst: str = ""

    @property
    def id(self) -> str:
        return self.record.short_id

    @property
    def state(self) -> str:
        return _STATES[self.record.provenance.status]

    @property
    def sources(self) -> tuple[str, ...]:
        return self.record.provenance.sources

    def as_json(self) -> dict[str, Any]:
        """An item of `memory review`."""
        record, provenance = self.record, self.record.provenance
        decided = self.state != "pending" and record.updated_at is not None
        return {
            "id": self.id,
            "job": "quarantine",
            "op": "add",
            "target": "",
            "state": self.state,
            "why": self.why,
            "error": "",
            "before": "",
            "after": record.text,
            "sources": list(provenance.sources),
            "trust": provenance.trust,
            "result": self.id if self.state == "applied" else "",
            "at": rfc3339(record.created_at) if record.created_at else None,
            "decided_at": rfc3339(record.updated_at)
            if decided and record.updated_at is not None
            else None,
            "decided_by": "",
            **self.told_json(),
        }

    def told_json(self) -> dict[str, Any]:
        """The keys that came with quarantine."""
        record = self.record
        return {
            "kind": record.kind,
            "origin": record.provenance.origin,
            "source": record.provenance.detail,
            "messages": [told_json(each) for each in self.told],
            "told_by": list(self.tellers),
            "like": list(self.like),
            "burst": self.burst,
        }


def told_json(told: Told) -> dict[str, Any]:
    text = told.text
    cut = f"{text[:_TOLD_CHARS]}…" if len(text) > _TOLD_CHARS else text
    return {"id": told.id, "by": told.by, "source": told.source, "text": cut}


class Quarantine:
    """Of one agent or archive. `by` is who decides."""

    def __init__(self, state: State, by: str = "user") -> None:
        self._state = state
        self._by = by

    def waiting(self) -> list[Kept]:
        """The oldest first; what a planned change is about, and skills, are decided on there."""
        records = self._records()
        said = [said_of(self._state, each) for each in records]
        groups = alike(said)
        group_of = {each.id: group for group in groups for each in group}
        flood_of = {id: flood[0] for flood in bursts(groups) for id in flood}
        found = []
        for each in records:
            group = group_of[each.short_id]
            found.append(
                replace(
                    self._kept(each),
                    like=tuple(other.id for other in group if other.id != each.short_id),
                    tellers=tellers(group),
                    burst=flood_of.get(each.short_id, ""),
                )
            )
        return found

    def floods(self) -> list[list[str]]:
        """The ids of what nearly the same was written so often, by one source or in one turn."""
        return bursts(alike(said_of(self._state, each) for each in self._records()))

    def count(self) -> int:
        """How many wait."""
        return len(self._records())

    def find(self, number: int) -> Kept:
        """Raises NotFound."""
        record = self._state.passages.get([number]).get(number)
        if record is None:
            raise NotFound(f"there is no a{number}", hint="`memory review` lists what waits")
        if record.provenance.status == "pending":
            known = next((k for k in self.waiting() if k.record.number == number), None)
            if known is not None:
                return known
        return self._kept(record)

    def approve(self, number: int) -> Kept:
        """Let it in. Raises NotFound, UserError for one that does not wait, or says what is known
        already."""
        state = self._state
        with state.database.transaction():
            found = self._waiting(number)
            # First: what is untrusted would teach no names.
            state.passages.set_trust(number, max(found.provenance.trust, APPROVED), by=self._by)
            if found.kind == "fact":
                try:
                    FactBook(state).approve(number, author=self._by, reason="approved")
                except ToolFailed as error:
                    raise UserError(str(error), hint=f"reject a{number}, or reword it") from None
            else:
                same = state.passages.said(found.text, found.facets)
                if same is not None:
                    raise UserError(
                        f"{same.short_id} says the same as a{number} already",
                        hint=f"reject a{number}, or reword it",
                    )
                seq = state.journal.last_seq
                state.passages.set_status(
                    number, "active", author=self._by, reason="approved", seq=seq
                )
        return self.find(number)

    def reject(self, number: int) -> Kept:
        """It is retired. Raises NotFound, UserError."""
        state = self._state
        with state.database.transaction():
            self._waiting(number)
            state.passages.set_status(
                number,
                "retired",
                author=self._by,
                reason="rejected",
                seq=state.journal.last_seq,
            )
        return self.find(number)

    def reword(self, number: int, text: str) -> Kept:
        """It waits on in other words. Raises NotFound, UserError."""
        text = " ".join(clean_text(text).split())
        if not text:
            raise UserError("the new wording is empty", hint="`reject` drops it")
        if len(text) > PASSAGE_CHARS:
            raise UserError(f"the wording has {len(text):,} characters; at most {PASSAGE_CHARS:,}")
        state = self._state
        with state.database.transaction():
            found = self._waiting(number)
            facets = found.facets
            value = corrected({"object": facets.object, "text": found.text}, text)["object"]
            facets = reworded(replace(facets, object=str(value)) if value else facets, text)
            if facets.kind == "note" and plain(facets.subject) not in plain(text):
                facets = replace(facets, subject="", subject_entity=None)
            state.passages.edit(
                number,
                text,
                facets=facets,
                author=self._by,
                reason="reworded",
                seq=state.journal.last_seq,
            )
        return self.find(number)

    # --- inside ---------------------------------------------------------------------------------

    def _records(self) -> list[Passage]:
        changes = self._state.changes.in_state("pending", "dead", "planned", "candidate")
        elsewhere = {id for each in changes for id in (each.target, each.result) if id}
        return [
            each
            for each in self._state.passages.all_waiting()
            if each.kind != "skill" and each.short_id not in elsewhere
        ]

    def _waiting(self, number: int) -> Passage:
        found = self._state.passages.get([number]).get(number)
        if found is None:
            raise NotFound(f"there is no a{number}", hint="`memory review` lists what waits")
        if found.provenance.status != "pending":
            is_now = {"active": "active", "retired": "forgotten or was rejected"}
            raise UserError(
                f"a{number} is {is_now[found.provenance.status]}, and does not wait",
                hint="`memory review` lists what waits",
            )
        return found

    def _kept(self, record: Passage) -> Kept:
        told = tuple(told_by(self._state, record.provenance.sources))
        why = WHY if untrusted(record.provenance.trust) else "it says otherwise than what is known"
        return Kept(record, why, told, tellers=names(told, record))
