"""Placing a fact in time on disk: the windows of the others that follow from where it falls.

fact_timeline.py decides; this reads what it decides on and writes what it decided, within the
transaction of whoever asks.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from pagemind.runtime.fact import FactAdded, is_current, same_object
from pagemind.runtime.fact_timeline import EVER, NEVER, Held, Placement, place
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.relations import is_symmetric
from pagemind.runtime.settings import FACT_NEAR
from pagemind.runtime.state.state import State


class Placing:
    """Of the facts of one agent."""

    def __init__(self, state: State, now: Callable[[], datetime]) -> None:
        self._state = state
        self._now = now

    def rivals(self, facets: Facets) -> list[Passage]:
        """Facts of the same subject, relation, scope and owner, past ones too."""
        assert facets.subject_entity is not None
        found = self._state.facts.of_subject(facets.subject_entity, facets.relation)
        where = facets.scope, facets.owner
        return [each for each in found if (each.facets.scope, each.facets.owner) == where]

    def placed(self, facets: Facets, others: Sequence[Passage]) -> Placement:
        """Where a fact falls among its rivals."""
        now = self._now()
        start = facets.valid_from
        if start is None:  # it was over before it was said, or begins now
            ends = facets.valid_to
            start = EVER if ends is not None and ends <= now else now
        held = [
            Held(
                each.number,
                each.facets.valid_from or EVER,
                each.facets.valid_to or NEVER,
                same_object(each.facets, facets),
            )
            for each in others
        ]
        return place(held, start, facets.valid_to or NEVER, now)

    def settle(
        self,
        number: int,
        placed: Placement,
        others: Sequence[Passage],
        author: str,
        new: bool,
    ) -> FactAdded:
        """Give the others the windows that follow from a fact that has its own."""
        state, now, seq = self._state, self._now(), self._state.journal.last_seq
        known = {each.number: each for each in others}
        closed: list[Passage] = []
        if placed.kept is not None:
            self._keep_earlier(known[placed.kept[0]], placed.kept[1:], number, author)
        for other, (start, end) in placed.windows.items():
            facets = windowed(known[other].facets, start, end)
            if other in placed.ended and placed.start <= now:
                facets = replace(facets, superseded_by=number)
            reason = f"a{number} took its place" if other in placed.ended else "said again"
            known[other] = self.changed(known[other], facets, author, reason, seq)
            if facets.valid_to is not None:
                closed.append(known[other])
        fact = state.passages.get([number])[number]
        successor = placed.successor
        if successor is not None and (known[successor].facets.valid_from or now) <= now:
            facets = replace(fact.facets, superseded_by=successor)
            fact = self.changed(fact, facets, author, f"a{successor} came after it", seq)
            state.lineage.add(
                f"a{successor}",
                [fact.short_id],
                "supersedes",
                seq=seq,
                version=known[successor].version,
            )
        state.lineage.add(
            fact.short_id,
            [f"a{each}" for each in placed.ended],
            "supersedes",
            seq=seq,
            version=fact.version,
        )
        near = self.near(fact.facets, list(known.values()))
        return FactAdded(fact, new, tuple(closed), near)

    def _keep_earlier(
        self, found: Passage, window: tuple[datetime, datetime], by: int, author: str
    ) -> None:
        """What was true before an episode, as a record of its own: what comes after has the old
        one."""
        facets = replace(windowed(found.facets, *window), superseded_by=by)
        state = self._state
        copy, _ = state.passages.insert(
            found.text,
            tags=found.tags,
            importance=found.importance,
            metadata=found.metadata,
            seq=state.journal.last_seq,
            provenance=replace(found.provenance, sources=(found.short_id,)),
            author=author,
            facets=facets,
            reason=f"before a{by}",
        )
        state.lineage.add(f"a{by}", [copy.short_id], "supersedes", seq=copy.seq)

    def changed(
        self,
        found: Passage,
        facets: Facets,
        author: str,
        reason: str,
        seq: int,
        base: int | None = None,
    ) -> Passage:
        """A fact with other facets, as a new version."""
        changed = self._state.passages.edit(
            found.number, None, facets=facets, base=base, author=author, reason=reason, seq=seq
        )
        assert changed is not None
        return changed

    def near(self, facets: Facets, others: Sequence[Passage]) -> tuple[Passage, ...]:
        """What else holds of the same subject and relation, on either side of it."""
        now = self._now()
        beside = list(others)
        if is_symmetric(facets.relation) and facets.subject_entity is not None:
            beside += self._state.facts.of_object(facets.subject_entity, facets.relation)
        others = [each for each in beside if not same_object(each.facets, facets)]
        found = {each.number: each for each in others if is_current(each, now)}
        return tuple(found[number] for number in sorted(found, reverse=True)[:FACT_NEAR])


def windowed(facets: Facets, start: datetime, end: datetime) -> Facets:
    """The same with another window."""
    return replace(
        facets,
        valid_from=None if start == EVER else start,
        valid_to=None if end == NEVER else end,
    )
