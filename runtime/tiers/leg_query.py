"""Leg queries: what the legs of one search ask of one table, all of them at once.

They go to LanceDB's asynchronous table: the synchronous one asks for the schema seven times a
query, which costs about as much as the query itself, and takes one after the other.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagemind.runtime.outbox import Tier
from pagemind.runtime.settings import VECTOR_REFINE
from pagemind.runtime.tiers.census import Census
from pagemind.runtime.tiers.row_filter import RowFilter

if TYPE_CHECKING:
    from lancedb.table import Table

# Each column costs: a hundred rows lie in a hundred places. What a tier does not have is not read,
# and what an id says (m42.1 is the first part of m42) is taken from it.
_SHARED = ("id", "parts", "seq", "text", "said_at")
_OWN: dict[Tier, tuple[str, ...]] = {
    "recall": ("speaker", "conversation"),
    "archival": ("importance",),
    "pages": (),
}


@dataclass(frozen=True, slots=True)
class Leg:
    """Words for a lexical field, or a vector. `with_field` returns the field's text too."""

    field: str
    words: str = ""
    vector: Sequence[float] | None = None
    with_field: bool = False


def answers(
    tier: Tier, table: "Table", census: Census, legs: Sequence[Leg], where: RowFilter, limit: int
) -> list[list[dict[str, Any]] | Exception]:
    """For each leg its rows, best first, as the arguments of a Match; or what failed."""
    from lancedb.background_loop import LOOP

    condition = census.condition(where)
    searching = [leg for leg in legs if leg.vector is not None]
    probes = census.probes(condition) if searching else None
    columns = (*_SHARED, *_OWN[tier])
    inner: Any = table
    inner = inner._table  # what the synchronous table wraps; LanceDB has no public way to it

    async def ask(leg: Leg) -> list[dict[str, Any]]:
        if leg.vector is None:
            query = _of_words(inner, leg, columns)
        else:
            query = _of_vector(inner, leg, columns, probes, limit)
        if condition:
            query = query.where(condition)  # before the search, which is LanceDB's default
        found = await query.limit(limit).to_arrow()
        return [_row(each, leg, columns) for each in found.to_pylist()]

    async def ask_all() -> list[Any]:
        found: list[Any] = await asyncio.gather(*map(ask, legs), return_exceptions=True)
        return found

    loop: Any = LOOP
    answered: list[list[dict[str, Any]] | Exception] = loop.run(ask_all())
    return answered


def _of_words(table: Any, leg: Leg, columns: Sequence[str]) -> Any:
    from lancedb.query import MatchQuery

    match: Any = MatchQuery  # a pydantic dataclass: its defaults are hidden from mypy
    more = (leg.field,) if leg.with_field else ()
    query = table.query().nearest_to_text(match(leg.words, leg.field))
    return query.select([*columns, *more, "_score"])


def _of_vector(table: Any, leg: Leg, columns: Sequence[str], probes: int | None, limit: int) -> Any:
    assert leg.vector is not None
    query = table.query().nearest_to(list(leg.vector)).column("vector").distance_type("cosine")
    if probes is None:
        query = query.bypass_vector_index()
    else:
        query = query.nprobes(probes).refine_factor(max(2, -(-VECTOR_REFINE // limit)))
    return query.select([*columns, "_distance"])


def _row(found: dict[str, Any], leg: Leg, columns: Sequence[str]) -> dict[str, Any]:
    parent, _, part = found["id"].rpartition(".")
    row = {name: found[name] for name in columns}
    row |= {"parent": parent, "part": int(part)}
    if leg.vector is None:
        return {**row, "score": found["_score"], "indexed": found.get(leg.field, "")}
    distance = found["_distance"]
    return {**row, "score": 1.0 - distance if distance is not None else None}
