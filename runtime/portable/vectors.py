"""The vectors of an agent's LanceDB tiers: written beside its rows, and put back under the rows
that an import makes, so that nothing is embedded twice.

A vector belongs to a row's id and to the digest of what was embedded: one that does not fit the
row as it is now is left out, and made anew in the idle like any other that is missing.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path

from pagemind.runtime.errors import BadExport
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.outbox import Tier
from pagemind.runtime.portable.parquet import Budget, Vector, read_vectors
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.schema import TierRow, embedded_text, rows_of
from pagemind.runtime.tiers.store import TIERS, TierStore

_READ = 256  # messages, passages or pages whose vectors are looked up at once
_ROWS = 1024  # put back at once: a LanceDB commit for each
_LETTERS: Mapping[Tier, str] = {"recall": "m", "archival": "a", "pages": "p"}


def member(tier: Tier) -> str:
    return f"embeddings/{tier}.parquet"


def identity(store: TierStore) -> EmbeddingIdentity | None:
    """What made the vectors of these tiers; None if there are none."""
    return next((found for tier in TIERS if (found := store.made_by(tier)) is not None), None)


def vectors_of(state: State, store: TierStore, tier: Tier, *, after: int = 0) -> Iterator[Vector]:
    """The vectors of a tier's rows, by the number of what they are of; those after a number."""
    while items := state.outbox.all_of(tier, after, _READ):
        after = int(items[-1].key[1:])
        made = [row for item in items for row in rows_of(item)]
        if not made:
            continue
        there = store.vectors(tier, list(dict.fromkeys(row.parent for row in made)))
        for row in made:
            speaker, text, vector = there.get(row.id, ("", "", None))
            if vector is not None and (speaker, text) == (row.speaker, row.text):
                yield row.id, digest(row), vector


def digest(row: TierRow) -> str:
    """What was embedded, and for which row."""
    return hashlib.sha256(embedded_text(row).encode("utf-8")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Stored:
    """The vectors of a file: where they lie, by tier, and what made them."""

    identity: EmbeddingIdentity
    files: Mapping[Tier, Path]


def carry(
    state: State,
    store: TierStore,
    stored: Stored,
    *,
    zone: tzinfo,
    budget: Budget,
    stop: Callable[[], None] = lambda: None,
) -> int:
    """Write what the outbox holds into the tiers, with these vectors; how many fitted a row.

    A row is done in the outbox only after its commit: what a kill leaves undone is written again.
    """
    used = 0
    for tier in TIERS:
        path = stored.files.get(tier)
        found = _Vectors(path, stored.identity.dimensions, tier, budget)
        while items := state.outbox.of_tier(tier, _ROWS):
            rows: list[TierRow] = []
            for item in items:
                for row in rows_of(item, zone):
                    vector = found.take(row)
                    used += vector is not None
                    rows.append(row if vector is None else replace(row, vector=vector))
            gone = [item.key for item in items if item.op == "delete"]
            store.delete(tier, gone)
            store.put(tier, rows)
            state.outbox.done(items)
            stop()
    return used


class _Vectors:
    """Vectors of one file, asked for in the order of their rows."""

    def __init__(self, path: Path | None, dimensions: int, tier: Tier, budget: Budget) -> None:
        self._letter = _LETTERS[tier]
        self._rows = (
            read_vectors(path, dimensions, member(tier), budget) if path is not None else iter(())
        )
        self._next = next(self._rows, None)

    def take(self, row: TierRow) -> list[float] | None:
        wanted = self._place(row.id)
        while self._next is not None and self._place(self._next[0]) < wanted:
            self._next = next(self._rows, None)
        if self._next is None or self._next[0] != row.id or self._next[1] != digest(row):
            return None
        vector = self._next[2]
        # LanceDB refuses NaN, and a zero vector is near to nothing.
        sound = vector is not None and 0.0 < sum(x * x for x in vector) < float("inf")
        return vector if sound else None

    def _place(self, row_id: str) -> tuple[int, int]:
        parent, _, part = row_id.partition(".")
        number = parent.removeprefix(self._letter)
        if not (number.isascii() and number.isdigit() and part.isascii() and part.isdigit()):
            raise BadExport(f"the vectors have a row called {row_id[:60]!r}")
        return int(number), int(part)
