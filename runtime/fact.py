"""Facts as values: what is one, when it is true, what adding and searching came to. Pure.

A fact is a record whose facets say subject, relation and object; times are aware.
"""

from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Final, Literal

from pagemind.runtime.entity_names import plain
from pagemind.runtime.fact_timeline import EVER, NEVER
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.relations import LITERAL
from pagemind.runtime.settings import ENTITY_NAME_CHARS

# out: facts about an entity; in: facts whose object it is.
Direction = Literal["out", "in", "both"]
_ENTITY_WORDS: Final = 6  # of a value: what is longer is a description, and nobody's name


@dataclass(frozen=True, slots=True)
class FactAdded:
    """`passage` is the fact, `new` whether it was not there; `closed` are those whose place it
    took, `near` others of the same subject and relation. One that may not take the place of what is
    known is kept aside (status pending) until a person approves it; `near` then says what is."""

    passage: Passage
    new: bool
    closed: tuple[Passage, ...] = ()
    near: tuple[Passage, ...] = ()

    @property
    def aside(self) -> bool:
        return self.passage.provenance.status == "pending"


@dataclass(frozen=True, slots=True)
class FactFound:
    """A fact, and the one that led to it where it is two steps away."""

    fact: Passage
    through: Passage | None = None

    @property
    def hops(self) -> int:
        return 1 if self.through is None else 2


def is_current(fact: Passage, now: datetime) -> bool:
    """Whether it is true now, as far as is known."""
    superseded = fact.facets.superseded_by is not None
    return fact.provenance.status == "active" and not superseded and fact.holds(now)


def was_true(fact: Passage) -> bool:
    """Whether it ever was: what was put right at once never was."""
    begins, ends = began(fact)[:2]
    return begins < ends


def began(fact: Passage) -> tuple[datetime, datetime, int]:
    """What facts are put in order by: what was true first comes first."""
    return fact.facets.valid_from or EVER, fact.facets.valid_to or NEVER, fact.number


def same_object(one: Facets, other: Facets) -> bool:
    """Whether two facts of one subject and relation say the same."""
    if one.object_entity is not None and one.object_entity == other.object_entity:
        return True
    return plain(one.object) == plain(other.object)


def reworded(facets: Facets, text: str) -> Facets:
    """The facets of a record with another text: a fact that does not name its object any more is a
    note about its subject."""
    if facets.kind != "fact" or f" {plain(facets.object)} " in f" {plain(text)} ":
        return facets
    return replace(facets, kind="note", relation="", object="", object_entity=None)


def names_entity(relation: str, value: str) -> bool:
    """Whether the object of a relation is somebody or something that facts may be about, too."""
    words = value.split()
    lettered = any(char.isalpha() for char in value)
    short = 0 < len(words) <= _ENTITY_WORDS and len(value) <= ENTITY_NAME_CHARS
    return relation not in LITERAL and lettered and short


def spoken_time(at: datetime, zone: tzinfo) -> str:
    """As exact as it was meant: `2026`, `May 2026`, `8 May 2026`."""
    local = at.astimezone(zone)
    midnight = (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)
    if midnight and local.day == 1:
        return f"{local:%Y}" if local.month == 1 else f"{local:%B %Y}"
    return f"{local.day} {local:%B %Y}"


def validity(begins: datetime | None, ends: datetime | None, by: str | None, zone: tzinfo) -> str:
    """When something is true, in brackets: `(since May 2026)`, `(until 8 May 2026; now a12)`; ""
    where nothing is said. `by` is the id of what took its place."""
    if begins is not None and ends is not None and ends <= begins:
        said = "never true"
    elif ends is not None:
        first = spoken_time(begins, zone) if begins is not None else ""
        last = spoken_time(ends, zone)
        said = f"on {last}" if first == last else f"{first} until {last}".strip()
    else:
        said = f"since {spoken_time(begins, zone)}" if begins is not None else ""
    said = "; ".join(each for each in (said, f"now {by}" if by else "") if each)
    return f"({said})" if said else ""
