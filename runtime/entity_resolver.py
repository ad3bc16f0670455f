"""Which entity a name means: the one that has this name, one with nearly the same, else a new one.

Two that are taken for one can hardly be told apart later, one that is taken for two is found by
either name: where it is uncertain, and nobody can be asked, it is two.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence

from pagemind.runtime.entity_names import (
    USER,
    is_first_person,
    is_pronoun,
    likeness,
    plain,
)
from pagemind.runtime.settings import (
    ENTITY_ALIKE,
    ENTITY_ASKED,
    ENTITY_BITS,
    ENTITY_CANDIDATES,
    ENTITY_NAME_CHARS,
)
from pagemind.runtime.state.entities import Entity
from pagemind.runtime.state.state import State

# Told a name and entities with similar ones, answers the number of the one that is meant, or None.
Asked = Callable[[str, Sequence[Entity]], int | None]
_PART = ENTITY_ASKED  # the likeness of a name that is part of another


def resolve(
    state: State,
    name: str,
    *,
    seq: int,
    speaker: str = "",
    make: bool = True,
    ask: Asked | None = None,
) -> int | None:
    """The number of the entity; None for a pronoun or a blank name, which are nobody's, and, where
    none may be made, for a name that is not known.

    "I" and "me" are the speaker. `ask` is a model's word in uncertain cases: what it answers that
    was not offered counts as none.
    """
    if is_first_person(name):
        name = speaker if speaker and not is_first_person(speaker) else USER
    elif is_pronoun(name):
        return None
    name = " ".join(name.split())[:ENTITY_NAME_CHARS]
    key = plain(name)
    if not key:
        return None
    entities = state.entities
    if (known := entities.find(key)) is not None:
        return known
    # Only a model can say whether Sam is Sam Jones: without one, near lengths will do.
    keys = _about(key, entities.keys_about(len(key))) if ask is None else entities.keys()
    alike, uncertain = _similar(key, keys)
    sure = alike[0] if len(alike) == 1 else None
    found = sure or _asked(state, name, [*alike, *uncertain], ask)
    if found is not None:
        if make:
            entities.also(found, name, key, how="similar", seq=seq)
        return found
    return entities.make(name, key, seq=seq) if make else None


def _about(key: str, keys: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Those that may have nearly the same name, told quickly: by the characters in it."""
    if not telling(key):
        return []
    held = set(key)
    most = 2 + len(key) // 10
    return [each for each in keys if len(held.symmetric_difference(each[0])) <= most]


def telling(key: str) -> bool:
    """Whether a name says enough to be compared by its letters: long or of several words, and not
    of the same few letters over and over."""
    letters = key.replace(" ", "")
    if not letters:
        return False
    counted = Counter(letters)
    bits = -sum(n / len(letters) * math.log2(n / len(letters)) for n in counted.values())
    return bits >= ENTITY_BITS and (len(letters) >= 6 or len(key.split()) >= 2)


def _similar(key: str, keys: Sequence[tuple[str, int]]) -> tuple[list[int], list[int]]:
    """Entities with nearly the same name, and others whose name is like it or part of it: the
    likest first."""
    words, tells = set(key.split()), telling(key)
    best: dict[int, float] = {}
    for other, entity in keys:
        like = likeness(key, other)
        if not (tells and telling(other)):
            like = min(like, _PART)
        if words <= (others := set(other.split())) or others <= words:
            like = max(like, _PART)
        best[entity] = max(like, best.get(entity, 0.0))
    ranked = sorted(best, key=lambda entity: (-best[entity], entity))
    alike = [entity for entity in ranked if best[entity] >= ENTITY_ALIKE]
    uncertain = [entity for entity in ranked if ENTITY_ASKED <= best[entity] < ENTITY_ALIKE]
    return alike, uncertain[:ENTITY_CANDIDATES]


def _asked(state: State, name: str, candidates: Sequence[int], ask: Asked | None) -> int | None:
    if ask is None or not candidates:
        return None
    offered = list(state.entities.get(list(candidates)).values())
    answer = ask(name, offered)
    return answer if answer in candidates else None


def alike_names(state: State, name: str, limit: int = 5) -> list[str]:
    """The names of entities that may have been meant, the likest first."""
    alike, uncertain = _similar(plain(name), state.entities.keys())
    known = state.entities.get([*alike, *uncertain][:limit])
    return [known[each].name for each in [*alike, *uncertain][:limit] if each in known]
