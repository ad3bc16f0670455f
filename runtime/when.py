"""Dates as people and models write them: `2026-05`, `8 May 2026`, `yesterday`, RFC 3339. Pure.

A date means the whole day, month or year in the agent's time zone: what comes back is a Span.
parse_span() reads a text that is a date and nothing else; find_spans() finds the dates that a
question names, and leaves out what only looks like one (`may I`, `march on`, `wait a second`).
English, as the rest of what is recognised in talk.
"""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

ALLOWED = "2026-05-08, 2026-05, 2026, 2026-05-08T14:00Z, 8 May 2026, today, 3 days ago, last week"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = {
    **{"a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "four": 4, "five": 5},
    **{"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12},
}
_AGO = re.compile(r"(\w+) (minute|hour|day|week|month|year)s? ago")
_UNIT = re.compile(r"(last|this|past) (week|weekend|month|year)")
_SINCE = re.compile(r"(?:last|past) (\w+) (day|week|month|year)s?")
_OFFSET = re.compile(r"(?:(\w+) )?(day|week|month|year)s? (before|after) (.+)")
_AROUND = re.compile(r"(week|weekend) (.+)")
_NAMED = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th)? )?([a-z]{3,9})\.?(?: (\d{1,2})(?:st|nd|rd|th)?)?"
                    r"(?: (\d{4}))?")  # fmt: skip
_DATE = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_LEADING = re.compile(r"(?:(?:on|in|during|the|early|mid|late)[ -])+")
_FAR = 100_000  # of anything: no date is that far away


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` (inclusive) to `end` (exclusive), aware, in UTC."""

    start: datetime
    end: datetime


def parse_span(text: str, now: datetime) -> Span:
    """What a text means at `now`, whose time zone is the agent's. Raises ValueError."""
    assert now.tzinfo is not None
    words = " ".join(text.strip().lower().replace(",", " ").replace(" of ", " ").split())
    try:
        span = _words(words, now) or _instant(text.strip(), now)
    except (ValueError, OverflowError):
        span = None  # 2026-02-30, ten thousand years ago
    if span is None:
        raise ValueError(f"{text[:80]!r} is not a date; write it like {ALLOWED}")
    return span


def last_moment(span: Span, now: datetime) -> datetime:
    """What a span is asked about: how things stood when it was over, or stand now."""
    last = span.end - timedelta(microseconds=1)
    return max(span.start, min(last, now))


def _words(words: str, now: datetime) -> Span | None:
    if leading := _LEADING.match(words):
        words = words[leading.end() :]
    span = _numeric(words, now) or _relative(words, now) or _named(words, now)
    return span or _beside(words, now)


def _days(first: date, after: date, zone: tzinfo | None) -> Span:
    """Whole local days: midnight to midnight, however long the days are."""
    ends = [datetime(d.year, d.month, d.day, tzinfo=zone).astimezone(UTC) for d in (first, after)]
    return Span(*ends)


def _month(year: int, month: int, zone: tzinfo | None) -> Span:
    return _days(date(year, month, 1), date(year + month // 12, month % 12 + 1, 1), zone)


def _day(day: date, zone: tzinfo | None) -> Span:
    return _days(day, day + timedelta(days=1), zone)


def _numeric(words: str, now: datetime) -> Span | None:
    if dotted := _DOTTED.fullmatch(words):
        return _day(date(int(dotted[3]), int(dotted[2]), int(dotted[1])), now.tzinfo)
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


_NEAR = {
    **{"now": 0, "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0},
    **{"this evening": 0, "yesterday": 1, "last night": 1, "tomorrow": -1},
}


def _relative(words: str, now: datetime) -> Span | None:
    zone, today = now.tzinfo, now.date()
    if words in _NEAR:
        return _day(today - timedelta(days=_NEAR[words]), zone)
    if match := _AGO.fullmatch(words):
        count = _count(match[1])
        return None if count is None else _ago(count, match[2], now)
    if match := _UNIT.fullmatch(words):
        return _unit(0 if match[1] == "this" else 1, match[2], today, zone)
    if match := _SINCE.fullmatch(words):
        count = _count(match[1])
        first = None if count is None else _back(today, count, match[2])
        return None if first is None else _days(first, today + timedelta(days=1), zone)
    name = words.removeprefix("last ").removeprefix("this ")
    if len(name) >= 3 and name[:3] in _DAYS and _is_prefix(name, DAY_NAMES):
        # The latest one before today: nobody calls today by its name.
        back = (today.weekday() - _DAYS.index(name[:3]) - 1) % 7 + 1
        return _day(today - timedelta(days=back), zone)
    return None


def _count(word: str) -> int | None:
    count = int(word[:9]) if word.isdecimal() else _NUMBERS.get(word)
    return count if count is None or count <= _FAR else None


def _unit(back: int, unit: str, today: date, zone: tzinfo | None) -> Span:
    """This (0) or the last (1) calendar week, weekend, month or year."""
    if unit in ("week", "weekend"):  # a week starts on Monday
        monday = today - timedelta(days=today.weekday() + 7 * back)
        skipped = timedelta(days=5 if unit == "weekend" else 0)
        return _days(monday + skipped, monday + timedelta(days=7), zone)
    if unit == "month":
        return _month(*_months_back(today, back), zone)
    return _days(date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1), zone)


def _ago(count: int, unit: str, now: datetime) -> Span:
    zone, today = now.tzinfo, now.date()
    if unit in ("minute", "hour"):
        step = timedelta(**{f"{unit}s": 1})
        moment = now.astimezone(UTC) - step * count
        return Span(moment, moment + step)
    if unit in ("day", "week"):
        return _day(_back(today, count, unit), zone)
    return _unit(count, unit, today, zone)


def _back(day: date, count: int, unit: str) -> date:
    """The same day that many units earlier (later, if negative); in a shorter month its last."""
    if unit in ("day", "week"):
        return day - timedelta(days=count * (7 if unit == "week" else 1))
    year, month = _months_back(day, count * (12 if unit == "year" else 1))
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def _months_back(day: date, count: int) -> tuple[int, int]:
    index = day.year * 12 + day.month - 1 - count
    return index // 12, index % 12 + 1


DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


def _is_prefix(word: str, names: tuple[str, ...]) -> bool:
    return any(name.startswith(word) for name in names) or word == "sept"


def _named(words: str, now: datetime) -> Span | None:
    """`8 May 2026`, `May 8 2026`, `May 2026`, `8 May`, `last May`: the latest, if no year is
    said."""
    which, _, rest = words.partition(" ")
    match = _NAMED.fullmatch(rest if which in ("last", "this") else words)
    if match is None or match[2][:3] not in _MONTHS or not _is_prefix(match[2], MONTH_NAMES):
        return None
    month = _MONTHS.index(match[2][:3]) + 1
    day = match[1] or match[3]
    if match[1] and match[3]:
        return None
    first = date(int(match[4] or now.year), month, int(day or 1))
    over = first.replace(day=monthrange(first.year, month)[1]) if not day else first
    ahead = first > now.date() or (which == "last" and over >= now.date())
    if match[4] is None and which != "this" and ahead:
        first = first.replace(year=first.year - 1)
    return _day(first, now.tzinfo) if day else _month(first.year, month, now.tzinfo)


def _beside(words: str, now: datetime) -> Span | None:
    """What is reckoned from another date: `three weeks before 12 June 2024`, `the week of 8 May`,
    `Friday 8 May`."""
    zone = now.tzinfo
    if match := _OFFSET.fullmatch(words):
        count = _count(match[1]) if match[1] else 1
        base = _words(match[4], now)
        if base is None or count is None:
            return None
        first, after = (at.astimezone(zone).date() for at in (base.start, base.end))
        signed = count if match[3] == "before" else -count
        if match[1]:  # counted: as long as what it is counted from
            return _days(_back(first, signed, match[2]), _back(after, signed, match[2]), zone)
        if match[3] == "before":  # the week before: all of it
            return _days(_back(first, 1, match[2]), first, zone)
        return _days(after, _back(after, -1, match[2]), zone)
    if match := _AROUND.fullmatch(words):
        if (base := _words(match[2], now)) is not None:
            return _unit(0, match[1], base.start.astimezone(zone).date(), zone)
        return None
    name, _, rest = words.partition(" ")
    if rest and name in DAY_NAMES and rest[:1].isalnum():
        rest = rest.removeprefix("the ")
        return _numeric(rest, now) or _named(rest, now)
    return None


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


# --- dates within a question ----------------------------------------------------------------------

_YEAR = r"(?:19|20)\d\d"
_MDAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?!\d)"
_MON = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_AMOUNT = rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)})(?: of)?"
_ISO = rf"{_YEAR}-(?:1[0-2]|0?[1-9])(?:-(?:0?[1-9]|[12]\d|3[01]))?|{_YEAR}/\d{{1,2}}/\d{{1,2}}"
_THEN = rf"(?:(?:, ?| ){_YEAR})?"
_WITH_DAY = rf"{_MDAY}(?: of)? {_MON}{_THEN}|{_MON} (?:the )?{_MDAY}{_THEN}"
_WITH_YEAR = rf"{_MON}(?:, ?| of | ){_YEAR}|\d{{1,2}}\.\d{{1,2}}\.{_YEAR}"
_FULL = rf"(?:{_WEEKDAY},? (?:the )?)?(?:{_ISO}|{_WITH_DAY}|{_WITH_YEAR})"
# What is a month or a year only after such a word: people are called April and rooms 2023.
_PLACED = (
    r"\b(?:in|during|since|until|throughout|before|after|last|this|early|mid|late|early in|late in"
    r"|(?:start|beginning|middle|end|rest|course) of)[ -](?:(?:early|mid|late)[ -])?"
)
_LOOSE = re.compile(
    rf"(?<![\w./-])(?:"
    rf"(?P<range>(?:between|from) (?P<from>{_FULL}|{_MON}|{_MDAY}|{_YEAR})"
    rf" (?:and|to|until|till|through) (?P<to>{_FULL}|{_MON}|{_YEAR}))"
    rf"|(?P<offset>(?:(?:{_AMOUNT} )?(?:day|week|month|year)s? (?:before|after))"
    rf" (?:{_FULL}|yesterday))"
    rf"|(?P<full>(?:week(?:end)? of (?:the )?|(?:early|mid|late)-)?{_FULL})"
    rf"|(?P<ago>{_AMOUNT} (?:day|week|month|year)s? ago)"
    rf"|(?P<unit>(?:last|this|past) (?:week|weekend|month|year)"
    rf"|(?:last|past) {_AMOUNT} (?:day|week|month|year)s)"
    rf"|(?P<near>yesterday|today|tonight|last night|this (?:morning|afternoon|evening))"
    rf"|(?P<weekday>{_WEEKDAY})"
    rf"|(?P<placed>{_PLACED})(?P<bare>{_MON}(?!(?:,|,? of|) ?{_YEAR}| (?:the )?{_MDAY})|{_YEAR})"
    rf"|(?P<season>(?:spring|summer|autumn|fall|winter)(?: of)? )(?P<year>{_YEAR})"
    rf")(?![\w]|[-/.]\w)",
    re.IGNORECASE,
)
_OPEN = re.compile(r"\b(since|after|before|until|till)(?: the)? $", re.IGNORECASE)
_NO_DAY = re.compile(
    r"\b(?:every|each|a|an|next|any|some|most|black|good|cyber|ash|freaky) $", re.IGNORECASE
)
_VERB = re.compile(r"\b(?:may|mar(?:ch)?)\b")  # as the verb is written
_MODAL = re.compile(r"(?:^|[.?!]\s+)(?:May|March) $")
_EVER = datetime(1, 1, 2, tzinfo=UTC)  # the first day that every zone can count from


def find_spans(text: str, now: datetime) -> list[Span]:
    """The windows of time that a question names, in its order and each once: `in May 2023`, `last
    week`, `on Friday`, `three weeks before 12 June 2024`, `since 2021`, `between 3 and 9 May`.

    Only what is surely a date; the empty list for most questions. What lies wholly ahead of `now`
    is left out: nothing was said there yet.
    """
    assert now.tzinfo is not None
    today = _day(now.date(), now.tzinfo)
    found: list[Span] = []
    plain = " ".join(text[:_SCAN_CHARS].split())
    for match in _LOOSE.finditer(plain):
        if _is_no_date(plain, match):
            continue
        try:
            span = _span_of(match, now)
        except (ValueError, OverflowError):
            continue  # 31 February
        if opened := _OPEN.search(plain[: match.start()]):
            span = _opened(opened[1].lower(), span, today)
        elif match["placed"]:
            span = _opened(match["placed"].split()[0].lower(), span, today)
        if span.start < span.end and span.start < today.end and span not in found:
            found.append(span)
    return found


_SCAN_CHARS = 2000  # of a question; what comes after says nothing new


def _span_of(match: re.Match[str], now: datetime) -> Span:
    if match["range"]:
        return _between(match["from"], match["to"], now)
    if match["bare"]:
        which = match["placed"].lower().split()[0]
        said = f"{which} " if which in ("last", "this") else ""
        return parse_span(said + match["bare"], now)
    return parse_span(match["year"] or match[0].replace("couple of", "couple"), now)


def _between(first: str, last: str, now: datetime) -> Span:
    """From one date to another; the first takes its month and year from the second."""
    after = parse_span(last, now)
    year = f"{after.start.astimezone(now.tzinfo):%Y}"
    if re.fullmatch(_MDAY, first):
        month = re.search(_MON, last, re.IGNORECASE)
        if month is None:
            raise ValueError(first)
        first = f"{first} {month[0]}"
    if not re.search(rf"{_YEAR}", first):
        before = parse_span(f"{first} {year}", now)
        if before.start >= after.end:  # from November to February
            before = parse_span(f"{first} {int(year) - 1}", now)
    else:
        before = parse_span(first, now)
    return Span(before.start, after.end)


def _opened(word: str, span: Span, today: Span) -> Span:
    """`since May` goes on until today, `before May` has no beginning."""
    if word in ("since", "after"):
        return Span(span.start if word == "since" else span.end, today.end)
    if word in ("before", "until", "till"):
        return Span(_EVER, span.start if word == "before" else span.end)
    return span


def _is_no_date(text: str, match: re.Match[str]) -> bool:
    """Whether a match only looks like a date."""
    before, said = text[: match.start()], match[0]
    if match["weekday"]:
        return _NO_DAY.search(before) is not None
    if match["bare"] and match["bare"][0].isdigit():
        return False
    if match["placed"] and match["placed"].lower().startswith(("before", "after")):
        return True  # before April came, after May
    if _VERB.search(said) and not re.search(rf"{_YEAR}| of ", said):
        # In lower case `may` and `march` are verbs, unless something says that they are not.
        placed = (match["placed"] or "").lower()
        sure = ("in ", "during ", "since ", "until ", "throughout ", "last ")
        return not (placed.startswith(sure) or before.lower().endswith(("on ", "in ", "on the ")))
    return bool(match["full"] and _MODAL.search(f"{before}{said.split()[0]} "))
