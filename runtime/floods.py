"""Floods: bursts among what waits for a person, and among what an agent was told of late.

said_of()    a record with its source: what was untrusted among all that it came from
note()       after a record was stored in quarantine: the audit log tells of a burst, once
observed()   the ids of each burst of observations, for a person; quarantine.py has that of records
"""

from collections.abc import Iterable

from pagemind.runtime.bursts import Said, alike, bursts
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import BURST
from pagemind.runtime.source_named import Told, teller_of, told_by
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted

_LATE = 256  # observations that are looked at
_BESIDE = 64  # records that a new one is compared with


def said_of(state: State, record: Passage) -> Said:
    """What it says, with the names of its sources and its turns."""
    sources = record.provenance.sources
    seqs = [int(id[1:]) for id in sources if id[:1] == "m" and id[1:].isdigit()]
    messages = state.journal.get(seqs).values()
    foreign = [each.short_id for each in messages if untrusted(each.provenance.trust)]
    told = told_by(state, foreign or sources)
    turns = {f"t{each.turn}" for each in messages} | {id for id in sources if id[:1] == "t"}
    return Said(record.short_id, record.text, frozenset(names(told, record)), frozenset(turns))


def names(told: Iterable[Told], record: Passage) -> tuple[str, ...]:
    """The sources of a record, each once; the record's own where it names none."""
    named = [each.source for each in told]
    return tuple(dict.fromkeys(named or [record.provenance.detail or record.provenance.origin]))


def note(state: State, record: Passage) -> None:
    """Call it in the transaction that stored the record."""
    late = [e for e in state.passages.newest_waiting(_BESIDE) if e.kind == record.kind]
    for flood in bursts(alike(said_of(state, each) for each in late)):
        if record.short_id in flood and len(flood) == BURST:
            state.audit.add(
                "burst", flood[0], by="runtime", trust=record.provenance.trust, records=flood
            )


def observed(state: State) -> list[list[str]]:
    """Of what an agent was told of late without being asked anything."""
    rows = state.database.rows(
        "SELECT seq FROM messages WHERE kind = 'observation' ORDER BY seq DESC LIMIT ?", (_LATE,)
    )
    messages = state.journal.get([row["seq"] for row in rows])
    return bursts(
        alike(
            Said(each.short_id, each.said, frozenset((teller_of(each),)))
            for _, each in sorted(messages.items())
        )
    )
