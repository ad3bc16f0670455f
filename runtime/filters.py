"""filters_of(): what a person, a program or a model asks for, as checked SearchFilters. Pure.

Every way to search goes through here: functions, the library, the command line. A key that is not
known, a date that is none, a range that is empty: each is a BadFilter that says what is allowed.
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from difflib import get_close_matches
from typing import Any, Final, get_args

from pagemind.runtime.errors import BadFilter, UserError
from pagemind.runtime.message import Origin, clean_text
from pagemind.runtime.passage import KINDS, ORDINARY, STANDINGS, RecordKind
from pagemind.runtime.scope import scope_of
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import SEARCH_FILTER_VALUES
from pagemind.runtime.when import Span, last_moment, parse_span

KEYS: Final = (
    *("role", "speaker", "start", "end", "tags", "any_tags"),
    *("importance", "importance_from", "importance_to", "origins", "ids"),
    *("scopes", "viewer", "standings", "kinds", "as_of"),
)
_ALIASES = {"tag": "tags", "any_tag": "any_tags", "origin": "origins", "id": "ids"}
_ALIASES |= {"scope": "scopes", "standing": "standings", "kind": "kinds"}
_ROLES: Final = {
    **{"user": "user", "human": "user", "assistant": "assistant", "agent": "assistant"},
    **{"tool": "tool", "function": "tool"},
}
_ID = re.compile(r"(?:(?P<archive>[^\s:]{1,64}):)?(?P<tier>[mapMAP])(?P<number>\d{1,18})")
_RANGE = re.compile(r"\s*(\d+(?:\.\d+)?)?\s*(?:(\.\.|-|–|to)\s*(\d+(?:\.\d+)?)?)?\s*")


def filters_of(given: Mapping[str, Any], now: datetime) -> SearchFilters:
    """Filters from keyword arguments or JSON; None and "" mean no restriction.

    `now` is in the agent's time zone: `start` and `end` are dates as people write them, whole local
    days, both included (or aware datetimes: exact, the end excluded). `as_of` asks how
    things stood at the end of a day, or stand now. `importance` is 7, "7-9" or "-3". Raises
    BadFilter.
    """
    assert now.tzinfo is not None
    known = {_key(key): value for key, value in given.items() if value not in (None, "")}
    start, end = _period(known, now)
    low, high = _importance(known)
    kinds = _kinds(known.get("kinds"))
    return SearchFilters(
        role=_role(known.get("role")),
        speaker=_text("speaker", known.get("speaker")),
        start=start,
        end=end,
        tags=_texts("tags", known.get("tags")),
        any_tags=_texts("any_tags", known.get("any_tags")),
        importance_from=low,
        importance_to=high,
        origins=_origins(known.get("origins")),
        ids=tuple(short_id(each) for each in _texts("ids", known.get("ids"))),
        scopes=_scopes(known.get("scopes")),
        viewer=_text("viewer", known.get("viewer")),
        standings=_standings(known.get("standings"), kinds),
        kinds=kinds,
        as_of=_then(known.get("as_of"), now),
    )


def short_id(written: str) -> str:
    """`m42`, `a7`, `p17` or `handbook:a7`, however it was bracketed. Raises BadFilter."""
    match = _ID.fullmatch(written.strip().strip("[]()#\"'"))
    if match is None or not int(match["number"]):
        raise BadFilter(
            f"{_short(written)} is not an id; ids look like m42 (a message), a7 (a passage), p17 (a"
            " page) or handbook:a7 (a passage of an archive)"
        )
    archive = f"{match['archive']}:" if match["archive"] else ""
    return f"{archive}{match['tier'].lower()}{int(match['number'])}"


def _key(written: str) -> str:
    key = _ALIASES.get(written, written)
    if key not in KEYS:
        close = get_close_matches(str(written).lower(), (*KEYS, *_ALIASES), n=1)
        nearest = f" Did you mean {_ALIASES.get(close[0], close[0])}?" if close else ""
        raise BadFilter(f"no filter is called {_short(written)}.{nearest} Filters: {_listed(KEYS)}")
    return key


def _period(given: Mapping[str, Any], now: datetime) -> tuple[datetime | None, datetime | None]:
    first = _moment("start", given.get("start"), now)
    last = _moment("end", given.get("end"), now)
    if first and last and first >= last:
        raise BadFilter(f"start ({given['start']}) lies after end ({given['end']})")
    return first, last


def _moment(key: str, value: Any, now: datetime, name: str = "") -> datetime | None:
    """A `start` or `end`; the filter is called `name` where that is another."""
    name = name or key
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=now.tzinfo)
    if isinstance(value, date):
        whole = datetime(value.year, value.month, value.day, tzinfo=now.tzinfo)
        return whole if key == "start" else whole + timedelta(days=1)
    if not isinstance(value, str):
        raise BadFilter(f"{name} is a date such as 2026-05-08, not {_short(value)}")
    try:
        span = parse_span(value, now)
    except ValueError as error:
        raise BadFilter(f"{name}: {error}") from None
    return span.start if key == "start" else span.end


def _importance(given: Mapping[str, Any]) -> tuple[float | None, float | None]:
    low, high = given.get("importance_from"), given.get("importance_to")
    if (said := given.get("importance")) is not None:
        if low is not None or high is not None:
            raise BadFilter("importance says all; leave importance_from and importance_to out")
        if isinstance(said, str):
            match = _RANGE.fullmatch(said)
            if match is None or not (match[1] or match[3]):
                raise BadFilter(
                    "importance is a number from 1 to 10 or a range such as 7-9, not "
                    + _short(said)
                )
            low, high = match[1], match[3]
        else:
            low = said
    first, last = _number("importance_from", low), _number("importance_to", high)
    if first is not None and last is not None and first > last:
        raise BadFilter(f"importance from {first:g} to {last:g} is an empty range")
    return first, last


def _number(key: str, value: Any) -> float | None:
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 1 <= number <= 10:
        raise BadFilter(f"{key} is a number from 1 to 10, not {_short(value)}")
    return number


def _role(value: Any) -> str | None:
    wanted = (_text("role", value) or "").lower()
    if not wanted or wanted in ("any", "all"):
        return None
    if wanted not in _ROLES:
        raise BadFilter(
            f"role is user, assistant or tool, not {_short(value)}; leave it out for all"
        )
    return _ROLES[wanted]


def _origins(value: Any) -> tuple[str, ...]:
    allowed = get_args(Origin)
    origins = tuple(each.lower() for each in _texts("origins", value))
    for each in origins:
        if each not in allowed:
            raise BadFilter(f"{_short(each)} is not an origin; origins: {_listed(allowed)}")
    return origins


def _scopes(value: Any) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(scope_of(each) for each in _texts("scopes", value)))
    except UserError as error:
        raise BadFilter(f"{error.message}; {error.hint}") from None


def _kinds(value: Any) -> tuple[RecordKind, ...]:
    kinds = {each.lower() for each in _texts("kinds", value)}
    for each in kinds:
        if each not in KINDS:
            raise BadFilter(f"{_short(each)} is not a kind; kinds: {_listed(KINDS)}")
    return tuple(kind for kind in KINDS if kind in kinds)


def _then(value: Any, now: datetime) -> datetime | None:
    """How things stood is asked at the end of a day; of today, now."""
    first = _moment("start", value, now, "as_of")
    if first is None or isinstance(value, datetime):
        return first
    last = _moment("end", value, now, "as_of")
    assert last is not None
    return last_moment(Span(first, last), now)


def _standings(value: Any, kinds: tuple[RecordKind, ...]) -> tuple[str, ...]:
    """The active ones where nothing is said; of kinds with a shelf of their own, that."""
    standings = tuple(each.lower() for each in _texts("standings", value))
    for each in standings:
        if each not in STANDINGS:
            raise BadFilter(f"{_short(each)} is not a standing; standings: {_listed(STANDINGS)}")
    shelves = tuple(kind for kind in kinds if kind not in ORDINARY)
    return standings or ("active", *shelves)


def _text(key: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BadFilter(f"{key} is a text, not {_short(value)}")
    return clean_text(value).strip() or None if value else None


def _texts(key: str, value: Any) -> tuple[str, ...]:
    """One text, or several; each once, without white space around it."""
    if value is None:
        return ()
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, Iterable) or isinstance(several, Mapping | bytes):
        raise BadFilter(f"{key} is a text or a list of texts, not {_short(value)}")
    texts = dict.fromkeys(text for each in several if (text := _text(key, each)))
    if len(texts) > SEARCH_FILTER_VALUES:
        raise BadFilter(f"{key} has {len(texts):,} values; at most {SEARCH_FILTER_VALUES:,} go")
    return tuple(texts)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
