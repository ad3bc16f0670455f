"""What a person may ask to erase, and how a plan is stored."""

from datetime import datetime

import pytest

from pagemind.runtime.erasure.plan import Counts, Plan
from pagemind.runtime.erasure.wanted import wanted
from pagemind.runtime.errors import UserError


def test_ids_are_read_as_people_write_them() -> None:
    """Brackets and capitals do not matter; each counts once."""
    assert wanted(ids=["[M42]", "a7", "m42", "p3", "t1"]).ids == ("m42", "a7", "p3", "t1")


@pytest.mark.parametrize("odd", ["", "42", "m0", "x7", "m1 m2", "block:human", "m1;--"])
def test_what_is_no_id_is_refused(odd: str) -> None:
    """With what an id looks like."""
    with pytest.raises(UserError, match="is not an id"):
        wanted(ids=[odd])


def test_exactly_one_way_is_said() -> None:
    """Nothing and two are both refused: an erasure is not guessed at."""
    with pytest.raises(UserError, match="nothing says"):
        wanted(query="   ")
    with pytest.raises(UserError, match="not both query and everything"):
        wanted(query="x", everything=True)
    assert wanted(subject="  Dana   Reyes ").subject == "Dana Reyes"


def test_a_name_of_one_letter_is_refused() -> None:
    """It would be found in every text."""
    with pytest.raises(UserError, match="too short"):
        wanted(subject="D")


def test_a_time_has_a_zone() -> None:
    """A naive time would mean another day elsewhere."""
    with pytest.raises(UserError, match="time zone"):
        wanted(before=datetime(2026, 5, 8))


def test_a_plan_is_stored_and_read_again() -> None:
    """All of it, and the same plan is called the same."""
    plan = Plan(messages=(1, 2), lines=("ab",), derived=("p1", "block:human"), wanted="ids")
    assert Plan.from_json(plan.to_json()) == plan
    assert Plan.from_json(plan.to_json()).sha256 == plan.sha256
    assert plan
    assert not Plan(wanted="query")
    with pytest.raises(ValueError, match="no plan"):
        Plan.from_json('{"text": "x"}')


def test_counts_add_up() -> None:
    """Those of several agents, with the keys that scripts rely on."""
    both = Counts(messages=1, derived=2) + Counts(messages=2, records=3)
    assert both.to_dict() == {"messages": 3, "passages": 0, "records": 3, "pages": 0, "derived": 2}
    assert Counts.from_dict(both.to_dict()) == both
