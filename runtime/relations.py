"""Relations of facts: one name for what is said in many ways, and which hold one value at a time.

`manages` and `reports_to` are one relation from two sides: a fact is kept as what its subject has
(Bob's manager is Alice), whoever of the two was named first. Pure.
"""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from pagemind.runtime.settings import RELATION_CHARS

# One value at a time: a new one ends the one before.
SINGLE: Final = frozenset(
    """lives_in works_at works_as manager age birthday born_in phone email address name full_name
    spouse partner marital_status height weight blood_type gender timezone salary studies_at
    located_in capital ceo mother father status price deadline due_date start_date version
    username""".split()
)
_SINGLE_PREFIXES = ("favorite_", "preferred_")
# The same from both sides.
SYMMETRIC: Final = frozenset(
    "spouse partner sibling friend colleague neighbor married_to related_to".split()
)
# Values of these are no entities.
LITERAL: Final = frozenset(
    """age birthday phone email address marital_status height weight blood_type gender timezone
    salary status price deadline due_date start_date version username name full_name nickname
    said""".split()
)
# A value of these is another name of the subject.
NAMES: Final = frozenset(("name", "full_name", "nickname"))

_SYNONYMS: Final = {
    "lives_in": """lives_at resides_in resides_at living_in home residence based_in moved_to
        relocated_to lives home_city place_of_residence""",
    "works_at": """works_for employer employed_by employed_at company job_at
        working_at working_for has_employer""",
    "works_as": """occupation profession job job_title position employed_as
        has_job has_occupation""",
    "manager": """boss supervisor reports_to managed_by line_manager works_under supervised_by
        has_manager has_boss""",
    "birthday": "birth_date birthdate date_of_birth born_on dob",
    "born_in": "birthplace birth_place place_of_birth",
    "age": "years_old aged has_age",
    "phone": """phone_number telephone telephone_number mobile mobile_number mobile_phone cell
        cell_phone has_phone_number""",
    "email": "e_mail email_address e_mail_address mail_address has_email",
    "address": "street_address postal_address home_address",
    "name": "called named is_called first_name",
    "nickname": "goes_by also_known_as aka alias",
    "spouse": "husband wife married_to married has_spouse has_wife has_husband",
    "partner": "boyfriend girlfriend in_relationship_with dating in_a_relationship_with",
    "sibling": "brother sister sibling_of brother_of sister_of",
    "friend": "friend_of friends_with best_friend_of has_friend",
    "colleague": "colleague_of coworker co_worker works_with",
    "neighbor": "neighbour neighbor_of neighbour_of",
    "located_in": "located_at location situated_in",
    "studies_at": "student_at attends_school attends_university",
    "timezone": "time_zone",
    "mother": "mom mum has_mother",
    "father": "dad has_father",
    "ceo": "chief_executive led_by_ceo",
    "owns": "owner_of has_pet owns_a",
    "likes": "enjoys fond_of is_fond_of",
    "dislikes": "does_not_like doesn_t_like doesnt_like",
    "speaks": "speaks_language",
}
_INVERSES: Final = {
    "manager": "manages manager_of boss_of supervises supervisor_of line_manager_of",
    "works_at": "employs employer_of has_employee",
    "owns": "owned_by owner belongs_to",
    "mother": "mother_of",
    "father": "father_of",
    "ceo": "ceo_of",
    "studies_at": "has_student",
}
_NAMES: Final = {
    written: (name, False) for name, words in _SYNONYMS.items() for written in words.split()
} | {written: (name, True) for name, words in _INVERSES.items() for written in words.split()}
_FILLERS = ("is_", "are_", "was_", "now_", "currently_", "has_")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Relation:
    """`inverted`: as it was said, its subject is the object of this one."""

    name: str
    inverted: bool = False


def relation_of(written: str) -> Relation | None:
    """A relation by its one name: `reportsTo`, "is managed by" and BOSS are manager. None for a
    text without a letter or digit."""
    text = _CAMEL.sub("_", unicodedata.normalize("NFKC", written)).casefold()
    name = "_".join(re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text))
    name = re.sub(r"['’]", "_", name)[:RELATION_CHARS].strip("_")
    name = re.sub("^favourite_", "favorite_", name)
    if not name:
        return None
    for each in (name, *(_without(name))):
        if each in _NAMES:
            return Relation(*_NAMES[each])
        if each in SINGLE:
            return Relation(each)
    return Relation(name)


def _without(name: str) -> list[str]:
    """A name without the words that say nothing at its head."""
    found = []
    for filler in _FILLERS:
        if name.startswith(filler) and len(name) > len(filler):
            found.append(name.removeprefix(filler))
    return found


def is_single(relation: str, also: Collection[str] = ()) -> bool:
    """Whether a subject has one value of it at a time; `also` are further such relations."""
    known = relation_of(relation)
    if known is None:
        return False
    if known.name in SINGLE or known.name.startswith(_SINGLE_PREFIXES):
        return True
    return any((each := relation_of(one)) and each.name == known.name for one in also)


def is_symmetric(relation: str) -> bool:
    """Whether it holds the other way round as well."""
    return relation in SYMMETRIC


def close_to(relation: str, known: Collection[str]) -> str | None:
    """Of known relations the one that was perhaps meant."""
    found = get_close_matches(relation, known, n=1)
    return found[0] if found else None


def words_of(relation: str) -> str:
    """As a reader says it: `lives in`."""
    return relation.replace("_", " ")
