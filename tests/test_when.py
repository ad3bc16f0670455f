"""Dates as people and models write them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.when import parse_span

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
