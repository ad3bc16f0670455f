"""What is known that a new text may be compared with: a new record, and the records like it.

Records are compared within one scope and one owner only: what is private is never shown beside what
is not, nor changed by it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from pagemind.runtime.clock import parse_rfc3339
from pagemind.runtime.entity_names import plain
from pagemind.runtime.fact import is_current
from pagemind.runtime.facts import FactBook
from pagemind.runtime.passage import Facets, Passage, RecordKind
from pagemind.runtime.relations import is_single, relation_of
from pagemind.runtime.scope import ROOT, within
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import NEAR_MOST, NEAR_POOL, RELATION_LEARNED, RELATION_SURE
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.state.changes import Change
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.wording import likeness

KINDS: tuple[RecordKind, ...] = ("note", "fact")
_LOOK = 3 * NEAR_MOST  # of what is near: some of it is somebody else's


@dataclass(frozen=True, slots=True)
class New:
    """A planned record: its text and facets, from the body of a change. What has a subject, a
    relation and an object is a fact; the rest are notes."""

    change: Change
    text: str
    facets: Facets

    @property
    def is_fact(self) -> bool:
        return self.facets.kind == "fact"


@dataclass(frozen=True, slots=True)
class Similar:
    """A known record, how near in meaning it is, and whether it is the same matter: of the same
    subject and relation."""

    record: Passage
    likeness: float
    same_matter: bool


def new_of(change: Change, book: FactBook) -> New:
    """Raises ValueError for a body that is none."""
    body = change.body
    text = str(body.get("text", "")).strip()
    if not text:
        raise ValueError("it has no text")
    subject, relation, value = (
        str(body.get(key) or "").strip() for key in ("subject", "relation", "object")
    )
    said = relation_of(relation) if relation else None
    if said is not None and said.inverted and subject and value:
        subject, value = value, subject
    speaker = str(body.get("speaker") or "")
    fact = bool(subject and value and said)
    since = body.get("valid_from")
    return New(
        change,
        text,
        Facets(
            kind="fact" if fact else "note",
            subject=subject,
            relation=said.name if fact and said else "",
            object=value if fact else "",
            subject_entity=book.entity(subject, speaker=speaker) if subject else None,
            speaker=speaker,
            scope=str(body.get("scope") or ROOT),
            owner=str(body.get("owner") or ""),
            valid_from=parse_rfc3339(str(since)) if since else None,
        ),
    )


def of_matter(state: State, new: New, now: datetime) -> list[Passage]:
    """Facts that hold now of the same subject and relation, scope and owner; the newest first."""
    facets = new.facets
    if not new.is_fact or facets.subject_entity is None:
        return []
    found = state.facts.of_subject(facets.subject_entity, facets.relation)
    return [each for each in found if is_current(each, now) and _together(each, facets)]


def similar(context: SleepContext, new: New, rivals: Sequence[Passage]) -> list[Similar]:
    """What is near to a new text, the nearest first, that it could be about the same as: records
    of another subject are never meant."""
    facets = new.facets
    filters = SearchFilters(
        kinds=KINDS,
        scopes=() if facets.scope == ROOT else (facets.scope,),
        viewer=facets.owner,
    )
    near = {int(id[1:]): cosine for id, cosine in context.near(new.text, _LOOK, filters)}
    state, now = context.state, context.now()
    known = state.passages.get(list(near))
    if not near:
        for kind in KINDS:
            for each in state.passages.newest(NEAR_POOL, kind=kind):
                known[each.number] = each
                near[each.number] = likeness(each.text, new.text)
    matter = {each.number for each in rivals}
    found = []
    for number in sorted(near, key=lambda number: -near[number]):
        record = known.get(number)
        if record is None or record.kind not in KINDS or not is_current(record, now):
            continue
        if record.facets.cold or record.provenance.origin == "document":
            continue
        if untrusted(record.provenance.trust):
            continue  # a model that compares reads it
        if record.facets.expires_at is not None:
            continue  # the new one is kept for good
        if _together(record, facets) and not _somebody_else(record.facets, facets):
            found.append(Similar(record, near[number], number in matter))
    return found[:_LOOK]


def _together(record: Passage, facets: Facets) -> bool:
    return record.facets.owner == facets.owner and within(record.facets.scope, facets.scope)


def _somebody_else(one: Facets, other: Facets) -> bool:
    """Whether two records are surely about different subjects."""
    if one.subject_entity is not None and other.subject_entity is not None:
        return one.subject_entity != other.subject_entity
    return bool(one.subject and other.subject) and plain(one.subject) != plain(other.subject)


def same_subject(one: Facets, other: Facets) -> bool:
    """Whether two records are about the same subject, and both say so."""
    if one.subject_entity is not None and one.subject_entity == other.subject_entity:
        return True
    return bool(one.subject) and plain(one.subject) == plain(other.subject)


def same_object(one: Facets, other: Facets) -> bool:
    return bool(one.object) and plain(one.object) == plain(other.object)


class Cardinality:
    """Whether a relation holds one value at a time, or several: by its name, or by what the records
    have shown of it. Of one run."""

    def __init__(self, state: State) -> None:
        self._learned = lru_cache(maxsize=None)(state.facts.turnover)
        self._named = state.facts.single

    def single(self, relation: str) -> bool:
        """A model that once took an update for another value does not unlearn it."""
        if is_single(relation, self._named):
            return True
        replaced, beside = self._learned(relation)
        return replaced >= RELATION_LEARNED and replaced >= RELATION_SURE * beside

    def several(self, relation: str, held: int = 0) -> bool:
        """`held` is how many values the subject has of it now. Where it is not known, a model may
        say that a value has taken another's place; one subject with two values speaks for itself
        alone, until there are more."""
        if self.single(relation):
            return False
        replaced, beside = self._learned(relation)
        return beside > replaced and (held > 1 or beside >= RELATION_LEARNED)
