"""why(): what a memory rests on, down to what was said: for `pagemind memory why`."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import NotFound
from pagemind.runtime.lineage_walk import LineageWalk, Step, parsed
from pagemind.runtime.state.state import State

DEPTH = 3  # steps down
_TEXT_CHARS = 300


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that another rests on. `by` is who said or wrote it; `more` is how many further
    reasons are not listed."""

    id: str
    how: str
    text: str
    by: str
    at: datetime | None
    because: tuple["Reason", ...] = ()
    more: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "how": self.how,
            "text": self.text,
            "by": self.by,
            "at": rfc3339(self.at) if self.at else None,
            "because": [each.as_json() for each in self.because],
            "more": self.more,
        }


@dataclass(frozen=True, slots=True)
class Why:
    """A memory, what it rests on, the planned changes that made it what it is, and what rests on
    it."""

    reason: Reason
    standing: str
    trust: int
    origin: str
    changes: tuple[dict[str, Any], ...] = ()
    supports: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """The answer of `memory why`, without the agent."""
        return {
            **self.reason.as_json(),
            "standing": self.standing,
            "trust": self.trust,
            "origin": self.origin,
            "changes": list(self.changes),
            "supports": list(self.supports),
        }


def why(state: State, id: str, *, most: int = 8) -> Why:
    """What the memory of a short id or a block's label rests on; at most `most` reasons a step.
    Raises NotFound."""
    walk = LineageWalk(state)
    labels = {block.label for block in state.blocks.all()}
    name = f"block:{id}" if id in labels else id.lower()
    top = _reason(state, walk, Step(name, ""), DEPTH, most)
    if top is None:
        raise NotFound(
            f"{id!r} is nothing that is remembered",
            hint="ids look like m42 (a message), a7 (a record), p17 (a page), or a block's label",
        )
    standing, trust, origin = _provenance(state, name)
    changes = tuple(
        {
            "id": each.short_id,
            "job": each.job,
            "op": each.op,
            "state": each.state,
            "why": each.why,
            "at": rfc3339(each.at),
        }
        for each in state.changes.of(name.removeprefix("block:"))
    )
    supports = tuple(
        step.id for step in walk.derived_of(name) if _provenance(state, step.id)[0] != "retired"
    )
    return Why(top, standing, trust, origin, changes, supports)


def _reason(state: State, walk: LineageWalk, step: Step, depth: int, most: int) -> Reason | None:
    told = _told(state, step.id)
    if told is None:
        return None
    text, by, at = told
    below = walk.sources_of(step.id) if depth else []
    because = [_reason(state, walk, each, depth - 1, most) for each in below[:most]]
    return Reason(
        step.id,
        step.how,
        text[:_TEXT_CHARS] + ("…" if len(text) > _TEXT_CHARS else ""),
        by,
        at,
        tuple(each for each in because if each is not None),
        max(0, len(below) - most),
    )


def _told(state: State, id: str) -> tuple[str, str, datetime | None] | None:
    """What it says, who said or wrote it, and when; None for what is not there."""
    kind, key = parsed(id)
    if id.startswith("block:"):
        versions = state.blocks.history(id.removeprefix("block:"))
        newest = versions[-1] if versions else None
        return (newest.value, newest.author, newest.at) if newest else None
    if kind == "seg":
        segment = state.segments.get([key]).get(key)
        return (segment.gist, "runtime", segment.last_visit) if segment else None
    if kind == "m" and (message := state.journal.get([key]).get(key)):
        return message.said, message.speaker or message.name or message.role, message.said_at
    if kind == "a" and (passage := state.passages.get([key]).get(key)):
        first = state.passages.history(key)[0]
        return passage.text, passage.facets.speaker or first.author, passage.created_at
    if kind == "p" and (page := state.pages.get(key)):
        return page.gist, page.gist_author, page.first_at
    if kind == "d" and (directory := state.pages.directory(key)):
        return directory.gist, directory.gist_author, directory.first_at
    if kind == "s" and (summary := state.pages.summary(key)):
        return summary.text, summary.author, summary.at
    if kind == "t" and (turn := state.turns.get(key)):
        event = state.journal.get([turn.first_seq]).get(turn.first_seq)
        return event.said if event else "", turn.speaker, turn.started_at
    return None


def _provenance(state: State, id: str) -> tuple[str, int, str]:
    """Standing, trust and origin of what is a record or message."""
    kind, key = parsed(id)
    if kind == "a" and (passage := state.passages.get([key]).get(key)):
        made = passage.provenance
        gone = made.status == "retired"
        return "retired" if gone else passage.standing, made.trust, made.origin
    if kind == "m" and (message := state.journal.get([key]).get(key)):
        standing = "erased" if message.erased else message.provenance.status
        return standing, message.provenance.trust, message.provenance.origin
    if id.startswith("block:"):
        row = state.database.one(
            "SELECT origin, trust FROM block_versions WHERE label = ? ORDER BY version DESC",
            (id.removeprefix("block:"),),
        )
        return ("active", row["trust"], row["origin"]) if row else ("active", 0, "")
    return "active", 0, "runtime"
