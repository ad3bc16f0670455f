"""AgentFacts: facts as the functions of an agent use them, for the turn that runs.

What is written is the model's own word, said by whoever the turn is of, and trusted no more than
the step that writes it; what a tainted step writes waits for a person. Implements services.Facts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from pagemind.runtime.archival_memory import check_importance, each_once
from pagemind.runtime.entity_resolver import alike_names, resolve
from pagemind.runtime.errors import ToolFailed
from pagemind.runtime.fact import Direction, FactAdded, FactFound
from pagemind.runtime.fact_search import FactQuery, FactSearch
from pagemind.runtime.facts import FactBook
from pagemind.runtime.floods import note
from pagemind.runtime.held import hold_end, may_change
from pagemind.runtime.message import TRUST, Provenance
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Held
from pagemind.runtime.sight import EVERYTHING, Sight
from pagemind.runtime.sources import sources_now
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import StepTrust, untrusted


class AgentFacts:
    """`written` is told of each change; what `sight` does not see is not there."""

    def __init__(
        self,
        state: State,
        *,
        turn: int,
        written: Callable[[], None],
        single: Sequence[str] = (),
        sight: Sight = EVERYTHING,
        trust: StepTrust | None = None,
        stores: bool = False,
    ) -> None:
        self._state = state
        self._turn = turn
        self._written = written
        self._book = FactBook(state, single=single)
        self._sight = sight
        self._trust = trust or StepTrust()
        self._stores = stores

    def add(
        self,
        subject: str,
        relation: str,
        object: str,
        text: str = "",
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
    ) -> FactAdded:
        check_importance(importance)
        trust = min(TRUST["model"], self._trust())
        foreign = untrusted(trust)
        made = self._book.add(
            subject,
            relation,
            object,
            text,
            valid_from=valid_from,
            valid_to=valid_to,
            speaker=self._speaker(),
            importance=importance,
            tags=each_once(tags),
            scope=self._sight.place(None),
            sources=sources_now(self._state, self._trust),
            provenance=Provenance(
                "model", trust=trust, status="pending" if foreign and not self._stores else "active"
            ),
            # What another agent told the model may end what the model knew, as before.
            authority=trust if foreign else TRUST["model"],
        )
        if made.aside and made.new:
            note(self._state, made.passage)
        self._written()
        return replace(
            made,
            closed=tuple(filter(self._sight.sees, made.closed)),
            near=tuple(filter(self._sight.sees, made.near)),
        )

    def close(self, number: int, at: datetime | None = None) -> Passage | Held:
        found = self._state.passages.get([number]).get(number)
        waits = found is not None and found.provenance.status == "pending"
        if found is None or waits or not self._sight.sees(found):
            raise ToolFailed(f"there is no fact a{number}; fact_search gives the ids")
        if found.kind != "fact":
            raise ToolFailed(
                f"a{number} is no fact but a {found.kind}: archival_edit and archival_delete are"
                " for those"
            )
        if not self._sight.changes(found):
            raise ToolFailed(f"a{number} stands in {found.facets.scope}, which you can only read")
        if not may_change(found, self._trust(), stores=self._stores):
            sources = sources_now(self._state, self._trust)
            return hold_end(self._state, found, at, trust=self._trust(), sources=sources)
        closed = self._book.close(number, at)
        self._written()
        return closed

    def search(
        self,
        entity: str,
        relation: str | None = None,
        *,
        direction: Direction | None = None,
        hops: int = 1,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[FactFound]:
        query = FactQuery(
            self._entity(entity), relation, direction, hops, as_of=as_of, known_at=known_at
        )
        return FactSearch(self._state, self._state.clock.now(), self._sight.sees).find(query)

    def history(self, entity: str, relation: str | None = None) -> list[Passage]:
        query = FactQuery(self._entity(entity), relation, None if relation else "out", past=True)
        found = FactSearch(self._state, self._state.clock.now(), self._sight.sees).find(query)
        return [each.fact for each in found]

    def _entity(self, name: str) -> int:
        found = resolve(self._state, name, seq=0, speaker=self._speaker(), make=False)
        if found is None:
            raise ToolFailed(unknown(self._state, name))
        return found

    def _speaker(self) -> str:
        turn = self._state.turns.get(self._turn)
        return turn.speaker if turn is not None else ""


def unknown(state: State, name: str) -> str:
    """What to say of a name that no fact is about."""
    like = alike_names(state, name)
    if like:
        return f"no fact is about {name[:60]!r}; did you mean {', '.join(like)}?"
    return f"no fact is about {name[:60]!r}"
