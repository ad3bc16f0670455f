"""Memory: an archive as a library, without an agent, a model or a loop. Made by `Runtime.memory`.

    memory = runtime.memory("customers")
    memory.add("Ada prefers to be called in the morning.", tags=["ada"])
    memory.search("when to phone Ada", limit=3)[0].text

What add() returned is on disk. Safe from any thread; several processes may use one archive at the
same time: each change takes the archive's lock for its own duration, reading takes none.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any, Self, TypedDict, Unpack

from pagemind.runtime.archive import ArchiveReader, ArchiveWriter
from pagemind.runtime.errors import BadFilter, NotFound, UserError
from pagemind.runtime.filters import filters_of
from pagemind.runtime.item_store import ItemStore, Shelf
from pagemind.runtime.keeping import Keeping, Kept
from pagemind.runtime.memory_records import Added, Match, Matches, Near, Remembered, Version
from pagemind.runtime.services import Hit, SearchResult
from pagemind.runtime.settings import (
    INGEST_NEAR,
    MEMORY_LIMIT,
    NEAR_DUPLICATE,
    PASSAGE_CHARS,
    SEARCH_LIMIT,
)
from pagemind.runtime.shorten import shorten

When = str | date | datetime
_ID = re.compile(r"a([1-9]\d{0,17})")


class Filters(TypedDict, total=False):
    """What `search` may be narrowed by. Days are whole ones of the local time zone, both included;
    a datetime is exact."""

    tags: str | Sequence[str]  # all of them
    any_tags: str | Sequence[str]  # at least one of them
    start: When  # added from then on: "2026-05", "last week", a date, a datetime
    end: When  # … and up to then
    importance: float | str  # 7, or a range: "7-9"
    importance_from: float
    importance_to: float
    origins: str | Sequence[str]
    ids: str | Sequence[str]
    scope: str | Sequence[str]  # in one of these, or below it
    viewer: str  # as this one sees it: what is private to others is left out
    standing: str | Sequence[str]  # active, or what is cold, past or pending
    kind: str | Sequence[str]  # note, fact, insight …
    as_of: When  # what was true in the world then


class Memory:
    """`scope` is the name of the archive. `read` and `write` open it; `wait` is how many seconds a
    change waits for another process's."""

    def __init__(
        self,
        scope: str,
        *,
        read: Callable[[], ArchiveReader],
        write: Callable[[float], ArchiveWriter],
        there: Callable[[], bool],
        wait: float,
        count: Callable[[str], int],
    ) -> None:
        self.scope = scope
        self._write = write
        self._there = there
        self._wait = wait
        self._count = count
        self._lock = threading.RLock()
        self._reader = read()
        self.closed = False

    def add(
        self,
        text: str | Sequence[str],
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        **kept: Unpack[Kept],
    ) -> Added:
        """Remember a text, or each of several in one go, which is faster.

        How it is kept, `scope`, `owner`, `ttl` and `evergreen`, is said in `Kept`.
        The same text again is a duplicate and nothing is stored. Raises UserError for an empty
        text, ArchiveInUse if another process keeps the archive for longer than `wait`.
        """
        texts = [text] if isinstance(text, str) else list(text)
        _refuse(texts, importance)
        keeping = Keeping.of(**kept)
        ids: list[str] = []
        duplicates: list[str] = []
        near: list[Near] = []
        with self._writing() as writer:
            # Looked for before anything is stored, so that a text is not near to itself.
            close = [self._closest(each) for each in texts[:INGEST_NEAR]]
            with writer.state.database.transaction():
                for at, each in enumerate(texts):
                    passage, new = writer.insert(
                        each,
                        tags=tags,
                        importance=importance,
                        metadata=metadata,
                        keeping=keeping,
                    )
                    (ids if new else duplicates).append(passage.short_id)
                    if new and at < len(close):
                        near += [Near(passage.short_id, *found) for found in close[at]]
        return Added(tuple(ids), tuple(duplicates), tuple(near))

    def search(
        self,
        query: str | None,
        *,
        limit: int | None = None,
        max_tokens: int | None = None,
        ranking: str | None = None,
        **filters: Unpack[Filters],
    ) -> Matches:
        """The best matches first; without a query (None) the newest.

        `limit` of them, 10 where nothing is said, or as many as fit into `max_tokens`, or both.
        `filters` are those of `Filters`; any other key raises BadFilter.
        """
        if limit is None:
            limit = MEMORY_LIMIT if max_tokens is None else SEARCH_LIMIT
        if limit < 1 or (max_tokens is not None and max_tokens < 1):
            raise UserError("limit and max_tokens are at least 1")
        reader = self._open()
        for key in ("role", "speaker"):
            if key in filters:
                raise BadFilter(f"memories have no {key}: they are texts that were kept")
        wanted = filters_of(filters, reader.state.clock.now().astimezone(reader.zone))
        result = reader.search.search("archival", query, wanted, limit, ranking=ranking)
        return self._told(result, max_tokens)

    def get(self, id: str) -> Remembered:
        """One memory, a deleted one too. Raises NotFound."""
        number = _number(id)
        found = self._open().state.passages.get([number]).get(number)
        if found is None:
            raise NotFound(f"there is no {id} in {self.scope!r}")
        return Remembered.of(found)

    def update(
        self,
        id: str,
        text: str | None = None,
        *,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Change a memory; what is None stays. The version before is kept. Raises NotFound."""
        _refuse([] if text is None else [text], importance)
        number = _number(id)
        with self._writing() as writer:
            changed = writer.change(
                number, text, tags=tags, importance=importance, metadata=metadata
            )
            return Remembered.of(changed)

    def delete(self, id: str, *, reason: str = "deleted") -> None:
        """Hide a memory from every search; its history stays. Raises NotFound."""
        number = _number(id)
        with self._writing() as writer:
            if not writer.retire(number, reason=reason):
                raise NotFound(f"there is no {id} in {self.scope!r}")

    def restore(self, id: str, version: int | None = None) -> Remembered:
        """Give a memory the text of an earlier version, as a new one (None: the newest); a deleted
        one comes back. Raises NotFound."""
        with self._writing() as writer:
            return Remembered.of(writer.restore_passage(_number(id), version))

    def history(self, id: str) -> tuple[Version, ...]:
        """Every version, the oldest first. Raises NotFound."""
        versions = self._open().state.passages.history(_number(id))
        if not versions:
            raise NotFound(f"there is no {id} in {self.scope!r}")
        return tuple(Version(v.version, v.value, v.at, v.author, v.reason) for v in versions)

    @property
    def store(self) -> ItemStore:
        """JSON values under a namespace and a key, beside the memories."""

        @contextmanager
        def reading() -> Iterator[Shelf]:
            reader = self._open()
            yield Shelf(reader.state, reader.search)

        @contextmanager
        def writing() -> Iterator[Shelf]:
            with self._writing() as writer:
                yield Shelf(writer.state, writer.search, writer.kick)

        return ItemStore(reading, writing)

    def count(self) -> int:
        """How many memories there are, deleted ones not counted."""
        return self._open().state.passages.count()

    def __len__(self) -> int:
        return self.count()

    def close(self) -> None:
        """Idempotent. Everything is on disk already."""
        with self._lock:
            if not self.closed:
                self.closed = True
                self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- inside ---------------------------------------------------------------------------------

    @property
    def usable(self) -> bool:
        """Whether it is open, and its archive was not deleted or changed meanwhile."""
        return not self.closed and self._there()

    def _open(self) -> ArchiveReader:
        if self.closed:
            raise UserError(f"the memory {self.scope!r} is closed", hint="runtime.memory opens it")
        return self._reader

    @contextmanager
    def _writing(self) -> Iterator[ArchiveWriter]:
        self._open()
        with self._lock, self._write(self._wait) as writer:
            yield writer

    def _closest(self, text: str) -> list[tuple[str, float]]:
        """The nearest one that was there, if it is near."""
        close = self._reader.near(text, 1)
        return [(id, round(cosine, 3)) for id, cosine in close if cosine >= NEAR_DUPLICATE]

    def _told(self, result: SearchResult, max_tokens: int | None) -> Matches:
        hits = result.hits
        numbers = [int(hit.id[1:]) for hit in hits]
        stored = self._reader.state.passages.get(numbers)
        matches: list[Match] = []
        used = 0
        for hit, number in zip(hits, numbers, strict=True):
            text = hit.text
            if max_tokens is not None:
                used += self._count(text)
                if used > max_tokens and matches:
                    break
                if used > max_tokens:
                    text = shorten(text, max_tokens, self._count)
            matches.append(Match.of(hit, _metadata(hit, number, stored), text))
        return Matches(tuple(matches), result.searched, result.warnings)


def _refuse(texts: Sequence[str], importance: float | None) -> None:
    """Raises UserError for what cannot be kept."""
    for text in texts:
        if not text.strip():
            raise UserError("there is nothing to remember: the text is empty")
        if len(text) > PASSAGE_CHARS:
            raise UserError(
                f"the text has {len(text):,} characters; one memory has at most {PASSAGE_CHARS:,}",
                hint="`pagemind archives insert` cuts a long document into passages",
            )
    if importance is not None and not 1 <= importance <= 10:
        raise UserError(f"importance is a number from 1 to 10, not {importance:g}")


def _metadata(hit: Hit, number: int, stored: Mapping[int, Any]) -> Mapping[str, Any]:
    return stored[number].metadata if number in stored else {}


def _number(id: str) -> int:
    match = _ID.fullmatch(id.strip())
    if match is None:
        raise NotFound(f"{id!r} is no memory; ids look like a7, as add and search give them")
    return int(match[1])
