"""When timers are due, also where the clocks change."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pagemind.runtime.recurrence import Recurrence, duration, from_stored, parse

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 1, 5, 9, 30, tzinfo=BERLIN)  # a Monday


def dues(text: str, start: str, count: int, zone: ZoneInfo = BERLIN) -> list[str]:
    """The first local times after `start`, each with its offset."""
    at = datetime.fromisoformat(start)
    at = at.replace(tzinfo=zone) if at.tzinfo is None else at
    one = parse(text, at.astimezone(zone))
    due = one.first(at, zone)
    found = []
    for _ in range(count):
        found.append(f"{due.astimezone(zone):%m-%d %H:%M%z}")
        following = one.passed(due, due, zone).next
        assert following is not None
        due = following
    return found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("every 10 minutes", "every 10 minutes"),
        ("every 90s", "every 1 minute 30 seconds"),
        ("Every 1h30m", "every 1 hour 30 minutes"),
        ("every hour", "every 1 hour"),
        ("every 2 days and 5 minutes", "every 2 days 5 minutes"),
        ("every 1.5 hours", "every 1 hour 30 minutes"),
        ("every day", "cron 30 9 * * *"),
        ("every day at 7:05", "cron 5 7 * * *"),
        ("every weekday at 18:00", "cron 0 18 * * 1-5"),
        ("every monday and Friday at 9:00", "cron 0 9 * * 1,5"),
        ("every tue at 9:00", "cron 0 9 * * 2"),
        ("0 9 * * 1-5", "cron 0 9 * * 1-5"),
        ("cron */5 * * * *", "cron */5 * * * *"),
        ("@daily", "cron 0 0 * * *"),
        ("every day at 9am", "cron 0 9 * * *"),
        ("Daily at 12:30 p.m.", "cron 30 12 * * *"),
        ("hourly", "every 1 hour"),
        ("tomorrow at 12 AM", "at 2026-01-06 00:00"),
        ("at 2026-12-01 09:00", "at 2026-12-01 09:00"),
        ("2026-12-01T09:00:30", "at 2026-12-01 09:00:30"),
        ("at 2026-12-01T09:00Z", "at 2026-12-01 10:00"),
        ("in 2 hours", "at 2026-01-05 11:30"),
        ("at 10:15", "at 2026-01-05 10:15"),
        ("at 8:15", "at 2026-01-06 08:15"),
        ("tomorrow at 8:15", "at 2026-01-06 08:15"),
    ],
)
def test_what_people_and_models_write_is_understood(text: str, words: str) -> None:
    """And is the same after it was stored."""
    one = parse(text, NOW)
    assert one.words(BERLIN) == words
    assert from_stored(one.stored) == one


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no time for a timer; write it like `every 10 minutes`"),
        ("soon", "is no time for a timer"),
        ("every", "is no time"),
        ("every blue moon", "is no time"),
        ("every 5 fortnights", "is no time"),
        ("every 1 second", "at least 10 seconds"),
        ("every 400 days", "at most 366 days"),
        ("61 * * * *", "is no cron line: bad minute"),
        ("* * * *", "is no time"),
        ("cron * * * *", "five fields"),
        ("0 0 9 * * *", "five fields"),
        ("0 0 30 2 *", "is no cron line: bad day-of-month"),
        ("at 2026-12-01", "say at what time"),
        ("at 2026-01-05 09:30", "is past: now it is 2026-01-05 09:30 CET"),
        ("today at 9:00", "is past"),
        ("at 25:00", "is no time"),
        ("at 2026-02-30 09:00", "is no time"),
        ("in 999999999999 days", "is further off than a date can say"),
        ("in 3000000 days", "is further off"),
        (f"in {'9' * 400} seconds", "is further off"),
        ("at 9999-12-31 23:59:59-12:00", "is further off"),
        ("at 0001-01-01 00:00+14:00", "is further off"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(text: str, why: str) -> None:
    """One line, with examples."""
    with pytest.raises(ValueError, match=why.replace("*", r"\*")):
        parse(text, NOW)


def test_a_cron_line_keeps_its_local_time_across_the_change_of_the_clocks() -> None:
    """09:00 stays 09:00, in spring and in autumn."""
    assert dues("0 9 * * *", "2026-03-28 10:00", 2) == ["03-29 09:00+0200", "03-30 09:00+0200"]
    assert dues("0 9 * * *", "2026-10-24 10:00", 2) == ["10-25 09:00+0100", "10-26 09:00+0100"]


def test_a_local_time_that_does_not_exist_is_due_right_after_the_gap() -> None:
    """02:30 on the night the clocks go forward, once."""
    assert dues("30 2 * * *", "2026-03-28 03:00", 2) == ["03-29 03:00+0200", "03-30 02:30+0200"]


def test_a_local_time_that_comes_twice_is_due_the_first_time_only() -> None:
    """02:30 on the night the clocks go back."""
    assert dues("30 2 * * *", "2026-10-24 03:00", 2) == ["10-25 02:30+0200", "10-26 02:30+0100"]
    between = "2026-10-25T01:10+00:00"  # 02:10, the second time
    assert dues("30 2 * * *", between, 1) == ["10-26 02:30+0100"]


def test_lines_without_a_fixed_hour_count_what_passes() -> None:
    """In both of the two hours, and in no missing one."""
    twice = dues("*/30 * * * *", "2026-10-25T00:15+00:00", 4)
    assert twice == ["10-25 02:30+0200", "10-25 02:00+0100", "10-25 02:30+0100", "10-25 03:00+0100"]
    gap = dues("*/30 * * * *", "2026-03-29T00:15+00:00", 3)
    assert gap == ["03-29 01:30+0100", "03-29 03:00+0200", "03-29 03:30+0200"]


def test_every_counts_elapsed_time_across_the_change() -> None:
    """24 hours are 24 hours."""
    assert dues("every 24 hours", "2026-03-28 02:30", 1) == ["03-29 03:30+0200"]


def test_a_time_without_a_zone_is_the_agents_also_where_the_clocks_change() -> None:
    """One that comes twice is the first, one that does not exist moves on by an hour."""
    now = datetime(2026, 1, 1, tzinfo=BERLIN)
    assert parse("at 2026-10-25 02:30", now).instant == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert parse("at 2026-03-29 02:30", now).words(BERLIN) == "at 2026-03-29 03:30"


@pytest.mark.parametrize("text", ["every 10 minutes", "*/10 * * * *"])
def test_firings_that_were_missed_come_to_one_that_counts_them(text: str) -> None:
    """The latest is fired; the next one is ahead."""
    start = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    one = parse(text, start)
    due = one.first(start, UTC)
    passed = one.passed(due, start + timedelta(hours=2, minutes=5), UTC)
    assert (passed.missed, passed.latest) == (11, start + timedelta(hours=2))
    assert passed.next == start + timedelta(hours=2, minutes=10)


def test_counting_what_was_missed_is_bounded() -> None:
    """A year of minutes is a thousand and more."""
    start = datetime(2025, 1, 5, 9, 0, tzinfo=UTC)
    one = parse("* * * * *", start)
    passed = one.passed(start, start + timedelta(days=365), UTC)
    assert passed.missed == 1000
    assert passed.next == start + timedelta(days=365, minutes=1)


def test_a_duration_is_written_in_words() -> None:
    """Without what is zero."""
    assert [duration(n) for n in (60, 90061, 0.5)] == [
        "1 minute",
        "1 day 1 hour 1 minute 1 second",
        "0.5 seconds",
    ]
    assert Recurrence("every", seconds=3600).words(UTC) == "every 1 hour"
