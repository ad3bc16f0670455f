"""When a timer is due: every so often, by a cron expression, or once at a time. Pure.

parse("every 10 minutes" | "0 9 * * 1-5" | "every weekday at 9:00" | "at 2026-12-01 09:00" |
"in 2 hours", now) → Recurrence. Times of day are those of the zone of `now`, across changes of the
clocks:

- `every` counts elapsed time: `every 24 hours` drifts by an hour with them.
- A cron line with a fixed hour and minute is due once each day: one in the hour that does not
  exist (02:30 in spring) right after it, one in the hour that comes twice the first time only.
  Lines like `*/15 * * * *` count what passes: they are due in both hours, and in no missing one.
- A time without a zone that comes twice is the first; one that does not exist moves on by an hour.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Literal

from pagemind.runtime.clock import parse_rfc3339, rfc3339
from pagemind.runtime.settings import TIMER_LEAST_SECONDS, TIMER_MISSED_MOST

ALLOWED = (
    "`every 10 minutes`, `every weekday at 9:00`, `0 9 * * 1-5`, `at 2026-12-01 09:00`,"
    " `in 2 hours`"
)
Kind = Literal["every", "cron", "at"]
_UNITS = {"s": 1, "second": 1, "sec": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
_UNITS |= {"hr": 3600, "d": 86400, "day": 86400, "w": 604800, "week": 604800}
_NAMED = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+?)s?(?=[\s\d]|$)")
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_DAILY = re.compile(r"(.+?)(?:\s+at\s+(\d{1,2}):(\d\d))?")
_CLOCK = re.compile(r"(?:(today|tomorrow)(?:\s+at)?\s+)?(\d{1,2}):(\d\d)")
_HALF_DAY = re.compile(r"(?<![\d:])(1[0-2]|[1-9])(?::([0-5]\d))? ?([ap])\.?m\b\.?")
_SHORTHANDS = {
    **{"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *"},
    **{"@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *"},
}
_MOST_SECONDS = 366 * 86400  # of `every`


@dataclass(frozen=True, slots=True)
class Recurrence:
    """`seconds` of every, `line` of cron, `instant` (UTC) of at."""

    kind: Kind
    seconds: float = 0.0
    line: str = ""
    instant: datetime | None = None

    @property
    def stored(self) -> str:
        """For from_stored()."""
        if self.kind == "every":
            return f"every {self.seconds!r}"
        return f"cron {self.line}" if self.kind == "cron" else f"at {rfc3339(self._instant)}"

    @property
    def _instant(self) -> datetime:
        assert self.instant is not None
        return self.instant

    def words(self, zone: tzinfo) -> str:
        """As a person writes it, times in this zone."""
        if self.kind == "every":
            return f"every {duration(self.seconds)}"
        if self.kind == "cron":
            return f"cron {self.line}"
        return f"at {self._instant.astimezone(zone):%Y-%m-%d %H:%M:%S}".removesuffix(":00")

    def first(self, now: datetime, zone: tzinfo) -> datetime:
        """When it is due first, if it begins now; in UTC. For `at` also what is past."""
        if self.kind == "every":
            return now.astimezone(UTC) + timedelta(seconds=self.seconds)
        return self._instant if self.kind == "at" else _cron_after(self.line, now, zone)

    def passed(self, due: datetime, now: datetime, zone: tzinfo) -> "Passed":
        """What it comes to that it was due at `due`, and again until `now`: one firing."""
        assert due <= now
        if self.kind == "at":
            return Passed(due, 0, None)
        if self.kind == "every":
            step = timedelta(seconds=self.seconds)
            more = int((now - due) / step)
            return Passed(due + step * more, more, due + step * (more + 1))
        latest, missed = due, 0
        following = _cron_after(self.line, due, zone)
        while following <= now and missed < TIMER_MISSED_MOST:
            latest, missed = following, missed + 1
            following = _cron_after(self.line, latest, zone)
        if following <= now:
            following = _cron_after(self.line, now, zone)
        return Passed(latest, missed, following)


@dataclass(frozen=True, slots=True)
class Passed:
    """`latest` is the time the firing is for, `missed` how many before it were not fired, `next`
    the next after it, in UTC; None for never."""

    latest: datetime
    missed: int
    next: datetime | None


def parse(text: str, now: datetime, *, past: bool = False) -> Recurrence:
    """What a text means at `now`, whose zone is the agent's. Raises ValueError, also for a time
    that is over unless `past` allows it."""
    try:
        found = _read(text, now, past=past)
    except OverflowError:
        raise ValueError(f"{text[:80]!r} is further off than a date can say") from None
    if found is None:
        raise ValueError(f"{text[:80]!r} is no time for a timer; write it like {ALLOWED}")
    return found


def _read(text: str, now: datetime, *, past: bool) -> Recurrence | None:
    assert now.tzinfo is not None
    words = " ".join(text.strip().split())
    lower = _HALF_DAY.sub(_of_day, words.lower())
    lower = {"daily": "every day", "hourly": "every hour"}.get(lower, lower)
    lower = f"every day {lower[6:]}" if lower.startswith("daily at ") else lower
    if lower.startswith("every "):
        return _every(lower.removeprefix("every "), now)
    if lower.startswith("in "):
        if (seconds := seconds_of(lower.removeprefix("in "))) is None:
            return None
        return Recurrence("at", instant=now.astimezone(UTC) + timedelta(seconds=seconds))
    if lower.startswith(("cron ", "@")) or re.fullmatch(r"[\d*][^ ]*(?: [^ ]+){4,5}", words):
        return _cron(words.removeprefix("cron ").removeprefix("CRON ").strip("'\" "))
    return _at(lower.removeprefix("at "), now, past=past)


def from_stored(text: str) -> Recurrence:
    """The inverse of Recurrence.stored."""
    kind, _, rest = text.partition(" ")
    if kind == "every":
        return Recurrence("every", seconds=float(rest))
    if kind == "cron":
        return Recurrence("cron", line=rest)
    return Recurrence("at", instant=parse_rfc3339(rest))


def duration(seconds: float) -> str:
    """`10 minutes`, `1 hour 30 minutes`, `90 seconds` as `1 minute 30 seconds`."""
    parts, left = [], seconds
    for name, size in _NAMED:
        count = int(left // size) if size > 1 else round(left, 3)
        left -= count * size
        if count:
            parts.append(f"{count:g} {name}{'' if count == 1 else 's'}")
    return " ".join(parts)


def _of_day(match: re.Match[str]) -> str:
    """`9am`, `12:30 p.m.` as 9:00, 12:30."""
    hour = int(match[1]) % 12 + (12 if match[3] == "p" else 0)
    return f"{hour}:{match[2] or '00'}"


def seconds_of(text: str) -> float | None:
    """A length of time: `90s`, `1h30m`, `2 hours and 5 minutes`, `hour`; None for what is none."""
    text = text.lower().replace(" and ", " ").replace(",", " ").strip()
    if text.rstrip("s") in _UNITS:
        text = f"1 {text}"
    found = _AMOUNT.findall(text)
    rest = _AMOUNT.sub("", text).strip()
    if not found or rest or any(unit not in _UNITS for _, unit in found):
        return None
    return sum(float(count) * _UNITS[unit] for count, unit in found)


def _every(text: str, now: datetime) -> Recurrence | None:
    if daily := _daily(text, now):
        return daily
    seconds = seconds_of(text)
    if seconds is None:
        return None
    if not TIMER_LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise ValueError(
            f"every {text[:40]} is out of bounds: at least {TIMER_LEAST_SECONDS:g} seconds, at most"
            " 366 days"
        )
    return Recurrence("every", seconds=seconds)


def _daily(text: str, now: datetime) -> Recurrence | None:
    """`day`, `weekday at 9:00`, `monday and friday at 18:30`: a cron line."""
    match = _DAILY.fullmatch(text)
    if match is None:
        return None
    hour, minute = (int(match[2]), int(match[3])) if match[2] else (now.hour, now.minute)
    if match[1] in ("day", "morning", "evening") and not (match[1] != "day" and not match[2]):
        days = "*"
    elif match[1] == "weekday":
        days = "1-5"
    else:
        names = re.split(r"\s*(?:,|and)\s*", match[1])
        numbers = [_day_number(name) for name in names]
        if None in numbers:
            return None
        days = ",".join(str(number) for number in sorted({n for n in numbers if n is not None}))
    return _cron(f"{minute} {hour} * * {days}")


def _day_number(name: str) -> int | None:
    name = name.removesuffix("s") if name not in _DAYS else name
    return next(
        (at for at, day in enumerate(_DAYS) if len(name) > 2 and day.startswith(name)), None
    )


def _cron(line: str) -> Recurrence:
    from cronsim import CronSim, CronSimError

    line = _SHORTHANDS.get(line.lower(), line)
    if len(line.split()) != 5:
        raise ValueError(
            f"{line[:80]!r} is no cron line: five fields (minute hour day month weekday)"
        )
    try:
        next(CronSim(line, datetime(2026, 1, 1, tzinfo=UTC)))
    except StopIteration:
        raise ValueError(f"the cron line {line[:80]!r} is never due") from None
    except (CronSimError, ValueError, AssertionError) as error:
        raise ValueError(f"{line[:80]!r} is no cron line: {str(error).lower()}") from None
    return Recurrence("cron", line=line)


def _cron_after(line: str, after: datetime, zone: tzinfo) -> datetime:
    from cronsim import CronSim

    for due in CronSim(line, after.astimezone(zone)):
        # In the hour that comes twice the library may begin with a time that is over.
        if due.astimezone(UTC) > after:
            return due.astimezone(UTC)
    raise AssertionError("a cron line that was parsed is due again")


def _at(text: str, now: datetime, *, past: bool) -> Recurrence | None:
    zone = now.tzinfo
    assert zone is not None
    if match := _CLOCK.fullmatch(text.lower()):
        try:
            clock = time(int(match[2]), int(match[3]))
        except ValueError:
            return None
        day = now.date() + timedelta(days=match[1] == "tomorrow")
        at = datetime.combine(day, clock, zone)
        if match[1] is None and at <= now:
            at = datetime.combine(day + timedelta(days=1), clock, zone)
    else:
        try:
            at = datetime.fromisoformat(text.upper().replace(" Z", "Z"))
        except ValueError:
            return None
        if not re.search(r"\d[T ]\d", text.upper()):
            raise ValueError(f"{text!r} is a day; say at what time: `at {text} 09:00`")
        at = at if at.tzinfo else at.replace(tzinfo=zone)
    instant = at.astimezone(UTC)
    if instant <= now and not past:
        raise ValueError(
            f"{text} is past: now it is {now:%Y-%m-%d %H:%M} {now.tzname() or ''}".strip()
        )
    return Recurrence("at", instant=instant)
