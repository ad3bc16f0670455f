"""Dates as people and models write them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.when import find_spans, parse_span

LISBON = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 5, 8, 15, 0, tzinfo=LISBON)  # a Friday, UTC+1


def span(text: str, now: datetime = NOW) -> tuple[str, str]:
    found = parse_span(text, now)
    zone = now.tzinfo
    return tuple(f"{at.astimezone(zone):%Y-%m-%d %H:%M}" for at in (found.start, found.end))  # type: ignore[return-value]  # two of them


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", "2026-01-01", "2027-01-01"),
        ("2026-05", "2026-05-01", "2026-06-01"),
        ("2025-12", "2025-12-01", "2026-01-01"),
        ("2026-05-08", "2026-05-08", "2026-05-09"),
        (" 2026-5-8 ", "2026-05-08", "2026-05-09"),
        ("today", "2026-05-08", "2026-05-09"),
        ("Yesterday", "2026-05-07", "2026-05-08"),
        ("3 days ago", "2026-05-05", "2026-05-06"),
        ("two weeks ago", "2026-04-24", "2026-04-25"),
        ("a month ago", "2026-04-01", "2026-05-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("this week", "2026-05-04", "2026-05-11"),
        ("last week", "2026-04-27", "2026-05-04"),
        ("monday", "2026-05-04", "2026-05-05"),
        ("last Friday", "2026-05-01", "2026-05-02"),
        ("8 May 2026", "2026-05-08", "2026-05-09"),
        ("May 8th, 2026", "2026-05-08", "2026-05-09"),
        ("the 8th of May", "2026-05-08", "2026-05-09"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("Sept 2025", "2025-09-01", "2025-10-01"),
        ("may 31", "2025-05-31", "2025-06-01"),
        ("on Friday", "2026-05-01", "2026-05-02"),
        ("Friday, 1 May 2026", "2026-05-01", "2026-05-02"),
        ("during May 2023", "2023-05-01", "2023-06-01"),
        ("last May", "2025-05-01", "2025-06-01"),
        ("this May", "2026-05-01", "2026-06-01"),
        ("last night", "2026-05-07", "2026-05-08"),
        ("last weekend", "2026-05-02", "2026-05-04"),
        ("the past 3 days", "2026-05-05", "2026-05-09"),
        ("08.05.2026", "2026-05-08", "2026-05-09"),
        ("three weeks before 12 June 2024", "2024-05-22", "2024-05-23"),
        ("one month after 31 January 2024", "2024-02-29", "2024-03-01"),
        ("the week before 12 June 2024", "2024-06-05", "2024-06-12"),
        ("the day before yesterday", "2026-05-06", "2026-05-07"),
        ("the week of 12 June 2024", "2024-06-10", "2024-06-17"),
    ],
)
def test_a_date_is_whole_local_days(text: str, start: str, end: str) -> None:
    """Midnight to midnight where the agent lives; without a year the latest that was."""
    assert span(text) == (f"{start} 00:00", f"{end} 00:00")


@pytest.mark.parametrize(
    ("text", "start", "width"),
    [
        ("2026-05-08T14:00Z", "14:00", timedelta(minutes=1)),
        ("2026-05-08 15:00", "14:00", timedelta(minutes=1)),
        ("2026-05-08T16:00:30+02:00", "14:00", timedelta(seconds=1)),
        ("2026-05-08t14:00:00.5z", "14:00", timedelta(microseconds=1)),
        ("2 hours ago", "12:00", timedelta(hours=1)),
    ],
)
def test_a_time_lasts_as_long_as_its_last_digit(text: str, start: str, width: timedelta) -> None:
    """Without a zone it is the agent's."""
    found = parse_span(text, NOW)
    assert f"{found.start:%H:%M}" == start
    assert found.end - found.start == width


def test_a_day_on_which_the_clock_changes_has_its_own_length() -> None:
    """The last Sunday of March has 23 hours."""
    found = parse_span("2026-03-29", NOW)
    assert found.end - found.start == timedelta(hours=23)


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-02-30", "2026-13", "99999 years ago", "May May", "20260508", "0000"]
)
def test_what_is_no_date_is_refused_with_examples(text: str) -> None:
    """The message shows what would do."""
    with pytest.raises(ValueError, match="is not a date; write it like 2026-05-08"):
        parse_span(text, NOW)


@given(st.text(max_size=30), st.sampled_from([UTC, LISBON]))
def test_no_text_does_anything_else(text: str, zone: ZoneInfo) -> None:
    """A span that is not empty, or ValueError."""
    try:
        found = parse_span(text, NOW.astimezone(zone))
    except ValueError:
        return
    assert found.start < found.end


def windows(question: str, now: datetime = NOW) -> list[str]:
    """The days that the windows of a question begin with, and those after their last."""
    found = []
    for each in find_spans(question, now):
        first = "ever" if each.start.year == 1 else f"{each.start.astimezone(now.tzinfo):%Y-%m-%d}"
        found.append(f"{first} {each.end.astimezone(now.tzinfo):%Y-%m-%d}")
    return found


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Sam say in May 2023?", ["2023-05-01 2023-06-01"]),
        ("what did sam say in may 2023", ["2023-05-01 2023-06-01"]),
        ("What happened last week?", ["2026-04-27 2026-05-04"]),
        ("Where were we on Friday?", ["2026-05-01 2026-05-02"]),
        ("Who came on 8 May?", ["2026-05-08 2026-05-09"]),
        ("Who came on December 1,2023?", ["2023-12-01 2023-12-02"]),
        ("Who came in mid-August 2023?", ["2023-08-01 2023-09-01"]),
        ("What did we eat in\nMarch?", ["2026-03-01 2026-04-01"]),
        ("What was it three weeks before 12 June 2024?", ["2024-05-22 2024-05-23"]),
        ("Did she call a couple of weeks ago?", ["2026-04-24 2026-04-25"]),
        ("What has changed since June 2024?", ["2024-06-01 2026-05-09"]),
        ("Where did I live before 2025?", ["ever 2025-01-01"]),
        ("What came between 3 and 9 May 2024?", ["2024-05-03 2024-05-10"]),
        ("Who rowed from November to February 2024?", ["2023-11-01 2024-03-01"]),
        ("Was it 2026-05-01 or 2026/04/03?", ["2026-05-01 2026-05-02", "2026-04-03 2026-04-04"]),
        ("today, and today again", ["2026-05-08 2026-05-09"]),
        ("the summer of 2023", ["2023-01-01 2024-01-01"]),
    ],
)
def test_a_question_names_windows(question: str, expected: list[str]) -> None:
    """Days are those of the agent's time zone; each window comes once."""
    assert windows(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        *("May I ask you something?", "This may be wrong.", "march on, soldiers", "wait a second"),
        *("I have 8 dogs, may 9 of them come?", "May 8 people join?", "March 3 to the shop"),
        *("What did April say?", "a song by June", "before April came", "Is 2023 a prime?"),
        *("the boat in room 2023", "in 2048 tokens", "INV-2023-05-08-3", "2023-05-08.pdf"),
        *("every Friday", "on Fridays", "a Black Friday sale", "31 February 2023", "sun and sat"),
        *("What shall we do next Friday?", "tomorrow", "in 2027", "3.5.1 of 2.0.2023.4", ""),
    ],
)
def test_what_only_looks_like_a_date_is_none(question: str) -> None:
    """No false alarms, and nothing that is yet to come."""
    assert windows(question) == []


@given(st.text(max_size=60), st.sampled_from([UTC, LISBON]))
def test_any_question_may_be_looked_through(text: str, zone: ZoneInfo) -> None:
    """No text raises; every window has a width."""
    for noise in (text, f"{text} 8 May {text} last week", f"before {text} 1900-01-01 ago"):
        assert all(each.start < each.end for each in find_spans(noise, NOW.astimezone(zone)))
