"""Names of entities: what is one name, what is two, what is nobody's."""

from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.entity_names import likeness, plain
from pagemind.runtime.entity_resolver import resolve, telling
from pagemind.runtime.state.entities import Entity
from pagemind.runtime.state.state import State

HOSTILE = "Robert'); DROP TABLE passages;--"


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path, FrozenClock())


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("  The ACME Company ", "acme company"),
        ("Sam's", "sam"),
        ("Sam’s", "sam"),
        ("Dr. Smith", "smith"),
        ("Mr. John Smith", "john smith"),
        ("Mr Smith", "mr smith"),
        ("Jean-Luc", "jean luc"),
        ("O'Brien", "obrien"),
        ("\uff33\uff41\uff4d\u200b", "sam"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("The", "the"),
        ("हिन्दी", "हिन्दी"),
        ("田中さん", "田中さん"),
        ("!?", "!?"),
        (HOSTILE, "robert drop table passages"),
    ],
)
def test_a_name_has_one_key_however_it_is_written(written: str, key: str) -> None:
    """Case, width, articles, titles, a possessive and punctuation make no difference."""
    assert plain(written) == key


def test_names_with_other_digits_are_never_alike() -> None:
    """However long the rest of the name is."""
    one = "north wing of the main building in harbour street 12"
    assert likeness(one, one.replace("12", "13")) == 0
    assert likeness(one, one.replace("harbour", "harbor")) > 0.9


def test_short_and_dull_names_are_not_compared() -> None:
    """Too little stands in them."""
    assert not telling("anna")
    assert not telling("aaaaaaaaa")
    assert telling("jo ek")
    assert telling("margarethe")


def test_a_name_leads_to_one_entity(state: State) -> None:
    """By its key, by nearly the same letters where it is long; else it is a new one."""
    first = resolve(state, "International Harbour Commission", seq=1)
    assert resolve(state, "the international harbour commission", seq=1) == first
    assert resolve(state, "International Harbour Commision", seq=1) == first
    assert resolve(state, "International Harbour Commission 2", seq=1) != first
    assert resolve(state, "Anna", seq=1) != resolve(state, "Anne", seq=1)
    assert resolve(state, "Mr Smith", seq=1) != resolve(state, "Mrs Smith", seq=1)


def test_the_first_person_is_the_speaker_and_pronouns_are_nobody(state: State) -> None:
    """A speaker without a name is the user."""
    sam = resolve(state, "Sam", seq=1)
    assert resolve(state, "I", seq=1, speaker="sam") == sam
    assert resolve(state, "my", seq=1, speaker="Sam") == sam
    user = resolve(state, "me", seq=1)
    assert user is not None
    assert resolve(state, "the user", seq=1, speaker="user") == user
    for nobody in ("he", "They", "it", "  ", ""):
        assert resolve(state, nobody, seq=1) is None
    assert state.entities.count() == 2


def test_asking_for_a_name_makes_no_entity(state: State) -> None:
    """Unless it is told to."""
    assert resolve(state, "Zoe", seq=1, make=False) is None
    assert state.entities.count() == 0


def test_hostile_names_are_names(state: State) -> None:
    """Nothing in them is carried out."""
    robert = resolve(state, HOSTILE, seq=1)
    assert robert is not None
    assert resolve(state, HOSTILE, seq=1) == robert
    assert state.entities.get([robert])[robert].name == HOSTILE


def test_a_model_is_asked_where_it_is_uncertain(state: State) -> None:
    """What it was not offered counts as no answer."""
    sam = resolve(state, "Sam Jones", seq=1)
    offered: list[list[str]] = []

    def yes(name: str, candidates: "list[Entity] | tuple[Entity, ...]") -> int | None:
        offered.append([each.name for each in candidates])
        return sam

    assert resolve(state, "Sam", seq=1, ask=yes) == sam
    assert offered == [["Sam Jones"]]
    assert resolve(state, "Sam", seq=1) == sam  # the name leads to it from then on
    assert resolve(state, "Jones", seq=1, ask=lambda name, known: 99) not in (sam, 99)
