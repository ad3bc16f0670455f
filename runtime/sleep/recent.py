"""Memories that a job may show to a model: what was said and what was stored, each on one line.

Only what is open to whoever sees the agent's scope, holds now, and is trusted as much as a summary
must be: what strangers wrote is never shown, so that nothing can be drawn from it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from pagemind.runtime.cleaning import clean_line
from pagemind.runtime.importance import importance_of
from pagemind.runtime.message import Message
from pagemind.runtime.passage import ORDINARY, Passage
from pagemind.runtime.scope import within
from pagemind.runtime.settings import JOB_TEXT_TOKENS
from pagemind.runtime.shorten import shorten
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.step_trust import untrusted

_DERIVED = ("insight", "digest")  # made by the worker itself


@dataclass(frozen=True, slots=True)
class Memory:
    """A message or a record, by its short id."""

    id: str
    text: str
    speaker: str
    at: datetime
    trust: int
    importance: float
    record: Passage | None = None

    def line(self, context: SleepContext) -> str:
        """`2026-05-08 Sam: text`."""
        who = f" {self.speaker}:" if self.speaker else ""
        said = shorten(clean_line(self.text), JOB_TEXT_TOKENS, context.count)
        return f"{_day(self.at, context.zone)}{who} {said}"


def of_messages(messages: Iterable[Message]) -> list[Memory]:
    """Those that somebody said, without what functions answered."""
    return [
        Memory(
            f"m{m.seq}",
            m.said,
            m.speaker or m.role,
            m.said_at,
            m.provenance.trust,
            importance_of(m.said),
        )
        for m in messages
        if m.role in ("user", "assistant")
        and m.kind in ("talk", "observation")
        and not untrusted(m.provenance.trust)
        and m.provenance.status == "active"
        and m.said.strip()
        and m.said_at is not None
    ]


def of_records(records: Iterable[Passage], scope: str, *, derived: bool = True) -> list[Memory]:
    """Those that hold, within a scope; with what the worker itself has made of others, or not."""
    return [
        Memory(
            p.short_id,
            p.text,
            "",
            p.created_at,
            p.provenance.trust,
            p.importance or importance_of(p.text),
            p,
        )
        for p in records
        if p.kind in ORDINARY
        and (derived or p.kind not in _DERIVED)
        and p.standing == "active"
        and p.provenance.status == "active"
        and p.facets.owner == ""
        and within(p.facets.scope, scope)
        and not untrusted(p.provenance.trust)
        and p.created_at is not None
    ]


def still_standing(context: SleepContext, ids: Sequence[str]) -> set[str]:
    """Which of these memories are as true as ever: messages that were lived through, records that
    hold."""
    state = context.state
    ranges = state.journal.live_ranges()
    seqs = [int(id[1:]) for id in ids if id[0] == "m"]
    there = state.journal.get(seqs)
    said = [seq for seq, message in there.items() if not message.erased]
    live = {s for s in said if ranges is None or any(low <= s <= high for low, high in ranges)}
    records = state.passages.get([int(id[1:]) for id in ids if id[0] == "a"])
    now = context.now()
    return {f"m{seq}" for seq in live} | {
        p.short_id
        for p in records.values()
        if p.provenance.status == "active" and not p.closed and p.holds(now)
    }


def numbered(context: SleepContext, memories: Sequence[Memory], tokens: int) -> list[str]:
    """`3. 2026-05-08 Sam: text` for as many of them as so many tokens hold, from the first on."""
    lines: list[str] = []
    for n, memory in enumerate(memories, 1):
        line = f"{n}. {memory.line(context)}"
        tokens -= context.count(line) + 1
        if tokens < 0:
            break
        lines.append(line)
    return lines


def _day(at: datetime, zone: tzinfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d}"
