"""ItemStore: JSON values under a namespace and a key (after LangGraph's store), as records of the
kind `item`: versioned, scoped, undone and exported like all others, and no hits of other searches.

A namespace is a scope. put() is a new version of what stands there; delete() hides it, recoverably.
An item with a `ttl` is gone when its time is over; by default each reading begins that time anew.
A tainted step may store items, which are trusted as little as itself; it takes the place of none
that is trusted more, and deletes none.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from pagemind.runtime.errors import PagemindError, RecordChanged, ToolFailed, UserError
from pagemind.runtime.item import (
    Index,
    Item,
    Namespace,
    checked_filter,
    checked_key,
    checked_value,
    listed,
    namespace_of,
    passes,
    pattern_of,
    text_of,
)
from pagemind.runtime.keeping import Ttl, ttl_of
from pagemind.runtime.message import TRUST, Origin, Provenance, clean_json
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import (
    SEARCH_LIMIT,
    STORE_FILTERED,
    STORE_LIMIT,
    STORE_REFRESH_FRACTION,
)
from pagemind.runtime.sight import EVERYTHING, Sight
from pagemind.runtime.sources import sources_now
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import StepTrust, untrusted
from pagemind.runtime.tiers.search import Search

_ITEMS = SearchFilters(kinds=("item",), standings=("item",))


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a store reads or writes: the state, its search, and what is told of a change."""

    state: State
    search: Search
    written: Callable[[], None] = lambda: None


Opened = Callable[[], AbstractContextManager[Shelf]]


class ItemStore:
    """`reading` and `writing` open the shelf for one call; `origin` and `detail` say who writes, in
    a step of that `trust`."""

    def __init__(
        self,
        reading: Opened,
        writing: Opened,
        *,
        sight: Sight = EVERYTHING,
        origin: Origin = "user",
        detail: str = "",
        trust: StepTrust | None = None,
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._sight = sight
        self._origin: Origin = origin
        self._detail = detail
        self._step_trust = trust or StepTrust()

    def for_person(self, lock: AbstractContextManager[object]) -> "ItemStore":
        """The same without bounds, opened under a lock."""

        @contextmanager
        def held(opened: Opened) -> Iterator[Shelf]:
            with lock, opened() as shelf:
                yield shelf

        return ItemStore(
            lambda: held(self._reading),
            lambda: held(self._writing),
            sight=self._sight.of_person,
        )

    def put(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        ttl: Ttl | None = None,
        index: Index = None,
        if_version: int | None = None,
        refresh_on_read: bool = True,
    ) -> Item:
        """Store a value; what was there stays in its history. With `if_version` only over that
        version (0: only where nothing is), else RecordChanged. `index`: which fields a search by
        words reads; False: only the key. Raises UserError, ToolFailed for a scope out of bounds.
        """
        scope, key = self._sight.place(namespace_of(namespace, self._sight.home)), checked_key(key)
        value = checked_value(clean_json(value))
        last = ttl_of(ttl)
        with self._writing() as shelf, shelf.state.database.transaction():
            value = shelf.state.screen.look(self._author, self._origin).json(value, "value")
            text = text_of(key, value, index)
            now = shelf.state.clock.now()
            there = self._there(shelf, scope, key)
            version = shelf.state.items.version(scope, key) if there else 0
            if if_version is not None and if_version != version:
                is_now = f"is version {version} now" if there else "is not there"
                raise RecordChanged(f"{scope} {key} {is_now}, and not version {if_version}")
            trust = min(TRUST[self._origin], self._step_trust())
            model = self._origin == "model"
            sources = sources_now(shelf.state, self._step_trust) if model else ()
            if there is None:
                self._retire_expired(shelf, scope, key)
            else:
                self._refuse_better(there)
                if untrusted(there.provenance.trust) and trust > there.provenance.trust:
                    # An old value must not come back with the trust of the new one.
                    self._retire(shelf, there, "put")
                    there = None
            metadata: dict[str, Any] = {"value": value}
            if last:
                metadata |= {"ttl": last.total_seconds(), "refresh": refresh_on_read}
            facets = Facets("item", scope=scope, key=key, expires_at=now + last if last else None)
            seq, author = shelf.state.journal.last_seq, self._author
            if there is not None:
                passage = shelf.state.passages.edit(
                    there.number,
                    text,
                    metadata=metadata,
                    facets=facets,
                    trust=trust,
                    author=author,
                    reason="put",
                    seq=seq,
                )
                assert passage is not None
                shelf.state.lineage.add(
                    there.short_id, sources, "from", seq=seq, version=passage.version
                )
            else:
                passage, _ = shelf.state.passages.insert(
                    text,
                    tags=(),
                    importance=None,
                    metadata=metadata,
                    seq=seq,
                    provenance=Provenance(self._origin, self._detail, trust, sources=sources),
                    author=author,
                    facets=facets,
                    reason="put",
                )
            shelf.written()
            return self._item(shelf, passage)

    def get(self, namespace: str, key: str, *, refresh: bool = True) -> Item | None:
        """The item, None if there is none; `refresh` False leaves its time as it is."""
        scope, key = namespace_of(namespace, self._sight.home), checked_key(key)
        with self._reading() as shelf:
            there = self._there(shelf, scope, key)
            if there is None:
                return None
            item = self._item(shelf, there)
        return self._refreshed([(there, item)], refresh)[0]

    def delete(self, namespace: str, key: str, *, if_version: int | None = None) -> bool:
        """Hide an item; whether it was there. Raises as put()."""
        scope, key = self._sight.place(namespace_of(namespace, self._sight.home)), checked_key(key)
        with self._writing() as shelf, shelf.state.database.transaction():
            there = self._there(shelf, scope, key)
            version = shelf.state.items.version(scope, key) if there else 0
            if if_version is not None and if_version != version:
                raise RecordChanged(f"{scope} {key} is version {version}, and not {if_version}")
            if there is None:
                return False
            self._refuse_better(there)
            self._retire(shelf, there, "deleted")
            shelf.written()
            return True

    def search(
        self,
        namespace: str = "",
        *,
        query: str | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int = STORE_LIMIT,
        offset: int = 0,
        refresh: bool = True,
    ) -> list[Item]:
        """Items in a namespace and below: with a query the best first, else by namespace and key.
        A filter holds before anything is ranked. Raises UserError."""
        scope, wanted = namespace_of(namespace, self._sight.home), checked_filter(filter)
        if limit < 1 or offset < 0:
            raise UserError("limit is at least 1, and offset at least 0")
        with self._reading() as shelf:
            if query is not None and query.strip():
                found = self._best(shelf, scope, query, wanted, offset + limit)
            else:
                found = self._all(shelf, scope, wanted)
            some = list(islice(found, offset, offset + limit))
        return self._refreshed(some, refresh)

    def namespaces(
        self, pattern: str = "", *, depth: int | None = None, limit: int = 100, offset: int = 0
    ) -> list[Namespace]:
        """The namespaces that begin with a pattern, `*` for any one name, by name; cut to so many
        names, if `depth` says so."""
        if limit < 1 or offset < 0 or (depth is not None and depth < 1):
            raise UserError("limit and depth are at least 1, and offset at least 0")
        names = pattern_of(pattern, self._sight.home)
        with self._reading() as shelf:
            counts: dict[str, int] = {}
            for passage in self._seen(shelf, "/"):
                counts[passage.facets.scope] = counts.get(passage.facets.scope, 0) + 1
        return listed(counts, names, depth)[offset : offset + limit]

    # --- inside ---------------------------------------------------------------------------------

    @property
    def _author(self) -> str:
        return self._detail or self._origin

    def _refuse_better(self, there: Passage) -> None:
        """Raises ToolFailed where a tainted step would change what is trusted more."""
        if untrusted(self._step_trust()) and there.provenance.trust > self._step_trust():
            raise ToolFailed(
                f"{there.facets.key} in {there.facets.scope} stays as it is: text from outside is"
                " in view, and it was stored without. Put this under another key, or have a person"
                " change it"
            )

    def _there(self, shelf: Shelf, scope: str, key: str) -> Passage | None:
        found = shelf.state.passages.named("item", scope, key)
        if found is None or not self._sight.sees(found):
            return None
        return found if _fresh(found, shelf.state.clock.now()) else None

    def _retire_expired(self, shelf: Shelf, scope: str, key: str) -> None:
        old = shelf.state.passages.named("item", scope, key)
        if old is not None and not _fresh(old, shelf.state.clock.now()):
            self._retire(shelf, old, "expired")

    def _retire(self, shelf: Shelf, passage: Passage, reason: str) -> None:
        shelf.state.passages.set_status(
            passage.number,
            "retired",
            author=self._author,
            reason=reason,
            seq=shelf.state.journal.last_seq,
        )

    def _item(self, shelf: Shelf, passage: Passage, score: float | None = None) -> Item:
        facets = passage.facets
        assert passage.created_at is not None
        assert passage.updated_at is not None
        return Item(
            facets.scope,
            facets.key,
            passage.metadata.get("value"),
            shelf.state.items.version(facets.scope, facets.key),
            passage.created_at,
            passage.updated_at,
            facets.expires_at,
            score,
            passage.provenance.trust,
        )

    def _seen(self, shelf: Shelf, scope: str) -> Iterator[Passage]:
        """The items in a scope and below that may be seen, by scope and key."""
        now = shelf.state.clock.now()
        for passage in shelf.state.items.within(scope):
            if self._sight.sees(passage) and _fresh(passage, now):
                yield passage

    def _all(
        self, shelf: Shelf, scope: str, wanted: Mapping[str, Any]
    ) -> Iterator[tuple[Passage, Item]]:
        for passage in self._seen(shelf, scope):
            if passes(passage.metadata.get("value"), wanted):
                yield passage, self._item(shelf, passage)

    def _best(
        self, shelf: Shelf, scope: str, query: str, wanted: Mapping[str, Any], most: int
    ) -> Iterator[tuple[Passage, Item]]:
        filters = replace(_ITEMS, scopes=(scope,))
        if wanted:
            fitting = islice(self._all(shelf, scope, wanted), STORE_FILTERED)
            ids = tuple(passage.short_id for passage, _ in fitting)
            if not ids:
                return
            filters = replace(filters, ids=ids)
        narrowed = self._sight.narrowed(filters)
        if narrowed is None:
            return
        hits = shelf.search.search("archival", query, narrowed, max(most, SEARCH_LIMIT)).hits
        own = {int(hit.id[1:]): hit.score for hit in hits if not hit.archive}
        known = shelf.state.passages.get(list(own))
        for number, score in own.items():
            if (passage := known.get(number)) is not None and passage.kind == "item":
                yield passage, self._item(shelf, passage, score)

    def _refreshed(self, found: list[tuple[Passage, Item]], refresh: bool) -> list[Item]:
        """The items, those that were read beginning their time anew. Not each reading writes: only
        one after a part of that time."""
        due: dict[int, timedelta] = {}
        for passage, item in found:
            seconds = passage.metadata.get("ttl")
            if refresh and seconds and passage.metadata.get("refresh") and item.expires_at:
                due[passage.number] = timedelta(seconds=seconds)
        renewed: dict[int, datetime] = {}
        if due:
            try:
                with self._writing() as shelf:
                    now = shelf.state.clock.now()
                    for passage, _ in found:
                        last, ends = due.get(passage.number), passage.facets.expires_at
                        if last and ends and now + last - ends >= last * STORE_REFRESH_FRACTION:
                            shelf.state.items.expire_at(passage.number, now + last)
                            renewed[passage.number] = now + last
            except PagemindError:
                pass  # somebody else writes: it is read all the same
        return [
            replace(item, expires_at=renewed.get(passage.number, item.expires_at))
            for passage, item in found
        ]


def _fresh(passage: Passage, now: datetime) -> bool:
    ends = passage.facets.expires_at
    return ends is None or now < ends
