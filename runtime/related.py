"""Related: what belongs to the passages that a search found.

fold()      the evidence of an insight stands right beneath it, where both were found
linked()    records that are linked to what was found, and were not found themselves
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pagemind.runtime.passage import Passage
from pagemind.runtime.scope import within
from pagemind.runtime.services import Hit, SearchFilters
from pagemind.runtime.settings import LINKED_FROM, LINKED_MOST
from pagemind.runtime.state.state import State

_PLAIN = SearchFilters()


def fold(state: State, hits: Sequence[Hit]) -> list[Hit]:
    """Each insight with its evidence after it, at the place of the best of them; the rest as it
    was. Evidence of several insights stands beneath the best of these, once."""
    insights = [hit.id for hit in hits if hit.kind == "insight" and not hit.archive]
    if not insights:
        return list(hits)
    found = {hit.id: hit for hit in hits}
    beneath = {
        id: [e.source for e in state.lineage.sources_of(id) if e.how == "evidence"]
        for id in insights
    }
    above: dict[str, str] = {}
    for id in insights:
        for source in beneath[id]:
            if source in found:
                above.setdefault(source, id)
    ordered: dict[str, Hit] = {}

    def place(id: str, under: str) -> None:
        if id in ordered:
            return
        ordered[id] = replace(found[id], under=under)
        for source in sorted(beneath.get(id, ()), key=lambda each: _rank(hits, each)):
            if source in found and above[source] == id:
                place(source, id)

    for hit in hits:
        top, seen = hit.id, {hit.id}
        while top in above and above[top] not in seen:
            top = above[top]
            seen.add(top)
        place(top, "")
    return list(ordered.values())


def _rank(hits: Sequence[Hit], id: str) -> int:
    return next((at for at, hit in enumerate(hits) if hit.id == id), len(hits))


def linked(state: State, hits: Sequence[Hit], filters: SearchFilters) -> list[Hit]:
    """A few records that are linked to the best hits. Only what whoever sees the hit sees as well:
    of the same owner, in its scope or below. Where a search is narrowed, nothing is added to it."""
    if replace(filters, scopes=(), viewer=None, without=()) != _PLAIN:
        return []
    known = {hit.id for hit in hits} | set(filters.without)
    best = {int(hit.id[1:]): hit for hit in hits[:LINKED_FROM] if not hit.archive}
    links = state.links.of(list(best))
    others = {number: [link.other(number) for link in links.get(number, ())] for number in best}
    records = state.passages.get([*best, *(n for each in others.values() for n in each)])
    found: dict[str, Hit] = {}
    for number, hit in best.items():
        for other in others[number]:
            record = records.get(other)
            if record is None or record.short_id in known or record.short_id in found:
                continue
            if number in records and _seen_with(record, records[number], state.clock.now()):
                found[record.short_id] = _hit(record, hit.id)
    return list(found.values())[:LINKED_MOST]


def _seen_with(record: Passage, hit: Passage, now: datetime) -> bool:
    """Whether whoever sees a record that was found sees another as well, and it holds."""
    return (
        record.standing == "active"
        and record.provenance.status == "active"
        and not record.gone(now)
        and record.facets.owner == hit.facets.owner
        and within(record.facets.scope, hit.facets.scope)
    )


def _hit(record: Passage, to: str) -> Hit:
    facets = record.facets
    return Hit(
        record.short_id,
        "archival",
        record.text,
        0.0,
        seq=record.seq,
        origin=record.provenance.origin,
        trust=record.provenance.trust,
        source=record.provenance.detail,
        said_at=record.created_at,
        tags=record.tags,
        importance=record.importance,
        kind=facets.kind,
        scope=facets.scope,
        valid_from=facets.valid_from,
        valid_to=facets.valid_to,
        linked=to,
    )
