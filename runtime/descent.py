"""Descent: what rests on a source and cannot stand without it. Read only.

Only what is written down is followed: a record that took another's place does not rest on it, and
that a page covers a message makes nothing of it. What another source says too, stays; what was
drawn from several things together (an insight, a digest, an episode, a skill) does not.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pagemind.runtime.passage import Passage, RecordKind
from pagemind.runtime.state.lineage import Edge
from pagemind.runtime.state.state import State

_SAID: frozenset[RecordKind] = frozenset({"fact", "note", "item"})


@dataclass(slots=True)
class Descent:
    """`records` are those that fall; `versions` those of which only later versions do, with the
    first of these; `blocks` the versions of each block that came from it; `kept` what others say
    too. `ids` is all that has fallen, the source among it."""

    ids: set[str]
    records: list[int] = field(default_factory=list)
    versions: dict[int, int] = field(default_factory=dict)
    blocks: dict[str, list[int]] = field(default_factory=dict)
    kept: list[int] = field(default_factory=list)


def descent_of(state: State, roots: Iterable[str]) -> Descent:
    """Everything that rests on these messages and records, over any number of steps."""
    found = Descent(set(roots))
    seqs = [int(id[1:]) for id in found.ids if id[0] == "m"]
    # An episode and a skill name the turn, of all messages in it.
    found.ids |= {f"t{each.turn}" for each in state.journal.get(seqs).values() if each.turn}
    waiting = sorted(found.ids)
    rests: set[int] = set()
    while waiting:
        ahead = set[int]()
        for id in waiting:
            for edge in state.lineage.derived_of(id):
                if edge.how == "supersedes":
                    continue
                if edge.derived.startswith("block:"):
                    versions = found.blocks.setdefault(edge.derived.partition(":")[2], [])
                    if edge.version not in versions:
                        versions.append(edge.version)
                elif edge.derived[0] == "a":
                    ahead.add(int(edge.derived[1:]))
        rests |= ahead
        # One that stood may fall now that what else said it has fallen.
        records = state.passages.get(sorted(rests))
        waiting = []
        for record in records.values():
            if record.short_id not in found.ids and _falls(state, record, found):
                found.ids.add(record.short_id)
                waiting.append(record.short_id)
    numbers = sorted(int(id[1:]) for id in found.ids if id[0] == "a")
    there = state.passages.get(numbers)
    found.records = [n for n in numbers if n in there]
    for number in sorted(rests - set(found.records)):
        later = [
            edge.version
            for edge in state.lineage.sources_of(f"a{number}")
            if edge.how == "from" and edge.version > 1 and edge.source in found.ids
        ]
        if later:
            found.versions[number] = min(later)
        else:
            found.kept.append(number)
    return found


def _falls(state: State, record: Passage, found: Descent) -> bool:
    edges = [e for e in state.lineage.sources_of(record.short_id) if e.how != "supersedes"]
    first = [edge for edge in edges if edge.version == 1 and edge.how != "merged"] or edges
    if not any(edge.source in found.ids for edge in first):
        return False
    return record.kind not in _SAID or not any(_says_too(state, edge, found) for edge in edges)


def _says_too(state: State, edge: Edge, found: Descent) -> bool:
    """Whether it is another source that says the same: of another turn, and standing."""
    if edge.how != "merged" or edge.source in found.ids:
        return False
    if edge.source[0] == "a":
        record = state.passages.get([int(edge.source[1:])]).get(int(edge.source[1:]))
        return record is not None and record.provenance.status == "active"
    if edge.source[0] == "m":
        message = state.journal.get([int(edge.source[1:])]).get(int(edge.source[1:]))
        return message is not None and f"t{message.turn}" not in found.ids
    return True
