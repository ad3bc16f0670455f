"""What tools may ask of the runtime, which implements it: Core, Recall, Archival, Facts, Pages …

These are the seams between `tools/` and the kernel: a tool never sees the database.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any, Protocol

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.episode import Recalled, Result
from pagemind.runtime.fact import Direction, FactAdded, FactFound, validity
from pagemind.runtime.keeping import PLAIN, Keeping
from pagemind.runtime.message import TRUST
from pagemind.runtime.outbox import Tier
from pagemind.runtime.passage import Passage
from pagemind.runtime.skill import Checked, Draft, Offered, Skill


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Typed, pushed down to the store; None or empty means no restriction. Times are aware UTC."""

    role: str | None = None
    speaker: str | None = None
    start: datetime | None = None  # inclusive
    end: datetime | None = None  # exclusive
    tags: tuple[str, ...] = ()  # all of them
    any_tags: tuple[str, ...] = ()  # at least one of them
    importance_from: float | None = None  # 1–10, inclusive; what has none does not match
    importance_to: float | None = None
    origins: tuple[str, ...] = ()  # one of message.Origin
    ids: tuple[str, ...] = ()  # one of these short ids: m42, a7, p17
    without: tuple[str, ...] = ()  # none of these: what asks now would be its own best hit
    kinds: tuple[str, ...] = ()  # of passages: note, fact, insight … (passage.KINDS)
    standings: tuple[str, ...] = ("active",)  # of passages: where they are (passage.STANDINGS)
    scopes: tuple[str, ...] = ()  # of passages: in one of these, or below it
    viewer: str | None = None  # who asks: sees what is private to it; None: all that is private
    as_of: datetime | None = None  # of passages: what was true in the world then


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result (contract.md: `memory search`). `id` is m42 or a7."""

    id: str
    tier: Tier
    text: str
    score: float
    seq: int = 0
    page: str | None = None
    role: str = ""
    speaker: str = ""
    conversation: int = 0
    origin: str = ""
    trust: int = 100
    source: str = ""
    said_at: datetime | None = None
    tags: tuple[str, ...] = ()
    importance: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    cosine: float | None = None  # to the query; None where meanings were not compared
    in_context: bool = False
    part: int = 1  # which piece of a long text `text` is …
    parts: int = 1  # … of how many
    before: str = ""  # of a long text: what stands right before `text` …
    after: str = ""  # … and right after it, some sentences each
    archive: str = ""  # the shared archive it stands in; `id` is then handbook:a7
    under: str = ""  # the insight above it that it is evidence of
    linked: str = ""  # the hit that led to it: it was not found itself
    kind: str = ""  # of a passage: note, fact, insight …
    scope: str = ""
    valid_from: datetime | None = None  # when it is true in the world …
    valid_to: datetime | None = None
    superseded_by: str | None = None  # … and what took its place


def validity_of(hit: Hit, zone: tzinfo) -> str:
    """When a hit is true, in brackets: (until June 2026; now a12); "" where nothing is said."""
    return validity(hit.valid_from, hit.valid_to, hit.superseded_by, zone)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits best first; `searched` is how many messages or passages the tier holds (for "0 matches
    among N"). `warnings` say what could not be searched."""

    hits: tuple[Hit, ...]
    searched: int
    warnings: tuple[str, ...] = ()
    linked: tuple[Hit, ...] = ()  # what hits are linked to, for who has room for it


@dataclass(frozen=True, slots=True)
class Near:
    """A passage that says nearly the same as another text. `similarity` is their cosine;
    `otherwise`: it names, counts or denies what the other does not, and may contradict it."""

    id: str
    similarity: float
    text: str
    otherwise: bool = False
    trust: int = 100


def merged(tiers: Iterable[Sequence[Hit]]) -> list[Hit]:
    """The hits of several tiers as one list, best first. Messages score higher than passages for
    what stands around them: of several tiers, each one's scores are brought to 1 at most."""
    several = list(tiers)
    if len(several) == 1:
        return list(several[0])
    hits: list[Hit] = []
    for found in several:
        top = max((hit.score for hit in found), default=0.0)
        scale = max(1.0, top)
        hits.extend(replace(hit, score=round(hit.score / scale, 4)) for hit in found)
    return sorted(hits, key=lambda hit: -hit.score)


@dataclass(frozen=True, slots=True)
class Held:
    """A change that is not made: it waits for a person, as a planned change of this id (c12)."""

    id: str


class Recall(Protocol):
    """Every message ever."""

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult:
        """Without a query: newest first. Never the agent's own search calls and their results.

        `ranking` is a name in `tiers.composite.RANKINGS`; None is the agent's own."""


class Archival(Protocol):
    """Passages that someone chose to keep. Numbers are those of short ids (a7)."""

    def search(
        self, query: str | None, filters: SearchFilters, limit: int, *, ranking: str | None = None
    ) -> SearchResult: ...

    def gathered(self, result: SearchResult, filters: SearchFilters) -> SearchResult:
        """What a search with these filters found: evidence beneath its insight, and what is
        linked."""

    def near(self, text: str) -> list[Near]:
        """Passages that say nearly the same, or much the same otherwise, the closest first; empty
        where that cannot be told quickly."""

    def insert(
        self,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        keeping: Keeping = PLAIN,
    ) -> tuple[Passage, bool]:
        """The passage, and whether it is new (an exact duplicate returns the existing one)."""

    def edit(self, number: int, text: str) -> Passage | Held:
        """Replace the text; the old version is kept. Raises ToolFailed for an unknown id."""

    def delete(self, number: int) -> Passage | Held:
        """Retire the passage: hidden, recoverable. Raises ToolFailed for an unknown id."""

    def count(self) -> int: ...


class Facts(Protocol):
    """Facts in time: who or what they are about, when they are true. Each function raises
    ToolFailed for what is no fact, and for a name that nothing is known of."""

    def add(
        self,
        subject: str,
        relation: str,
        object: str,
        text: str = "",
        *,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
    ) -> FactAdded:
        """Keep a fact; of a relation that has one value at a time it ends the one before."""

    def close(self, number: int, at: datetime | None = None) -> Passage | Held:
        """It is true no longer, from a time or from now on."""

    def search(
        self,
        entity: str,
        relation: str | None = None,
        *,
        direction: Direction | None = None,
        hops: int = 1,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[FactFound]:
        """What is true, or was at a time, of someone or something, along relations."""

    def history(self, entity: str, relation: str | None = None) -> list[Passage]:
        """All that was ever known of it, what was true first first."""


@dataclass(frozen=True, slots=True)
class Timer:
    """What wakes the agent at its time. `when` and `due_at` are in the agent's zone; `name` is what
    its definition calls it; `fired_for` the time that it fired for last."""

    id: str
    name: str
    when: str
    message: str
    due_at: datetime
    zone: str
    made_by: str
    fired: int
    fired_for: datetime | None

    def as_json(self, agent: str) -> dict[str, Any]:
        """An item of `schedules list`."""
        return {
            "agent": agent,
            "id": self.id,
            "name": self.name,
            "when": self.when,
            "message": self.message,
            "due_at": rfc3339(self.due_at),
            "zone": self.zone,
            "made_by": self.made_by,
            "fired": self.fired,
            "fired_for": rfc3339(self.fired_for) if self.fired_for else None,
        }


class Timers(Protocol):
    """What wakes the agent by itself."""

    def add(self, when: str, message: str) -> Timer:
        """The same again is the one that is there. Raises UserError."""

    def cancel(self, id: str) -> Timer:
        """Raises NotFound."""

    def all(self) -> list[Timer]:
        """The next one first."""


class Core(Protocol):
    """Core memory, edited by the model. Every edit is versioned and checked before it is stored."""

    @property
    def shows_edits(self) -> bool:
        """Whether the prompt shows an edit at once; else from the next flush on."""

    def append(self, block: str, content: str) -> str:
        """The new value. Raises BlockError."""

    def edit(self, block: str, old_text: str, new_text: str) -> str: ...

    def rewrite(self, block: str, content: str) -> str: ...

    def set(self, block: str, path: str, value: Any) -> str:
        """Set one field of a profile (`pets[0].name`, `/pets/0/name`), or delete it with None."""

    def patch(self, block: str, changes: Mapping[str, Any], reason: str) -> str:
        """Set several fields as one version: all of them, or none."""

    def labels(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Reading:
    """One part of a page, directory or over-long message, as text for the model. Without a
    reference nothing was read: the text says why."""

    text: str
    part: int
    parts: int
    reference: dict[str, Any] | None
    trust: int = 100  # the least of what stands in it


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that may hold what was looked for. `why` is the best message in it, None where the
    gist alone speaks for it; it begins in that `part` of what page_in reads."""

    id: str
    first_at: datetime
    last_at: datetime
    gist: str
    score: float
    why: Hit | None = None
    part: int = 1


@dataclass(frozen=True, slots=True)
class PagesFound:
    """Pages best first, among `searched`; `in_context` are matches that never left the window."""

    pages: tuple[FoundPage, ...]
    searched: int
    in_context: tuple[Hit, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PinAnswer:
    """A pin made or let go: its tokens, and how many are free for pins now. `changed` is False
    where it was as asked already."""

    target: str
    tokens: int
    free: int
    changed: bool = True


class Episodes(Protocol):
    """What was tried in earlier turns, and how it went."""

    def search(self, situation: str, outcome: Result | None = None) -> list[Recalled]:
        """The most similar ones first, each approach with its outcome once."""


class Skills(Protocol):
    """What the agent has learned to do (skills.py)."""

    def check(self, draft: Draft, cancel: CancelToken | None) -> Checked:
        """Run the tests of a draft, before it is saved."""

    def save(self, checked: Checked, turn: int) -> Skill:
        """Active, waiting or refused, as it says."""

    def search(self, task: str) -> list[Offered]:
        """Those that are of use for a task, the best first."""

    def run(
        self, name: str, arguments: Mapping[str, Any], turn: int, cancel: CancelToken | None
    ) -> str:
        """What it returns. Raises ToolFailed."""


class Shared(Protocol):
    """The shared archives that the agent may write to. Ids of what stands there are handbook:a7;
    each function raises ToolFailed for an archive that it may not write to, that is not there or
    that somebody else keeps for too long."""

    def writable(self) -> tuple[str, ...]:
        """Their names."""

    def insert(
        self,
        archive: str,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        scope: str | None = None,
        private: bool = False,
    ) -> tuple[str, bool, bool]:
        """The id of the passage, whether it is new, and whether it waits for a person. What is
        private no other agent sees."""

    def edit(self, archive: str, number: int, text: str) -> Passage | Held: ...

    def delete(self, archive: str, number: int) -> Passage | Held: ...


@dataclass(frozen=True, slots=True)
class Member:
    """Another agent that can be written to."""

    name: str
    description: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What another agent has answered, or, where it did not, `why`. `text` is what it said, in
    both cases, and `trust` that of what it said it from."""

    agent: str
    text: str
    why: str = ""
    trust: int = TRUST["agent"]


@dataclass(frozen=True, slots=True)
class Reach:
    """Which agents may be written to: those of these names ("*": all), or with one of these
    tags."""

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Team(Protocol):
    """The other agents of the home. `call` is the id of the call, which makes one that is done
    again after a kill the same message; `trust` that of the step that makes it."""

    def members(self, reach: Reach) -> list[Member]:
        """Those within reach, by name."""

    def ask(
        self,
        agent: str,
        text: str,
        reach: Reach,
        *,
        call: str,
        cancel: CancelToken | None,
        trust: int,
    ) -> Answer:
        """Have another agent answer now. Raises ToolFailed for what cannot be sent: an agent that
        is not there or out of reach, one that waits for this one, too long a chain."""

    def ask_all(
        self,
        tags: Sequence[str],
        text: str,
        reach: Reach,
        *,
        call: str,
        cancel: CancelToken | None,
        trust: int,
    ) -> list[Answer]:
        """Have all within reach that have one of the tags answer, by name. Raises ToolFailed if
        there are none."""

    def leave(self, agent: str, text: str, reach: Reach, *, call: str, trust: int) -> int:
        """Leave a message, which is answered later; how many wait for that agent now. Raises as
        ask()."""


class Pages(Protocol):
    """Evicted messages, in pages."""

    def read(self, id: str, part: int) -> Reading:
        """A part of page p17 or message m42. Raises ToolFailed: unknown id, part out of range."""

    def find(self, query: str | None, filters: SearchFilters, limit: int) -> PagesFound:
        """The pages that fit; without a query the newest that match the filters."""

    def pin(self, id: str) -> PinAnswer:
        """Keep a copy in view from the next flush on. Raises ToolFailed: unknown id, no room."""

    def unpin(self, id: str) -> PinAnswer:
        """The opposite. Raises ToolFailed for what is not pinned."""
