"""The unwritten tail of a tier: rows the outbox still holds, scored beside the written ones. Pure.

A message said a second ago is found here. What the outbox holds also says which written rows are
out of date: they are left out, whatever an index says of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from pagemind.runtime.outbox import OutboxItem, Tier
from pagemind.runtime.tiers.lexical import coverage, grams, rarity, terms
from pagemind.runtime.tiers.row_filter import RowFilter
from pagemind.runtime.tiers.schema import TierRow, rows_of
from pagemind.runtime.tiers.store import Match

_CALIBRATE = 3  # the best written rows say how much of the query a leg's top score covers


@dataclass(frozen=True, slots=True)
class Tail:
    """Rows that match the filter, and the parents whose written rows no longer count."""

    rows: tuple[TierRow, ...]
    parents: frozenset[str]


def tail_of(items: Sequence[OutboxItem], tier: Tier, where: RowFilter, zone: tzinfo) -> Tail:
    """What the outbox holds of a tier."""
    rows: list[TierRow] = []
    parents = set()
    for item in items:
        if item.tier != tier:
            continue
        parents.add(item.key)
        rows.extend(rows_of(item, zone))
    return Tail(tuple(row for row in rows if where.matches(row)), frozenset(parents))


def match_of(row: TierRow, score: float = 0.0) -> Match:
    """An unwritten row as the store would have returned it."""
    return Match(
        row.id,
        row.parent,
        row.part,
        row.parts,
        row.seq,
        row.speaker,
        row.text,
        row.conversation,
        row.said_at,
        row.importance,
        score,
    )


def text_leg(
    field: str, query: str, written: Sequence[Match], tail: Sequence[TierRow], total: int
) -> dict[str, float]:
    """One lexical leg of one source, written and unwritten rows on the scale of BM25, by row id.

    What an unwritten row would score is estimated by how much of the query it covers: as the best
    written rows cover it, they scored; where none is written, a word counts for about its rarity.
    """
    leg = {match.id: match.score for match in written}
    if not tail:
        return leg
    split = grams if field == "grams" else terms
    fresh = {row.id: set(split(getattr(row, field))) for row in tail}
    known = [set(split(match.indexed)) for match in written[:_CALIBRATE]]
    weights = rarity(set(split(query)), [*fresh.values(), *known], total)
    best = max((coverage(weights, words) for words in known), default=0.0)
    scale = max(leg.values()) / best if best > 0 else sum(weights.values())
    for key, words in fresh.items():
        if (share := coverage(weights, words)) > 0:
            leg[key] = share * scale
    return leg
