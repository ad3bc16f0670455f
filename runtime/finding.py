"""Finding: one thing in an agent's stores that is not as it should be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

# open: opening the agent mends it; rebuild: `memory rebuild` does; "": only a backup could.
# directories, records: `doctor --deep --repair` makes them anew from the pages, or takes out what
# points nowhere.
Repair = Literal["", "open", "rebuild", "directories", "records"]
_SHOWN = 5  # of many alike


@dataclass(frozen=True, slots=True)
class Finding:
    """`check` names the invariant; "wrong" breaks it, "note" mends itself or is for a person."""

    check: str
    status: Literal["note", "wrong"]
    detail: str
    repair: Repair = ""
    hint: str = ""  # where another command than a repair is the answer


def wrong(check: str, what: str, ids: Sequence[str], repair: Repair = "") -> Iterator[Finding]:
    """One finding for all that are alike; none for none."""
    if ids:
        yield Finding(check, "wrong", f"{what}: {listed(ids)}", repair)


def listed(ids: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return f"{', '.join(ids[:_SHOWN])}{more}"
