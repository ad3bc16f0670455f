"""The archival tier as tools and people use it: writes go to the state database, searches to
the one search. Implements services.Archival.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pagemind.runtime.dropped_plans import drop_plans
from pagemind.runtime.errors import PagemindError, ToolFailed
from pagemind.runtime.fact import reworded
from pagemind.runtime.floods import note
from pagemind.runtime.held import hold, may_change
from pagemind.runtime.keeping import PLAIN, Keeping
from pagemind.runtime.message import TRUST, Origin, Provenance, clean_text
from pagemind.runtime.passage import Passage, RecordKind
from pagemind.runtime.related import fold, linked
from pagemind.runtime.scope import seen
from pagemind.runtime.scope_guess import guess
from pagemind.runtime.services import Held, Near, SearchFilters, SearchResult
from pagemind.runtime.services import Recall as Searching
from pagemind.runtime.settings import NEAR_ASKS, NEAR_DUPLICATE, PASSAGE_CHARS, SCOPE_GUESS_LIKE
from pagemind.runtime.sight import EVERYTHING, Sight
from pagemind.runtime.sources import sources_now
from pagemind.runtime.state.changes import Op
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import StepTrust, untrusted
from pagemind.runtime.wording import contradicts

# What has a shelf and functions of its own: as a passage it would be changed past their rules.
_MADE: Mapping[RecordKind, str] = {
    "episode": "an episode: what happened in a turn is not changed",
    "skill": "a skill: skill_save makes a new version of it",
    "item": "a stored object: store_put and store_delete are for those",
}


def each_once(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags without white space around them, none twice."""
    return tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))


def check_importance(importance: float | None) -> None:
    """Raises ToolFailed for what is no importance."""
    if importance is not None and not 1 <= importance <= 10:
        raise ToolFailed(f"importance is a number from 1 to 10, not {importance:g}")


def check_length(text: str) -> None:
    """Raises ToolFailed for more than a passage holds."""
    if len(text) > PASSAGE_CHARS:
        raise ToolFailed(
            f"the text has {len(text):,} characters and a passage holds {PASSAGE_CHARS:,}; store"
            " it in parts"
        )


class ArchivalMemory:
    """Passages written on behalf of `author`: the model by default. What `sight` does not see is
    not there. `like` finds where a scope is inferred from; without it, `search`. `trust` is that of
    the step that writes: what it wrote with something untrusted in view waits for a person, unless
    such things are stored as they are (`stores`)."""

    def __init__(
        self,
        state: State,
        search: Searching,
        *,
        written: Callable[[], None],
        author: str = "model",
        origin: Origin = "model",
        detail: str = "",
        near: Callable[[str], list[tuple[str, float]]] | None = None,
        sight: Sight = EVERYTHING,
        like: Searching | None = None,
        trust: StepTrust | None = None,
        stores: bool = False,
    ) -> None:
        self._state = state
        self._search = search
        self._written = written
        self._author = author
        self._origin: Origin = origin
        self._detail = detail
        self._near = near
        self.sight = sight
        self._like = like or search
        self._trust = trust or StepTrust()
        self._stores = stores

    def for_person(self, document: str = "") -> "ArchivalMemory":
        """The same memory, written by a person: their own words, or pieces of a named document."""
        return ArchivalMemory(
            self._state,
            self._search,
            written=self._written,
            author="user",
            origin="document" if document else "user",
            detail=document,
            near=self._near,
            sight=self.sight.of_person,
            like=self._like,
        )

    def for_agent(self, name: str) -> "ArchivalMemory":
        """The same memory, written by another agent or program: trusted as such."""
        return ArchivalMemory(
            self._state,
            self._search,
            written=self._written,
            author="agent",
            origin="agent",
            detail=name,
            near=self._near,
            sight=self.sight.of_program(name),
            like=self._like,
        )

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult:
        return self._search.search(query, filters, limit, ranking=ranking)

    def gathered(self, result: SearchResult, filters: SearchFilters) -> SearchResult:
        hits = fold(self._state, result.hits)
        return replace(
            result, hits=tuple(hits), linked=tuple(linked(self._state, result.hits, filters))
        )

    def near(self, text: str) -> list[Near]:
        """Never fails: an insert goes on without it."""
        try:
            found = self._near(clean_text(text)) if self._near else []
        except PagemindError:
            return []
        close = {int(id[1:]): score for id, score in found if score >= NEAR_ASKS}
        known = self._state.passages.get(list(close))
        near = [
            Near(
                p.short_id,
                close[number],
                p.text,
                contradicts(p.text, text),
                p.provenance.trust,
            )
            for number in close
            if (p := known.get(number)) is not None
            and p.provenance.status == "active"
            and not p.gone(self._state.clock.now())
            and self.sight.sees(p)
        ]
        return [each for each in near if each.otherwise or each.similarity >= NEAR_DUPLICATE]

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        keeping: Keeping = PLAIN,
    ) -> tuple[Passage, bool]:
        text = clean_text(text)
        if not text.strip():
            raise ToolFailed("there is nothing to store: content is empty")
        check_length(text)
        check_importance(importance)
        tags = each_once(tags)
        facets = keeping.facets(self._place(text, tags, keeping), self._state.clock.now())
        trust = min(TRUST[self._origin], self._trust())
        waits = untrusted(self._trust()) and not self._stores
        if waits and (same := self._state.passages.waiting(text, facets)) is not None:
            return same, False
        stored = self._state.passages.insert(
            text,
            tags=tags,
            importance=importance,
            metadata=dict(metadata or {}),
            seq=self._state.journal.last_seq,
            provenance=Provenance(
                self._origin,
                self._detail,
                trust,
                "pending" if waits else "active",
                sources=self._sources(),
            ),
            author=self._author,
            facets=facets,
        )
        if waits and stored[1]:
            note(self._state, stored[0])
        self._written()
        return stored

    def _place(self, text: str, tags: Sequence[str], keeping: Keeping) -> str:
        """The scope of something new. Raises ToolFailed."""
        home = self.sight.place(keeping.scope)
        if keeping.scope is not None or not self.sight.infers:
            return home
        words = " ".join((*tags, text))
        like = self._like.search(words, SearchFilters(), SCOPE_GUESS_LIKE).hits
        own = [hit for hit in like if not hit.archive]
        guessed = guess(home, tags, self._state.passages.scopes(), own)
        return guessed if seen(guessed, self.sight.writable) else home

    def edit(self, number: int, text: str) -> Passage | Held:
        text = clean_text(text)
        if not text.strip():
            raise ToolFailed("the new text is empty; archival_delete retires a passage")
        check_length(text)
        known = self._check(number)
        if not may_change(known, self._trust(), stores=self._stores):
            return self._hold("update", known, {"text": text})
        changed = self._state.passages.edit(
            number,
            text,
            facets=reworded(known.facets, text),
            author=self._author,
            reason="edited",
            seq=self._state.journal.last_seq,
        )
        return self._known(changed, number)

    def delete(self, number: int) -> Passage | Held:
        known = self._check(number)
        if not may_change(known, self._trust(), stores=self._stores):
            return self._hold("delete", known, {})
        with self._state.database.transaction():
            changed = self._state.passages.set_status(
                number,
                "retired",
                author=self._author,
                reason="deleted",
                seq=self._state.journal.last_seq,
            )
            if changed is not None and self._author == "user":
                drop_plans(self._state, changed, self._author)
        return self._known(changed, number)

    def _hold(self, op: Op, known: Passage, body: Mapping[str, Any]) -> Held:
        trust = self._trust()
        return hold(self._state, op, known, body, trust=trust, sources=self._sources())

    def _sources(self) -> tuple[str, ...]:
        return sources_now(self._state, self._trust) if self._author == "model" else ()

    def _check(self, number: int) -> Passage:
        """Raises ToolFailed for what is not there for whoever asks, and what it only reads."""
        found = self._state.passages.get([number]).get(number)
        if found is None or not self._sees(found):
            return self._known(None, number)
        if not self.sight.changes(found):
            allowed = ", ".join(self.sight.writable)
            raise ToolFailed(
                f"a{number} stands in {found.facets.scope}, which you can only read; you can change"
                f" what is in {allowed} and below"
            )
        if found.kind in _MADE and self._author != "user":
            raise ToolFailed(f"a{number} is no passage but {_MADE[found.kind]}")
        return found

    def _sees(self, passage: Passage) -> bool:
        """A person sees what is cold or waits, too."""
        waits = passage.provenance.status == "pending"
        hidden = waits or passage.gone(self._state.clock.now())
        return not (hidden and self.sight.viewer is not None) and self.sight.sees(passage)

    def _known(self, passage: Passage | None, number: int) -> Passage:
        if passage is None:
            raise ToolFailed(
                f"there is no passage a{number}; archival_search gives the ids of those there are"
            )
        self._written()
        return passage

    def changed(self) -> None:
        """Records were changed beside this: have their rows written back."""
        self._written()

    def count(self) -> int:
        return self._state.passages.count()
