"""TiersReader: a folder with a state database and LanceDB tiers, opened for reading: an agent's or
an archive's.

It sees everything acknowledged, also what LanceDB does not have yet, and never takes the lock or
writes.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, tzinfo
from pathlib import Path
from typing import ClassVar, Self

from pagemind.runtime.clock import Clock
from pagemind.runtime.definition_parts import Searching
from pagemind.runtime.item_store import ItemStore, Shelf
from pagemind.runtime.model import Embedder
from pagemind.runtime.search_view import StateView
from pagemind.runtime.settings import HITS_OF_ONE_SOURCE
from pagemind.runtime.sight import EVERYTHING, Sight
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.legs import Source
from pagemind.runtime.tiers.search import Search
from pagemind.runtime.tiers.store import TierStore


class TiersReader:
    """`commands` is the group of commands that mends such tiers: `pagemind memory rebuild ada`."""

    commands: ClassVar[str] = "memory"

    def __init__(self, name: str, folder: Path, clock: Clock) -> None:
        self.name = name
        self.folder = folder
        self._store: TierStore | None = None
        self._engine: Search | None = None
        self.sight: Sight = EVERYTHING  # where what says no scope is put, and what is found
        self.state = self._open(clock)

    def _open(self, clock: Clock) -> State:
        return State(self.folder, clock, read_only=True)

    @property
    def embedder(self) -> Embedder | None:
        """The embedder that made the tables; None: words only."""
        raise NotImplementedError

    @property
    def zone(self) -> tzinfo:
        """Whose days are meant."""
        return UTC

    @property
    def searching(self) -> Searching:
        """How searches are ranked where a call does not say."""
        return Searching()

    @property
    def per_source(self) -> int:
        """How many results of ten may be of one untrusted source."""
        return HITS_OF_ONE_SOURCE

    @property
    def search(self) -> Search:
        """The one search, the unwritten tail included."""
        store = self.store  # another one since a change of embedder
        if self._engine is None:
            view = StateView(self.state, self._resident)
            self._engine = Search(
                store,
                self.embedder,
                view,
                zone=self.zone,
                now=self.state.clock.now,
                archives=self._sources,
                weights=self.searching.all_weights,
                ranking=self.searching.ranking,
                per_source=self.per_source,
                sight=self.sight,
            )
        return self._engine

    def look_as(self, sight: Sight) -> None:
        """From now on it finds what somebody finds who sees so much."""
        self.sight = sight
        self._engine = None

    @property
    def store(self) -> TierStore:
        """The LanceDB tables, opened when they are first asked for something."""
        folder = self.state.tiers
        if self._store is None or self._store.location.folder != folder:
            embedder = self.embedder
            identity = (lambda: embedder.identity) if embedder is not None else None
            self._store = TierStore(folder, identity, agent=self.name, commands=self.commands)
            self._engine = None
        return self._store

    def near(self, text: str, limit: int = 3) -> list[tuple[str, float]]:
        """Passages that mean nearly the same, those not in LanceDB yet among them: short ids and
        cosines, the closest first. Empty where no embedder works."""
        return self.search.near(text, limit)

    @property
    def items(self) -> ItemStore:
        """JSON values under a namespace and a key; to be read."""

        def reading() -> AbstractContextManager[Shelf]:
            return nullcontext(Shelf(self.state, self.search))

        return ItemStore(reading, reading, sight=self.sight)

    def _sources(self) -> Sequence[Source]:
        """What else a search of passages looks through."""
        return ()

    def _resident(self, seq: int) -> bool:
        return False

    def bytes_on_disk(self) -> int:
        return sum(f.stat().st_size for f in self.folder.rglob("*") if f.is_file())

    def close(self) -> None:
        self.state.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
