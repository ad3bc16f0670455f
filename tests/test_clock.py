"""Time is UTC and aware; ids sort in the order they were made."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from pagemind.runtime.clock import (
    FrozenClock,
    LocalZone,
    SystemClock,
    parse_rfc3339,
    rfc3339,
    uuid7,
)


def test_times_are_written_in_utc() -> None:
    """Whatever zone they came in; and read back they are the same instant."""
    lisbon = datetime(2026, 7, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    assert rfc3339(lisbon) == "2026-06-30T23:30:00.000000Z"
    assert parse_rfc3339(rfc3339(lisbon)) == lisbon
    assert parse_rfc3339("2026-07-01T00:30:00+01:00") == lisbon


def test_written_times_sort_as_they_are() -> None:
    """Their text order is their order, without or with fractions."""
    times = [datetime(2026, 1, 5, 9, 0, 0, n, tzinfo=UTC) for n in (0, 1, 10, 999_999)]
    texts = [rfc3339(each) for each in times]
    assert texts == sorted(texts)
    assert len({len(text) for text in texts}) == 1


def test_a_time_without_a_zone_is_refused() -> None:
    """In both directions."""
    with pytest.raises(ValueError, match="naive"):
        rfc3339(datetime(2026, 1, 1))
    with pytest.raises(ValueError, match="no time zone"):
        parse_rfc3339("2026-01-01T00:00:00")


@pytest.fixture
def los_angeles(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that stands there."""
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be set")
@pytest.mark.parametrize(
    ("utc", "local"),
    [
        ("2026-01-15T20:00:00Z", "2026-01-15 12:00 PST"),
        ("2026-07-15T20:00:00Z", "2026-07-15 13:00 PDT"),
        ("2026-03-08T09:59:00Z", "2026-03-08 01:59 PST"),
        ("2026-03-08T10:00:00Z", "2026-03-08 03:00 PDT"),
        ("2026-11-01T08:30:00Z", "2026-11-01 01:30 PDT"),
        ("2026-11-01T09:30:00Z", "2026-11-01 01:30 PST"),
    ],
)
def test_the_machines_zone_knows_summer_and_winter(los_angeles: None, utc: str, local: str) -> None:
    """Each instant has the hour that a clock on the wall showed then, on both sides of a change."""
    at = parse_rfc3339(utc)
    shown = at.astimezone(LocalZone())
    assert f"{shown:%Y-%m-%d %H:%M %Z}" == local
    assert shown.astimezone(UTC) == at


def test_ids_are_uuid7_and_increase() -> None:
    """Ten thousand in a row, many within one millisecond."""
    clock = SystemClock()
    ids = [clock.new_id() for _ in range(10_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {UUID(each).version for each in ids[:50]} == {7}
    assert {UUID(each).variant for each in ids[:50]} == {"specified in RFC 4122"}


def test_an_id_tells_when_it_was_made() -> None:
    """The first 48 bits are Unix milliseconds."""
    made = uuid7(1_767_603_600_123, 5, b"12345678")
    assert UUID(made).int >> 80 == 1_767_603_600_123


def test_a_frozen_clock_stands_still() -> None:
    """Until it is moved; going back moves wall time only."""
    clock = FrozenClock()
    start = clock.now()
    assert clock.now() == start
    clock.advance(hours=2)
    assert clock.now() == start + timedelta(hours=2)
    assert clock.monotonic() == 7200
    clock.advance(hours=-3)
    assert clock.now() == start - timedelta(hours=1)
    assert clock.monotonic() == 7200


def test_a_frozen_clock_repeats_its_ids() -> None:
    """The same run twice gives the same ids, all different."""
    one, two = FrozenClock(), FrozenClock()
    ids = [one.new_id() for _ in range(100)]
    assert ids == [two.new_id() for _ in range(100)]
    assert ids == sorted(set(ids))
