"""A passage of the archival tier: a text that an agent, a person or the worker chose to keep.

What is more than a note has facets: a fact with its subject and the time in which it holds, an
insight, an episode, a skill. A record is a passage looked at with its facets.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, get_args

from pagemind.runtime.message import Provenance

# note: a plain text; fact: subject, relation, object; insight: drawn from other records; digest:
# old episodes in short; episode: what was tried and how it went; skill: how something is done;
# item: what a function stored under a key.
RecordKind = Literal["note", "fact", "insight", "digest", "episode", "skill", "item"]
KINDS: Final[tuple[RecordKind, ...]] = get_args(RecordKind)
EVERGREEN: Final = "evergreen"  # a tag that does what the facet does
# What a search of passages finds when nobody asks for more; the others have functions of their own.
ORDINARY: Final[tuple[RecordKind, ...]] = ("note", "fact", "insight", "digest")
# Where a search finds a passage: active (ordinary and current), past (superseded, or no longer
# true), cold (forgotten for want of use), pending (not approved), or on the shelf of its kind.
Standing = Literal["active", "past", "cold", "pending", "episode", "skill", "item"]
STANDINGS: Final[tuple[Standing, ...]] = get_args(Standing)


@dataclass(frozen=True, slots=True)
class Facets:
    """What a record is beside its text. Times are aware UTC; None or "" is: not said."""

    kind: RecordKind = "note"
    subject: str = ""  # whom or what a fact is about, as it was said …
    relation: str = ""
    object: str = ""
    subject_entity: int | None = None  # … and as an entity (state/entities.py)
    object_entity: int | None = None
    speaker: str = ""  # who said it
    scope: str = "/"  # a path: /team/project
    owner: str = ""  # the agent or source it is private to; "": whoever sees the scope
    key: str = ""  # its name within the scope: of items and skills
    valid_from: datetime | None = None  # true in the world from then …
    valid_to: datetime | None = None  # … until just before then
    superseded_by: int | None = None  # the number of the record that took its place
    level: int = 0  # of an insight: one above its evidence
    expires_at: datetime | None = None
    evergreen: bool = False  # never forgotten by the worker
    cold: bool = False  # hidden from searches, recoverable


@dataclass(frozen=True, slots=True)
class Passage:
    """`number` is what people see (`a7`); `id` is a UUIDv7; `version` counts edits from 1."""

    number: int
    id: str
    text: str
    tags: tuple[str, ...] = ()
    importance: float | None = None  # 1–10; None: not rated yet
    metadata: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    seq: int = 0  # the agent's last message when it was stored
    created_at: datetime | None = None
    updated_at: datetime | None = None
    last_accessed: datetime | None = None
    provenance: Provenance = field(default_factory=Provenance)
    facets: Facets = field(default_factory=Facets)

    @property
    def short_id(self) -> str:
        return f"a{self.number}"

    @property
    def kind(self) -> RecordKind:
        return self.facets.kind

    @property
    def closed(self) -> bool:
        """Whether something took its place, or it had ceased to hold when it was last changed."""
        ends, changed = self.facets.valid_to, self.updated_at
        over = ends is not None and (changed is None or ends <= changed)
        return over or self.facets.superseded_by is not None

    @property
    def standing(self) -> Standing:
        """Where a search finds it; of what is retired, where it would."""
        if self.provenance.status == "pending":
            return "pending"
        if self.facets.cold:
            return "cold"
        if self.closed:
            return "past"
        shelves: dict[RecordKind, Standing] = {
            "episode": "episode",
            "skill": "skill",
            "item": "item",
        }
        return shelves.get(self.facets.kind, "active")

    def gone(self, now: datetime) -> bool:
        """Whether it is hidden: retired, cold, or its time is over."""
        ends = self.facets.expires_at
        over = ends is not None and ends <= now
        return over or self.facets.cold or self.provenance.status == "retired"

    def holds(self, at: datetime) -> bool:
        """Whether it is true in the world at a time, as far as it says."""
        begins, ends = self.facets.valid_from, self.facets.valid_to
        return (begins is None or begins <= at) and (ends is None or at < ends)
