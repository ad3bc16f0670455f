"""The start and end that search functions take, as filter values."""

from datetime import datetime
from typing import TypedDict

from pagemind.runtime.errors import BadArguments
from pagemind.runtime.when import parse_span


class Period(TypedDict):
    """Keyword arguments of SearchFilters."""

    start: datetime | None
    end: datetime | None


def period(now: datetime, start: str | None, end: str | None) -> Period:
    """From the beginning of `start` to the end of `end`, both as whole local days where they are
    days. `now` is in the agent's time zone. Raises BadArguments."""
    first = last = None
    try:
        if start and start.strip():
            first = parse_span(start, now).start
        if end and end.strip():
            last = parse_span(end, now).end
    except ValueError as error:
        raise BadArguments(str(error)) from None
    if first and last and first >= last:
        raise BadArguments(f"start ({start}) lies after end ({end})")
    return {"start": first, "end": last}
