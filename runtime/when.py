"""Dates as people and models write them: `2026-05`, `8 May 2026`, `yesterday`, RFC 3339. Pure.

A date means the whole day, month or year in the agent's time zone: what comes back is a Span.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

ALLOWED = "2026-05-08, 2026-05, 2026, 2026-05-08T14:00Z, 8 May 2026, today, 3 days ago, last week"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_AGO = re.compile(r"(\w+) (minute|hour|day|week|month|year)s? ago")
_UNIT = re.compile(r"(last|this|past) (week|month|year)")
_NAMED = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th)? )?([a-z]{3,9})\.?(?: (\d{1,2})(?:st|nd|rd|th)?)?"
                    r"(?: (\d{4}))?")  # fmt: skip
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` (inclusive) to `end` (exclusive), aware, in UTC."""

    start: datetime
    end: datetime


def parse_span(text: str, now: datetime) -> Span:
    """What a text means at `now`, whose time zone is the agent's. Raises ValueError."""
    assert now.tzinfo is not None
    words = " ".join(text.strip().lower().replace(",", " ").replace(" of ", " ").split())
    words = words.removeprefix("on ").removeprefix("in ").removeprefix("the ")
    try:
        span = _numeric(words, now) or _relative(words, now) or _named(words, now)
        span = span or _instant(text.strip(), now)
    except (ValueError, OverflowError):
        span = None  # 2026-02-30, ten thousand years ago
    if span is None:
        raise ValueError(f"{text!r} is not a date; write it like {ALLOWED}")
    return span


def _days(first: date, after: date, zone: tzinfo | None) -> Span:
    """Whole local days: midnight to midnight, however long the days are."""
    ends = [datetime(d.year, d.month, d.day, tzinfo=zone).astimezone(UTC) for d in (first, after)]
    return Span(*ends)


def _month(year: int, month: int, zone: tzinfo | None) -> Span:
    return _days(date(year, month, 1), date(year + month // 12, month % 12 + 1, 1), zone)


def _day(day: date, zone: tzinfo | None) -> Span:
    return _days(day, day + timedelta(days=1), zone)


def _numeric(words: str, now: datetime) -> Span | None:
    match = _DATE.fullmatch(words)
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    assert year is not None
    if month is None:
        return _days(date(year, 1, 1), date(year + 1, 1, 1), now.tzinfo)
    if day is None:
        return _month(year, month, now.tzinfo)
    return _day(date(year, month, day), now.tzinfo)


def _relative(words: str, now: datetime) -> Span | None:
    zone, today = now.tzinfo, now.date()
    near = {"now": 0, "today": 0, "tonight": 0, "yesterday": 1, "tomorrow": -1}
    if words in near:
        return _day(today - timedelta(days=near[words]), zone)
    if match := _AGO.fullmatch(words):
        count = int(match[1]) if match[1].isdecimal() else _NUMBERS.get(match[1])
        return None if count is None else _ago(count, match[2], now)
    if match := _UNIT.fullmatch(words):
        back = 0 if match[1] == "this" else 1
        if match[2] == "week":  # a week starts on Monday
            monday = today - timedelta(days=today.weekday() + 7 * back)
            return _days(monday, monday + timedelta(days=7), zone)
        if match[2] == "month":
            return _month(*_months_back(today, back), zone)
        return _days(date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1), zone)
    name = words.removeprefix("last ")
    if len(name) >= 3 and name[:3] in _DAYS and _is_prefix(name, _DAY_NAMES):
        # The latest one before today: nobody calls today by its name.
        back = (today.weekday() - _DAYS.index(name[:3]) - 1) % 7 + 1
        return _day(today - timedelta(days=back), zone)
    return None


def _ago(count: int, unit: str, now: datetime) -> Span:
    zone, today = now.tzinfo, now.date()
    if unit in ("minute", "hour"):
        step = timedelta(**{f"{unit}s": 1})
        moment = now.astimezone(UTC) - step * count
        return Span(moment, moment + step)
    if unit == "day":
        return _day(today - timedelta(days=count), zone)
    if unit == "week":
        return _day(today - timedelta(weeks=count), zone)
    if unit == "month":
        return _month(*_months_back(today, count), zone)
    return _days(date(today.year - count, 1, 1), date(today.year - count + 1, 1, 1), zone)


def _months_back(day: date, count: int) -> tuple[int, int]:
    index = day.year * 12 + day.month - 1 - count
    return index // 12, index % 12 + 1


_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


def _is_prefix(word: str, names: tuple[str, ...]) -> bool:
    return any(name.startswith(word) for name in names) or word == "sept"


def _named(words: str, now: datetime) -> Span | None:
    """`8 May 2026`, `May 8 2026`, `May 2026`, `8 May`, `May`: the latest, if no year is said."""
    match = _NAMED.fullmatch(words)
    if match is None or match[2][:3] not in _MONTHS or not _is_prefix(match[2], _MONTH_NAMES):
        return None
    month = _MONTHS.index(match[2][:3]) + 1
    day = match[1] or match[3]
    if match[1] and match[3]:
        return None
    first = date(int(match[4] or now.year), month, int(day or 1))
    if match[4] is None and first > now.date():
        first = first.replace(year=first.year - 1)
    return _day(first, now.tzinfo) if day else _month(first.year, month, now.tzinfo)


def _instant(text: str, now: datetime) -> Span | None:
    """An ISO time, in the agent's zone where it names none, as long as its last digit counts."""
    at = datetime.fromisoformat(text.upper().replace(" Z", "Z"))
    clock = re.split(r"[T ]", text.upper(), maxsplit=1)
    if len(clock) < 2:
        return None
    colons = re.split(r"[Z+-]", clock[1], maxsplit=1)[0].count(":")
    width = {0: timedelta(hours=1), 1: timedelta(minutes=1)}.get(colons, timedelta(seconds=1))
    if "." in clock[1]:
        width = timedelta(microseconds=1)
    start = (at if at.tzinfo else at.replace(tzinfo=now.tzinfo)).astimezone(UTC)
    return Span(start, start + width)
