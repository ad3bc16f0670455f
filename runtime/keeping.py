"""Keeping: how a new passage is kept, beside its text: in which scope, private to whom, for how
long, and whether the worker may ever forget it. Pure.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypedDict

from pagemind.runtime.errors import UserError
from pagemind.runtime.message import clean_text
from pagemind.runtime.passage import Facets
from pagemind.runtime.recurrence import seconds_of
from pagemind.runtime.scope import scope_of
from pagemind.runtime.settings import MAX_NAME, TTL_MOST_DAYS

Ttl = str | timedelta  # "30 days", or a timedelta


class Kept(TypedDict, total=False):
    """How it is kept, as programs say it."""

    scope: str | None  # a path such as /team/project
    owner: str  # the agent or program that alone sees it
    ttl: Ttl | None  # how long: "30 days"
    evergreen: bool  # never forgotten by the worker


@dataclass(frozen=True, slots=True)
class Keeping:
    """`scope` None: where the agent writes by default. `owner` "": whoever sees the scope."""

    scope: str | None = None
    owner: str = ""
    ttl: timedelta | None = None
    evergreen: bool = False

    @classmethod
    def of(
        cls,
        scope: str | None = None,
        owner: str = "",
        ttl: Ttl | None = None,
        evergreen: bool = False,
    ) -> "Keeping":
        """Raises UserError for a scope or a duration that is none, or an owner that is no name."""
        path = scope_of(scope) if scope and scope.strip() else None
        return cls(path, owner_of(owner), ttl_of(ttl), bool(evergreen))

    @classmethod
    def from_json(cls, left: Mapping[str, Any]) -> "Keeping":
        """What as_json() made; a mapping without its keys is plain."""
        ttl = left.get("ttl")
        return cls(
            left.get("scope"),
            left.get("owner", ""),
            timedelta(seconds=ttl) if ttl else None,
            bool(left.get("evergreen", False)),
        )

    def as_json(self) -> dict[str, Any]:
        """For an inbox: only what is said."""
        said = {
            "scope": self.scope,
            "owner": self.owner,
            "ttl": self.ttl.total_seconds() if self.ttl else None,
            "evergreen": self.evergreen,
        }
        return {key: value for key, value in said.items() if value}

    def facets(self, scope: str, now: datetime) -> Facets:
        """Of a passage that is put into this scope now."""
        expires = now + self.ttl if self.ttl is not None else None
        return Facets(scope=scope, owner=self.owner, expires_at=expires, evergreen=self.evergreen)


PLAIN = Keeping()


def ttl_of(written: Ttl | None) -> timedelta | None:
    """How long something is kept; None for ever. Raises UserError."""
    if written is None or written == "":
        return None
    if isinstance(written, timedelta):
        seconds: float | None = written.total_seconds()
    else:
        seconds = seconds_of(written)
    if seconds is None or not math.isfinite(seconds) or not 0 < seconds <= TTL_MOST_DAYS * 86400:
        raise UserError(
            f"{str(written)[:60]!r} is no time to keep something for",
            hint=f"write it like 30 days, 12 hours or 2 weeks; at most {TTL_MOST_DAYS:,} days",
        )
    return timedelta(seconds=seconds)


def owner_of(written: str) -> str:
    """The one that something is private to. Raises UserError for what is no name."""
    owner = clean_text(written).strip()
    if len(owner) > MAX_NAME or not (owner.isprintable() or not owner):
        raise UserError(f"{written[:60]!r} is no owner", hint="say the name of a program or agent")
    return owner
