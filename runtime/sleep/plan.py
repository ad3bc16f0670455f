"""What is to be done with a new record, as far as rules decide it. Pure but for what it is given.

Only the same subject and relation may end one another. A relation with one value at a time needs no
model; nor does what says the same, or is like nothing. For the rest a model is asked, and what it
answers is held to the same rules: what they do not allow is added beside.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pagemind.runtime import wording
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.facts import FactBook, less_trusted
from pagemind.runtime.gist import telling
from pagemind.runtime.passage import Passage
from pagemind.runtime.settings import EXTRACT_TEXT_CHARS, NEAR_ASKS, NEAR_MOST, NEAR_SUPERSEDES
from pagemind.runtime.sleep.similar import (
    Cardinality,
    New,
    Similar,
    same_object,
    same_subject,
)
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.wording import plain

Op = Literal["add", "update", "supersede", "delete", "noop"]
_DENIES = re.compile(
    r"\b(?:do|does|did|is|are|was|were|am|has|have|had|can|will|would)(?:n['’]t| not)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """`text` is that of an update. `aside`: it waits for a person, since it is less trusted than
    what it would end. `born_past`: the target is newer and stays."""

    op: Op
    why: str
    target: Passage | None = None
    text: str = ""
    aside: bool = False
    born_past: bool = False

    def body(self, new: New) -> dict[str, object]:
        """The body of the change, with the plan in it."""
        plan: dict[str, object] = {}
        if self.text:
            plan["text"] = self.text
        if self.aside:
            plan["aside"] = True
        if self.born_past and self.target is not None:
            plan["superseded_by"] = self.target.number
            plan["valid_to"] = rfc3339(began(self.target))
        return {**{k: v for k, v in new.change.body.items() if k != "plan"}, "plan": plan}


def by_rule(
    new: New,
    rivals: Sequence[Passage],
    found: Sequence[Similar],
    cardinality: Cardinality,
    book: FactBook,
) -> Plan | tuple[Similar, ...]:
    """What to do, or the known records that a model is to compare the new one with."""
    said = f"{new.text}\n{new.change.body.get('quote') or ''}"
    near = [each for each in found if _may_be_same(each.record, new)]
    for each in near:
        if wording.same_words(each.record.text, new.text):
            return Plan("noop", "the same words", each.record)
    doubtful: list[Passage] = []
    for rival in rivals:
        if not same_object(rival.facets, new.facets) or untrusted(rival.provenance.trust):
            continue
        if wording.ends(said, new.facets.object):
            return _ended(Plan("delete", "it is said to be over", rival), new, book)
        if _DENIES.search(new.text) and not _DENIES.search(rival.text):
            doubtful.append(rival)
            continue
        if cardinality.single(new.facets.relation) and (left := _left_beside(rival, rivals, new)):
            return _ended(Plan("supersede", "one value at a time", left), new, book)
        return Plan("noop", "the same fact", rival)
    others = [each for each in rivals if not same_object(each.facets, new.facets)]
    several = cardinality.several(new.facets.relation, len(rivals))
    if new.is_fact and not doubtful and cardinality.single(new.facets.relation):
        if not others:
            return Plan("add", "nothing is known of it")
        return _ended(Plan("supersede", "one value at a time", others[0]), new, book)
    for each in near:
        if each.likeness < NEAR_SUPERSEDES or not same_subject(each.record.facets, new.facets):
            continue
        if wording.tells_alike(each.record.text, new.text):
            return Plan("noop", "nearly the same words", each.record)
        if each.same_matter and not several:
            return _ended(Plan("supersede", "nearly the same, and newer", each.record), new, book)
    asked = {record.number: Similar(record, 1.0, True) for record in doubtful}
    if new.is_fact and not several:
        read = (record for record in others if not untrusted(record.provenance.trust))
        asked |= {record.number: Similar(record, 0.0, True) for record in read}
    for each in found:
        close = each.likeness >= NEAR_ASKS
        if close or (new.is_fact and _says_of_same(each.record, new)):
            asked[each.record.number] = each
    if not asked:
        return Plan("add", "nothing like it is known")
    order = sorted(asked.values(), key=lambda each: (-each.same_matter, -each.likeness))
    return tuple(order[:NEAR_MOST])


def by_model(
    new: New,
    op: str,
    meant: Similar | None,
    text: str,
    cardinality: Cardinality,
    book: FactBook,
    held: int = 0,
) -> Plan:
    """What a model's answer comes to: `meant` is the known record that it named, None for one that
    is not there; `held` is how many values the subject has now."""
    if meant is None or op == "ADD":
        return Plan("add", "a model found it new")
    record = meant.record
    if op == "NOOP" and _known_from(meant, new):
        return Plan("noop", "a model found it known", record)
    if op == "UPDATE" and _may_be_same(record, new) and _holds_both(text, record, new):
        plan = Plan("update", "a model joined both", record, text=text)
        return plan if may_end(record, new, book) else _aside(plan, new)
    if op in ("SUPERSEDE", "DELETE") and _may_be_over(meant, new, cardinality, held):
        over = op == "DELETE" or same_object(record.facets, new.facets)
        why = "a model found that it ended this"
        return _ended(Plan("delete" if over else "supersede", why, record), new, book)
    return Plan("add", f"a model said {op.lower()}, which the rules do not allow here")


def waiting() -> Plan:
    """For what is untrusted: nothing but a person decides on it."""
    return Plan("add", "it came from a source that is not trusted", aside=True)


def unasked(new: New) -> Plan:
    """Where no model can be asked: nothing is lost by having it beside what is like it."""
    return Plan("add", "nobody could be asked")


def _left_beside(same: Passage, rivals: Sequence[Passage], new: New) -> Passage | None:
    """What came after a fact that is told again, and is not so any more: it was taken for a value
    beside the first."""
    since = new.facets.valid_from
    later = (each for each in rivals if began(same) < began(each))
    return next((each for each in later if since is not None and began(each) < since), None)


def began(record: Passage) -> datetime:
    """From when a record holds, as far as is known."""
    at = record.facets.valid_from or record.created_at
    assert at is not None
    return at


def may_end(record: Passage, new: New, book: FactBook) -> bool:
    """As for a new fact, whatever the record is."""
    return book.may_end(record, new.change.trust, new.facets.speaker)


def _ended(plan: Plan, new: New, book: FactBook) -> Plan:
    """A plan that ends its target, if it may, and is not older."""
    record = plan.target
    assert record is not None
    since = new.facets.valid_from
    if since is not None and since < began(record) and plan.op == "supersede":
        return Plan("add", "it was true before this", record, born_past=True)
    return plan if may_end(record, new, book) else _aside(plan, new)


def _aside(plan: Plan, new: New) -> Plan:
    record = plan.target
    assert record is not None
    why = f"less trusted than {record.short_id}"
    if not less_trusted(record, new.change.trust):
        why = f"{new.facets.speaker} says it, not {record.facets.speaker}, whom it is about"
    return Plan(plan.op, why, record, plan.text, aside=True)


def _may_be_same(record: Passage, new: New) -> bool:
    """Whether they may say the same: nothing says that they are about different matters."""
    one, other = record.facets, new.facets
    if one.relation and other.relation and one.relation != other.relation:
        return False
    return not (one.object and other.object) or same_object(one, other)


def _says_of_same(record: Passage, new: New) -> bool:
    """The same subject and value under another relation: perhaps another word for it."""
    return same_subject(record.facets, new.facets) and same_object(record.facets, new.facets)


def _known_from(meant: Similar, new: New) -> bool:
    """Whether a record may be all that the new one says."""
    record = meant.record
    if not wording.covers(record.text, new.text) and not _says_of_same(record, new):
        return False
    if not new.is_fact or same_object(record.facets, new.facets):
        return True
    return meant.likeness >= NEAR_ASKS or wording.mentions(record.text, new.facets.object)


def _holds_both(text: str, record: Passage, new: New) -> bool:
    """Whether a joined text says what both say, and names nothing else."""
    if not text or len(text) > 2 * EXTRACT_TEXT_CHARS + len(record.text):
        return False
    both = plain(f"{record.text}\n{new.text}")
    if any(plain(word) not in both for word in telling(text)):
        return False
    parts = [record.text, new.text]
    return all(plain(word) in plain(text) for part in parts for word in telling(part))


def _may_be_over(meant: Similar, new: New, cardinality: Cardinality, held: int) -> bool:
    """Whether one may end the other: the same subject and relation; of notes, which have no
    relation, nearly the same words."""
    record = meant.record
    if meant.same_matter:
        over = same_object(record.facets, new.facets)
        return over or not cardinality.several(new.facets.relation, held)
    if record.kind != "note" or meant.likeness < NEAR_ASKS:
        return False
    if same_subject(record.facets, new.facets):
        return True
    named = not record.facets.subject and bool(new.facets.subject)
    return named and wording.mentions(record.text, new.facets.subject)
