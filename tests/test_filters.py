"""What may be asked of a search, and what is said of the rest."""

from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.errors import BadFilter
from pagemind.runtime.filters import KEYS, filters_of, short_id
from pagemind.runtime.services import SearchFilters

NOW = datetime(2026, 5, 8, 15, 0, tzinfo=ZoneInfo("Europe/Lisbon"))


def test_every_key_becomes_its_filter() -> None:
    """Texts are trimmed and come once, ids lose their brackets, dates are whole local days."""
    asked: dict[str, Any] = {
        "role": "Human",
        "speaker": " Sam ",
        "start": "2026-05-08",
        "end": "2026-05-08",
        "tags": "boat",
        "any_tags": ["a,b", " a,b ", 'c"d', ""],
        "importance_from": 7,
        "importance_to": "9.5",
        "origins": ["User", "document"],
        "ids": ["[m42]", "A007", "p17", "handbook:a7"],
        "scopes": ["team//app/", "/team/app", "/"],
        "viewer": " bob ",
        "standings": ["Active", "cold"],
        "kinds": ["skill", "Fact"],
        "as_of": "2026-05-01",
    }
    assert filters_of(asked, NOW) == SearchFilters(
        role="user",
        speaker="Sam",
        start=datetime(2026, 5, 7, 23, tzinfo=UTC),
        end=datetime(2026, 5, 8, 23, tzinfo=UTC),
        tags=("boat",),
        any_tags=("a,b", 'c"d'),
        importance_from=7,
        importance_to=9.5,
        origins=("user", "document"),
        ids=("m42", "a7", "p17", "handbook:a7"),
        scopes=("/team/app", "/"),
        viewer="bob",
        standings=("active", "cold"),
        kinds=("fact", "skill"),
        as_of=datetime(2026, 5, 1, 22, 59, 59, 999999, tzinfo=UTC),
    )
    assert filters_of({"kind": "skill"}, NOW).standings == ("active", "skill")
    assert filters_of({"as_of": "today"}, NOW).as_of == NOW
    assert {*asked, "importance"} == set(KEYS)


def test_nothing_asked_is_no_restriction() -> None:
    """None, the empty text, white space and the empty list are as good as left out."""
    assert filters_of({}, NOW) == SearchFilters()
    empty: dict[str, Any] = {
        **dict.fromkeys(KEYS),
        "speaker": " ",
        "start": " ",
        "tags": [],
        "role": "",
    }
    assert filters_of(empty, NOW) == SearchFilters()


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [
        (7, 7, None),
        ("7", 7, None),
        ("7-9", 7, 9),
        ("7..9.5", 7, 9.5),
        ("-3", None, 3),
        ("3 to 4", 3, 4),
    ],
)
def test_importance_may_be_a_range(said: Any, low: float | None, high: float | None) -> None:
    """A number means at least."""
    filters = filters_of({"importance": said}, NOW)
    assert (filters.importance_from, filters.importance_to) == (low, high)


def test_times_may_be_dates_and_datetimes() -> None:
    """For programs: a date is a whole local day, a datetime is exact."""
    day = date(2026, 5, 8)
    filters = filters_of({"start": day, "end": day}, NOW)
    assert filters == filters_of({"start": "2026-05-08", "end": "2026-05-08"}, NOW)
    at = datetime(2026, 5, 8, 12, 30, tzinfo=UTC)
    assert filters_of({"start": at}, NOW).start == at
    assert filters_of({"end": datetime(2026, 5, 8, 12, 30)}, NOW).end == at.replace(hour=11)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"speeker": "Sam"},
            r"no filter is called 'speeker'\. Did you mean speaker\? Filters: role",
        ),
        ({"xyzzy": 1}, r"no filter is called 'xyzzy'\. Filters: role, speaker, start, end, tags"),
        ({"start": "soon"}, "start: 'soon' is not a date; write it like 2026-05-08"),
        ({"end": "2026-02-30"}, "end: '2026-02-30' is not a date"),
        ({"start": 5}, "start is a date such as 2026-05-08, not 5"),
        ({"start": "2026-05-08", "end": "2026-05-07"}, r"start \(2026-05-08\) lies after end"),
        ({"importance": 11}, "importance_from is a number from 1 to 10, not 11"),
        ({"importance": "high"}, "importance is a number from 1 to 10 or a range"),
        ({"importance": "9-7"}, "importance from 9 to 7 is an empty range"),
        ({"importance": 5, "importance_to": 7}, "importance says all"),
        ({"importance_from": float("nan")}, "importance_from is a number"),
        ({"importance_to": True}, "importance_to is a number"),
        ({"role": "narrator"}, "role is user, assistant or tool, not 'narrator'"),
        ({"origins": "martian"}, "'martian' is not an origin; origins: user, operator, model"),
        ({"ids": ["x7"]}, "'x7' is not an id; ids look like m42"),
        ({"ids": "m0"}, "'m0' is not an id"),
        ({"ids": "a1; DROP TABLE"}, "is not an id"),
        ({"tags": 7}, "tags is a text or a list of texts, not 7"),
        ({"tags": ["a", 7]}, "tags is a text, not 7"),
        ({"any_tags": {"a": 1}}, "any_tags is a text or a list"),
        ({"tags": [str(i) for i in range(1001)]}, "tags has 1,001 values; at most 1,000"),
        ({"speaker": 7}, "speaker is a text, not 7"),
    ],
)
def test_what_cannot_be_says_what_can(asked: dict[str, Any], message: str) -> None:
    """One line, from which the call can be mended."""
    with pytest.raises(BadFilter, match=message) as raised:
        filters_of(asked, NOW)
    assert "\n" not in str(raised.value)


@given(st.text(max_size=20))
def test_an_id_is_read_or_refused(text: str) -> None:
    """No text does anything else."""
    try:
        found = short_id(text)
    except BadFilter:
        return
    assert short_id(found) == found


@given(st.dictionaries(st.sampled_from(KEYS), st.text(max_size=12) | st.integers() | st.none()))
def test_filters_are_made_or_refused(asked: dict[str, Any]) -> None:
    """Whatever a program passes on from outside."""
    with suppress(BadFilter):
        assert isinstance(filters_of(asked, NOW), SearchFilters)
