"""Searching facts by who they are about: along relations, not by likeness, at a time.

Two times may be asked for: when something was true in the world, and when it was believed here.
What was taken back by an undo is not believed from then on.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from pagemind.runtime.fact import Direction, FactFound, began, is_current, was_true
from pagemind.runtime.passage import Passage
from pagemind.runtime.relations import is_symmetric, relation_of
from pagemind.runtime.settings import FACT_NEIGHBOURS, FACTS_FOUND
from pagemind.runtime.state.state import State

Sees = Callable[[Passage], bool]


def anything(fact: Passage) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FactQuery:
    """`relation` narrows what is answered; of two steps the first may be any. Without `direction`:
    facts about an entity where a relation is named, else both sides. `past`: what is over, too."""

    entity: int
    relation: str | None = None
    direction: Direction | None = None
    hops: int = 1
    as_of: datetime | None = None  # true in the world then
    known_at: datetime | None = None  # as it was believed then
    past: bool = False


class FactSearch:
    """`now` is an aware time; `sees` says which facts are there for whoever asks."""

    def __init__(self, state: State, now: datetime, sees: Sees = anything) -> None:
        self._state = state
        self._now = now
        self._sees = sees

    def find(self, query: FactQuery) -> list[FactFound]:
        """The oldest first; what is two steps away after what is one away."""
        relation, direction = _sides(query)
        first = self._of(query, query.entity, relation, direction)
        found = {fact.number: FactFound(fact) for fact in sorted(first, key=began)}
        if query.hops < 2:
            return list(found.values())
        further: dict[int, FactFound] = {}
        for fact, neighbour in self._neighbours(query):
            side: Direction = direction if query.relation or query.direction else "out"
            for each in self._of(query, neighbour, relation, side):
                if each.number not in found and each.number != fact.number:
                    further.setdefault(each.number, FactFound(each, fact))
        return [*found.values(), *sorted(further.values(), key=lambda each: began(each.fact))]

    def _neighbours(self, query: FactQuery) -> Iterator[tuple[Passage, int]]:
        """Whom the first step leads to, each once, by the newest fact."""
        met = {query.entity}
        side: Direction = "both" if query.relation else query.direction or "both"
        for fact in self._of(query, query.entity, None, side):
            for end in (fact.facets.subject_entity, fact.facets.object_entity):
                if end is not None and end not in met:
                    met.add(end)
                    yield fact, end
            if len(met) > FACT_NEIGHBOURS:
                return

    def _of(
        self, query: FactQuery, entity: int, relation: str | None, direction: Direction
    ) -> list[Passage]:
        """The facts on the sides of an entity that count, the newest first."""
        facts = self._state.facts
        if query.known_at is not None:
            some = facts.as_known(entity, relation, query.known_at, FACTS_FOUND)
        else:
            some = facts.of_subject(entity, relation, FACTS_FOUND) if direction != "in" else []
            if direction != "out":
                some += facts.of_object(entity, relation, FACTS_FOUND)
        both = direction == "both"
        each_once = {
            fact.number: fact
            for fact in some
            if (both or direction == "out" or fact.facets.object_entity == entity)
            and (both or direction == "in" or fact.facets.subject_entity == entity)
            and self._counts(query, fact)
        }
        return list(each_once.values())

    def _counts(self, query: FactQuery, fact: Passage) -> bool:
        at = query.as_of or query.known_at or self._now
        facets = fact.facets
        if facets.cold or not self._sees(fact):
            return False
        if facets.expires_at is not None and facets.expires_at <= self._now:
            return False
        if query.as_of is not None:
            return fact.holds(at) and was_true(fact)
        return query.past or is_current(fact, at)


def _sides(query: FactQuery) -> tuple[str | None, Direction]:
    """The relation by its one name, and the sides to look at: whom Alice manages are those whose
    manager she is."""
    if query.relation is None:
        return None, query.direction or "both"
    known = relation_of(query.relation)
    if known is None:
        return query.relation, query.direction or "out"
    side: Direction = query.direction or "out"
    if is_symmetric(known.name):
        side = "both"
    elif known.inverted and side != "both":
        side = "in" if side == "out" else "out"
    return known.name, side


def all_facts(
    state: State,
    now: datetime,
    *,
    relation: str | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    past: bool = False,
    entities: Collection[int] | None = None,
    sees: Sees = anything,
) -> list[Passage]:
    """The facts about everybody, or about some: whom most is known of first, and of each what came
    first; with `past` what was true first."""
    search = FactSearch(state, now, sees)
    found: dict[int, Passage] = {}
    for entity, _ in state.facts.entities():
        if entities is None or entity in entities:
            query = FactQuery(entity, relation, "out", 1, as_of, known_at, past)
            some = [each.fact for each in search.find(query)]
            if not past:
                some.sort(key=lambda fact: fact.number)
            found.update({fact.number: fact for fact in some})
    return list(found.values())
