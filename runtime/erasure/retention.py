"""Retention: what is older than a definition's `keep: 90d` is erased, by the same path as anything
else. What is evergreen is kept, unless a person says otherwise.

outdated() says what is due. It is due some while after its time (a tenth of `keep`, a day at most),
so that an agent is not cleaned anew after every turn.
"""

from datetime import datetime, timedelta

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.erasure.wanted import Wanted
from pagemind.runtime.keeping import Ttl, ttl_of
from pagemind.runtime.passage import EVERGREEN
from pagemind.runtime.settings import KEEP_LATE_SECONDS, KEEP_LATE_SHARE
from pagemind.runtime.state.state import State


def outdated(state: State, keep: Ttl | None, *, evergreen: bool = False) -> Wanted | None:
    """What is to be erased now; None for nothing. Raises UserError for what is no duration."""
    lasts = ttl_of(keep)
    if lasts is None:
        return None
    before = state.clock.now() - lasts
    late = min(lasts * KEEP_LATE_SHARE, timedelta(seconds=KEEP_LATE_SECONDS))
    if not _any_before(state, before - late, evergreen):
        return None
    return Wanted(before=before, evergreen=evergreen)


def _any_before(state: State, at: datetime, evergreen: bool) -> bool:
    db, time = state.database, rfc3339(at)
    # recorded_at rises with seq, but for a clock that was put back: the oldest are looked at first.
    oldest = db.one(
        "SELECT recorded_at FROM messages WHERE status <> 'retired' ORDER BY seq LIMIT 1"
    )
    if oldest is not None and oldest["recorded_at"] < time:
        return True
    return bool(
        db.number(
            "SELECT count(*) FROM passages p WHERE created_at < ? AND (? OR (evergreen = 0 AND NOT"
            " EXISTS (SELECT 1 FROM json_each(p.tags) WHERE value = ?)))",
            (time, evergreen, EVERGREEN),
        )
    )
