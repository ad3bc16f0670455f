"""Wanted: what a person asks to erase, in exactly one of the ways there are to say it. Pure.

Texts live here for as long as the preview is shown; what is stored is the Plan (plan.py), which has
none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from pagemind.runtime.errors import UserError

_ID = re.compile(r"[maptMAPT][1-9]\d{0,17}")
_SHORTEST = 2  # characters of a name: one letter would be found everywhere
_WAYS = "--id, --query, --subject, --source, --before or --all"


@dataclass(frozen=True, slots=True)
class Wanted:
    """`ids`: m42 a message, a7 a record, p17 all messages of a page, t12 all of a turn. `query`:
    what a search for it finds. `subject`: everything said by, about or with the name of somebody.
    `source`: what came from a file, an address, a tool. `before`: what was recorded before a time;
    `evergreen` says whether records that are kept for ever go, too."""

    ids: tuple[str, ...] = ()
    query: str = ""
    subject: str = ""
    source: str = ""
    everything: bool = False
    before: datetime | None = None
    evergreen: bool = False

    @property
    def way(self) -> str:
        """Which of them it is. Raises UserError unless it is exactly one."""
        said = [
            each.name
            for each in fields(self)
            if each.name != "evergreen" and getattr(self, each.name)
        ]
        if len(said) != 1:
            what = "nothing says what to erase" if not said else f"not both {' and '.join(said)}"
            raise UserError(what, hint=f"say one of {_WAYS}")
        return said[0]


def wanted(
    *,
    ids: Sequence[str] = (),
    query: str = "",
    subject: str = "",
    source: str = "",
    everything: bool = False,
    before: datetime | None = None,
    evergreen: bool = False,
) -> Wanted:
    """As a person has written it, looked through. Raises UserError."""
    made = Wanted(
        ids=tuple(dict.fromkeys(_id(each) for each in ids)),
        query=query.strip(),
        subject=" ".join(subject.split()),
        source=source.strip(),
        everything=everything,
        before=before,
        evergreen=evergreen,
    )
    if made.way == "subject" and len(made.subject) < _SHORTEST:
        raise UserError(
            f"{made.subject!r} is too short for a name: it would be found everywhere",
            hint="write the whole name; --id erases single messages",
        )
    if made.before is not None and made.before.tzinfo is None:
        raise UserError("a time without a time zone", hint="write it like 2026-05-08T14:00Z")
    return made


def _id(written: str) -> str:
    plain = written.strip().strip("[]()\"'")
    if not _ID.fullmatch(plain):
        raise UserError(
            f"{written!r} is not an id",
            hint="ids are m42 (a message), a7 (a record), p17 (a page), t12 (a turn);"
            " `pagemind memory search` shows them",
        )
    return plain.lower()
