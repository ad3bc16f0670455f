"""Facts about a person: worded, held against what was said, turned to them."""

import pytest

from pagemind.runtime.models.person_facts import (
    second_person,
    settle,
    superseded,
    third_person,
    to_you,
)
from pagemind.runtime.models.plain_talk import claims, questions


@pytest.mark.parametrize(
    ("claim", "fact"),
    [
        ("My sister Nina works in Rome.", "sister Nina works in Rome"),
        ("I drive an old Saab.", "drives an old Saab"),
        ("I'm allergic to peanuts, so be careful.", "is allergic to peanuts"),
        ("We're going to Iceland in August.", "is going to Iceland in August"),
        ("I've two cats, remember that.", "has two cats"),
        ("I'm Marta.", "name is Marta"),
        ("Please call me Sam", "name is Sam"),
        ("I never eat meat.", "never eats meat"),
    ],
)
def test_a_claim_in_the_third_person(claim: str, fact: str) -> None:
    """The person's own sentence without I, greeting and request."""
    assert third_person(claim) == fact


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("lives in Porto", "You live in Porto."),
        ("studies law", "You study law."),
        ("teaches physics", "You teach physics."),
        ("is vegan", "You are vegan."),
        ("has two cats", "You have two cats."),
        ("dog is called Rex", "Your dog is called Rex."),
        ("glasses are broken", "Your glasses are broken."),
        ("can't stand olives", "You can't stand olives."),
        ("lost their left thumb", "You lost your left thumb."),
        ("You are Ada", "You are Ada."),
        ("the door code is 4711", "The door code is 4711."),
    ],
)
def test_a_line_said_to_the_person(line: str, said: str) -> None:
    """Verbs and nouns at the start of a line are told apart."""
    assert second_person(line) == said


def test_own_words_are_turned_to_the_person() -> None:
    """A quotation from recall can be said back."""
    assert to_you("I'm sure I left my keys with our neighbour.") == (
        "You are sure you left your keys with your neighbour."
    )


@pytest.mark.parametrize(
    ("notes", "claim", "kept"),
    [
        (["vegan"], "I'm vegan, keep that in mind.", ["is vegan"]),
        (["moved to Porto"], "I just moved to Porto.", ["lives in Porto"]),
        (["son is Tim"], "My son Tim just turned seven.", ["son Tim just turned seven"]),
        (["name is Nomad"], "We named our boat Nomad.", ["named their boat Nomad"]),
        (["likes jazz"], "The trains are late again.", []),
        ([], "My name is Ada.", []),
    ],
)
def test_notes_are_held_against_the_claim(notes: list[str], claim: str, kept: list[str]) -> None:
    """Faithful notes stay, lossy ones give way to the sentence, invented ones are dropped."""
    assert settle(notes, claim) == kept


def test_a_second_dog_does_not_replace_the_first() -> None:
    """Only what there can be one of, or what is said to have changed, replaces a line."""
    lines = ["dog is called Rex", "lives in Lisbon"]
    assert superseded("dog is called Bella", "I have a dog called Bella.", lines) is None
    assert superseded("lives in Porto", "I live in Porto.", lines) == (
        "lives in Lisbon",
        "lives in Porto",
    )


def test_statement_and_question_are_told_apart() -> None:
    """A sentence that tells and then asks counts as both."""
    said = "My daughter starts school in May, can you suggest a gift?"
    assert claims(said) == ["My daughter starts school in May"]
    assert questions(said) == ["can you suggest a gift?"]


def test_other_languages_are_left_to_the_model() -> None:
    """Where no English word gives a sign, nothing is ruled out."""
    assert claims("Soy vegano.") == ["Soy vegano."]


@pytest.mark.parametrize("claim", ["Hi there, Tomek here.", "People call me Tomek."])
def test_a_name_said_outright_is_noted_as_such(claim: str) -> None:
    """However the model words it."""
    assert claims(claim) == [claim] or claims(claim) == ["Tomek here."]
    assert settle([], claims(claim)[0]) == ["name is Tomek"]


def test_a_wish_that_lasts_is_a_claim_and_no_request() -> None:
    """What somebody never wants says something of them; what is to be done now does not."""
    wish = "Please don't suggest seafood, I'm allergic to shellfish."
    assert claims(wish)
    assert questions(wish) == []
    assert questions("Suggest a dinner.") == ["Suggest a dinner."]
    assert questions("Don't you like cats?") == ["Don't you like cats?"]


def test_an_adverb_is_not_conjugated() -> None:
    """The verb after it is; who just moved somewhere lives there."""
    claim = "I'm Sam and I just moved to Porto."
    assert settle(["name is Sam", "just moved to Porto"], claim) == [
        "name is Sam",
        "lives in Porto",
    ]
