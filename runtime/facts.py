"""FactBook: facts in time, a view over the records of an agent.

A fact has a subject, a relation, an object and a window in which it is true. Of a relation that
holds one value at a time a new fact ends the one before, which stays with its window; only facts of
the same subject, relation, scope and owner may do that to each other. Nothing is deleted.

What is untrusted teaches no names: whom it is about is looked up, and made out once it is trusted.
Where what is trusted says the same, it takes the place of what is not.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import Clock
from pagemind.runtime.entity_names import is_first_person, is_pronoun, plain
from pagemind.runtime.entity_resolver import Asked, resolve
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.fact import (
    FactAdded,
    FactFound,
    began,
    is_current,
    names_entity,
    same_object,
)
from pagemind.runtime.fact_placing import Placing, windowed
from pagemind.runtime.fact_search import FactQuery, FactSearch
from pagemind.runtime.message import TRUST, Provenance, clean_text
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.relations import (
    NAMES,
    is_single,
    relation_of,
    words_of,
)
from pagemind.runtime.settings import PASSAGE_CHARS
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted

_MODEL = Provenance("model", trust=TRUST["model"])


class FactBook:
    """Of one agent. `single` are relations that hold one value at a time, beside those that are
    shipped and that the agent's definition names; `ask` is a
    model's word on names that it is uncertain about. Hold the agent's lock while writing."""

    def __init__(
        self,
        state: State,
        clock: Clock | None = None,
        *,
        single: Collection[str] = (),
        ask: Asked | None = None,
    ) -> None:
        self._state = state
        self._now = (clock or state.clock).now
        self._placing = Placing(state, self._now)
        self._single = tuple(single)
        self._ask = ask

    def is_single(self, relation: str) -> bool:
        """Whether a subject has one value of this relation at a time."""
        return is_single(relation, (*self._single, *self._state.facts.single))

    def entity(self, name: str, *, speaker: str = "") -> int | None:
        """The entity of a name, if it is known."""
        return resolve(self._state, name, seq=0, speaker=speaker, make=False)

    # --- reading --------------------------------------------------------------------------------

    def current(self, entity: int, relation: str | None = None) -> list[Passage]:
        """What is true of a subject now, the oldest first."""
        now = self._now()
        facts = self._state.facts.of_subject(entity, _named(relation))
        return [each for each in reversed(facts) if is_current(each, now)]

    def history(self, entity: int, relation: str | None = None) -> list[Passage]:
        """Every fact about a subject with its window, what was true first first."""
        facts = self._state.facts.of_subject(entity, _named(relation))
        return sorted(facts, key=began)

    def search(self, query: FactQuery) -> list[FactFound]:
        """Facts at an entity, along relations, at a time."""
        return FactSearch(self._state, self._now()).find(query)

    # --- writing --------------------------------------------------------------------------------

    def add(
        self,
        subject: str,
        relation: str,
        object: str,
        text: str = "",
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        speaker: str = "",
        importance: float | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        scope: str = "/",
        owner: str = "",
        provenance: Provenance = _MODEL,
        author: str = "model",
        reason: str = "inserted",
        sources: Sequence[str] = (),
        authority: int | None = None,
    ) -> FactAdded:
        """Keep a fact, and end what it takes the place of, in one transaction.

        `speaker` is who said it: "I" and "me" are that one. Without `valid_from` a fact that ends
        another begins now. What comes as pending is kept as it was said: it touches no other record
        and no name until it is approved. `authority` is the trust by which it may end others, where
        that is not its own. Raises ToolFailed for a subject or object that names nobody, a naive
        time, an empty window.
        """
        _check(valid_from, valid_to)
        known = relation_of(relation)
        if known is None:
            raise ToolFailed("relation says nothing; write a verb such as lives_in or likes")
        # Here, before a name of somebody or something is made of it.
        look = self._state.screen.look(author, provenance.origin)
        text, subject, object = (
            look.text(clean_text(each).strip()) for each in (text, subject, object)
        )
        if known.inverted:
            subject, object = object, subject
        name = known.name
        provenance = replace(provenance, sources=(*provenance.sources, *sources))
        state, seq = self._state, self._state.journal.last_seq
        waits = provenance.status == "pending"
        with state.database.transaction():
            make = not untrusted(provenance.trust)
            of = None if waits else self._resolved("subject", subject, speaker, seq, make)
            subject = self._called(subject, of)
            to = None
            if not waits and names_entity(name, object):
                to = self._resolved("object", object, speaker, seq, make)
                object = self._called(object, to)
            elif not object:
                raise ToolFailed("object is empty; write what the subject is, has or does")
            text = text or f"{subject} {words_of(name)} {object}."
            if len(text) > PASSAGE_CHARS:
                raise ToolFailed(f"the text has {len(text):,} characters; a fact is a sentence")
            facets = Facets(
                "fact",
                subject,
                name,
                object,
                of,
                to,
                speaker,
                scope,
                owner,
                valid_from=valid_from,
                valid_to=valid_to,
            )
            new = _New(
                facets,
                text,
                provenance,
                author,
                reason,
                seq,
                tuple(tags),
                importance,
                metadata,
                provenance.trust if authority is None else authority,
            )
            if waits:
                if not subject:
                    raise ToolFailed("subject is empty; write a name")
                same = state.passages.waiting(text, facets)
                return FactAdded(same or self._insert(new, facets), same is None)
            if of is None:
                return FactAdded(self._insert(new, facets), True)  # nothing is known of anybody
            single = self.is_single(name)
            return self._add_single(new) if single else self._add_one_more(new)

    def close(
        self,
        number: int,
        at: datetime | None = None,
        *,
        by: int | None = None,
        author: str = "model",
        reason: str = "no longer true",
        base: int | None = None,
    ) -> Passage:
        """End a fact, or another record, at a time, by default now; `by` is the number of what took
        its place. Raises ToolFailed for one that is not there, is over already or begins later;
        RecordChanged where it is not of the version `base` any more."""
        _check(at, None)
        state = self._state
        with state.database.transaction():
            found = state.passages.get([number]).get(number)
            if found is None or found.provenance.status == "retired":
                raise ToolFailed(f"there is no record a{number}; fact_search gives the ids")
            now = self._now()
            begun = found.facets.valid_from
            if at is not None and begun is not None and at < begun:
                said = begun.astimezone(at.tzinfo)
                raise ToolFailed(f"a{number} begins at {said:%Y-%m-%d}, after that")
            if not is_current(found, now) and found.facets.superseded_by is not None:
                raise ToolFailed(f"a{number} is over: a{found.facets.superseded_by} took its place")
            ends = at or max(now, begun or now)
            facets = replace(found.facets, valid_to=ends, superseded_by=by)
            return self._placing.changed(
                found, facets, author, reason, state.journal.last_seq, base
            )

    def approve(self, number: int, *, author: str = "user", reason: str = "approved") -> FactAdded:
        """Let a fact that was kept aside take its place among the others. Raises ToolFailed for
        one that was not."""
        state = self._state
        with state.database.transaction():
            found = state.passages.get([number]).get(number)
            if found is None or found.provenance.status != "pending":
                raise ToolFailed(f"a{number} does not wait to be approved")
            seq = state.journal.last_seq
            state.passages.set_status(number, "active", author=author, reason=reason, seq=seq)
            facets = self._known_by_name(found, seq)
            if found.kind != "fact":
                return FactAdded(state.passages.get([number])[number], True)
            others = [each for each in self._placing.rivals(facets) if each.number != number]
            if not self.is_single(facets.relation):
                same = [each for each in others if same_object(each.facets, facets)]
                if any(is_current(each, self._now()) for each in same):
                    raise ToolFailed(f"{same[0].short_id} says the same as a{number} already")
                if facets != found.facets:
                    found = self._placing.changed(found, facets, author, reason, seq)
                self._also_called(facets, seq)
                return FactAdded(state.passages.get([number])[number], True)
            placed = self._placing.placed(facets, others)
            if placed.same is not None:
                raise ToolFailed(f"a{placed.same} says the same as a{number} already")
            self._placing.changed(
                found, windowed(facets, placed.start, placed.end), author, reason, seq
            )
            return self._placing.settle(number, placed, others, author, True)

    # --- inside ---------------------------------------------------------------------------------

    def learn(self, number: int, *, author: str, reason: str = "trusted") -> None:
        """Make out whom a fact is about that taught no names as long as it was not trusted."""
        state, seq = self._state, self._state.journal.last_seq
        with state.database.transaction():
            found = state.passages.get([number])[number]
            facets = self._known_by_name(found, seq)
            if facets != found.facets:
                self._placing.changed(found, facets, author, reason, seq)
            if found.kind == "fact":
                self._also_called(facets, seq)

    def _resolved(
        self, what: str, name: str, speaker: str, seq: int, make: bool = True
    ) -> int | None:
        """The entity; None where none may be made and none is known."""
        ask = self._ask if make else None
        found = resolve(self._state, name, seq=seq, speaker=speaker, make=make, ask=ask)
        if found is None and (make or is_pronoun(name) or not plain(name)):
            raise ToolFailed(
                f"{what} {name[:40]!r} names nobody; write a name, not a word that points back"
                if name
                else f"{what} is empty; write a name"
            )
        return found

    def _called(self, name: str, entity: int | None) -> str:
        """A name as it was said; the entity's own where that was "I"."""
        if entity is None or not is_first_person(name):
            return name
        return self._state.entities.get([entity])[entity].name

    def _add_one_more(self, new: "_New") -> FactAdded:
        """Of a relation that may have many values: none ends another."""
        others, outdone = self._rivals(new)
        now = self._now()
        for each in others:
            if same_object(each.facets, new.facets) and is_current(each, now):
                return self._again(each, new)
        passage = self._insert(new, new.facets)
        self._retire(outdone, passage, new)
        return FactAdded(passage, True, near=self._placing.near(new.facets, others))

    def _rivals(self, new: "_New") -> tuple[list[Passage], list[Passage]]:
        """The others of the matter, and those that say the same and are untrusted, as this is not:
        they do not count as said."""
        rivals, now = self._placing.rivals(new.facets), self._now()
        outdone = [
            each
            for each in rivals
            if not untrusted(new.provenance.trust)
            and untrusted(each.provenance.trust)
            and is_current(each, now)
            and same_object(each.facets, new.facets)
        ]
        return [each for each in rivals if each not in outdone], outdone

    def _retire(self, outdone: Sequence[Passage], by: Passage, new: "_New") -> None:
        """What is known from a better source now; it can be restored."""
        for each in outdone:
            self._state.passages.set_status(
                each.number,
                "retired",
                author=new.author,
                reason=f"{by.short_id} says it, and is trusted",
                seq=new.seq,
            )

    def _again(self, found: Passage, new: "_New") -> FactAdded:
        """The same said again: its window may become wider at the beginning, or end."""
        facets, begins, ends = found.facets, new.facets.valid_from, new.facets.valid_to
        if begins and facets.valid_from and begins < facets.valid_from:
            facets = replace(facets, valid_from=begins)
        if ends and facets.valid_to is None:
            facets = replace(facets, valid_to=ends)
        closed: tuple[Passage, ...] = ()
        if facets != found.facets and self._may_end(found, new):
            ended = facets.valid_to != found.facets.valid_to
            found = self._placing.changed(found, facets, new.author, "said again", new.seq)
            closed = (found,) if ended else ()
        self._said_by(found, new)
        return FactAdded(found, False, closed)

    def _add_single(self, new: "_New") -> FactAdded:
        others, outdone = self._rivals(new)
        placed = self._placing.placed(new.facets, others)
        numbers = {each.number: each for each in others}
        touched = [numbers[number] for number in placed.windows]
        may = all(self._may_end(each, new) for each in touched)
        if placed.same is not None:
            known = numbers[placed.same]
            self._said_by(known, new)
            if not may:
                return FactAdded(known, False)
            return self._placing.settle(placed.same, placed, others, new.author, False)
        if not may:
            return self._aside(new, touched)
        passage = self._insert(new, windowed(new.facets, placed.start, placed.end))
        self._retire(outdone, passage, new)
        return self._placing.settle(passage.number, placed, others, new.author, True)

    def own_word(self, fact: Passage) -> bool:
        """Whether somebody said it of itself."""
        by, of = fact.facets.speaker, fact.facets.subject_entity
        return bool(by) and of is not None and self.entity(by) == of

    def may_end(self, known: Passage, trust: int, speaker: str) -> bool:
        """Whether a source of that trust may end a fact: not a less trusted one, and nobody what
        another has said of itself."""
        if less_trusted(known, trust):
            return False
        of = known.facets.subject_entity
        return not speaker or not self.own_word(known) or self.entity(speaker) == of

    def _may_end(self, known: Passage, new: "_New") -> bool:
        return self.may_end(known, new.authority, new.facets.speaker)

    def _aside(self, new: "_New", against: Sequence[Passage]) -> FactAdded:
        facets = new.facets
        assert facets.subject_entity is not None
        waiting = self._state.facts.of_subject(
            facets.subject_entity, facets.relation, status="pending"
        )
        for each in waiting:
            if same_object(each.facets, facets):
                return FactAdded(each, False, near=tuple(against))
        provenance = replace(new.provenance, status="pending")
        passage = self._insert(replace(new, provenance=provenance), facets)
        return FactAdded(passage, True, near=tuple(against))

    def _insert(self, new: "_New", facets: Facets) -> Passage:
        state = self._state
        passage, _ = state.passages.insert(
            new.text,
            tags=new.tags,
            importance=new.importance,
            metadata=dict(new.metadata or {}),
            seq=new.seq,
            provenance=new.provenance,
            author=new.author,
            facets=facets,
            reason=new.reason,
        )
        if passage.provenance.status == "active" and not untrusted(passage.provenance.trust):
            self._also_called(facets, new.seq)
        return passage

    def _also_called(self, facets: Facets, seq: int) -> None:
        """A fact that says a name gives it to its subject."""
        if facets.relation in NAMES:
            assert facets.subject_entity is not None
            self._state.entities.also(
                facets.subject_entity, facets.object, plain(facets.object), how="said", seq=seq
            )

    def _known_by_name(self, found: Passage, seq: int) -> Facets:
        """The facets of a fact that was kept as it was said, with whom and what it names."""
        facets = found.facets
        if found.kind != "fact" or facets.subject_entity is not None:
            return facets
        of = self._resolved("subject", facets.subject, facets.speaker, seq)
        facets = replace(facets, subject=self._called(facets.subject, of), subject_entity=of)
        if names_entity(facets.relation, facets.object):
            to = self._resolved("object", facets.object, facets.speaker, seq)
            facets = replace(facets, object=self._called(facets.object, to), object_entity=to)
        return facets

    def _said_by(self, known: Passage, new: "_New") -> None:
        """What was said again has a further source."""
        self._state.lineage.add(
            known.short_id, new.provenance.sources, "merged", seq=new.seq, version=known.version
        )


@dataclass(frozen=True, slots=True)
class _New:
    """A fact that is to be added, complete but for its place in time."""

    facets: Facets
    text: str
    provenance: Provenance
    author: str
    reason: str
    seq: int
    tags: tuple[str, ...]
    importance: float | None
    metadata: Mapping[str, Any] | None
    authority: int


def less_trusted(known: Passage, trust: int) -> bool:
    """Whether a source of that trust is trusted too little to change a record."""
    return trust < min(known.provenance.trust, TRUST["model"])


def _named(relation: str | None) -> str | None:
    if relation is None:
        return None
    known = relation_of(relation)
    return known.name if known else relation


def _check(begins: datetime | None, ends: datetime | None) -> None:
    for at in (begins, ends):
        if at is not None and at.tzinfo is None:
            raise ToolFailed(f"{at.isoformat()} has no time zone; a fact's times are aware")
    if begins is not None and ends is not None and ends <= begins:
        raise ToolFailed(f"it would end ({ends:%Y-%m-%d}) before it begins ({begins:%Y-%m-%d})")
