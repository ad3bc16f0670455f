"""AgentArchives: the shared archives that an agent may read, opened when they are first searched.

One that is not there is left out and named, and taken up once it is; one that was deleted and made
anew is opened anew. Only the agent's own embedder is used: what another one made is found by its
words.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pagemind.runtime.archive import ArchiveReader
from pagemind.runtime.archives import Archives
from pagemind.runtime.errors import PagemindError, UnknownArchive
from pagemind.runtime.model import Embedder
from pagemind.runtime.search_view import StateView
from pagemind.runtime.services import Recall, SearchFilters, SearchResult
from pagemind.runtime.tiers.legs import Source


class AgentArchives:
    """`names` as the definition lists them; `embedder` gives the agent's."""

    def __init__(
        self, archives: Archives, names: Sequence[str], embedder: Callable[[], Embedder | None]
    ) -> None:
        self._archives = archives
        self._names = names
        self._embedder = embedder
        self._lock = threading.Lock()
        self._open: dict[str, tuple[ArchiveReader, Source]] = {}

    def sources(self) -> list[Source]:
        """What a search of passages looks through besides the agent's own."""
        return self._found()[0]

    def warnings(self) -> list[str]:
        """Which archives cannot be searched, why, and what to do about it."""
        return self._found()[1]

    def _found(self) -> tuple[list[Source], list[str]]:
        sources: list[Source] = []
        warnings: list[str] = []
        with self._lock:
            for name in self._names:
                try:
                    sources.append(self._source(name))
                except UnknownArchive:
                    warnings.append(
                        f"the archive {name} is not there; `pagemind archives new {name}` makes it"
                    )
                except PagemindError as error:
                    hint = f"; {error.hint}" if error.hint else ""
                    warnings.append(f"the archive {name} is not searched: {error.message}{hint}")
        return sources, warnings

    def _source(self, name: str) -> Source:
        registered = self._archives.registry.get(name)
        opened = self._open.get(name)
        if opened is not None:
            reader, source = opened
            if reader.registered == registered and reader.store is source.store:
                return source
            del self._open[name]
            reader.close()
        reader = self._archives.reader(name, embedder=lambda _: self._embedder())
        view = StateView(reader.state, lambda seq: False)
        source = Source(reader.store, view, reader.name)
        self._open[name] = reader, source
        return source

    def close(self) -> None:
        """Idempotent."""
        with self._lock:
            for reader, _ in self._open.values():
                reader.close()
            self._open.clear()


@dataclass(frozen=True, slots=True)
class SharedSearch:
    """A search of passages that says which archives it could not look through."""

    search_all: Recall
    archives: AgentArchives

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult:
        result = self.search_all.search(query, filters, limit, ranking=ranking)
        return replace(result, warnings=(*result.warnings, *self.archives.warnings()))
