"""Purge: makes the files of an agent or an archive anew from what is left in them, so that none
holds what was deleted."""

import os
import shutil
from pathlib import Path

from pagemind.runtime.erasure.plan import Plan
from pagemind.runtime.errors import StorageError
from pagemind.runtime.outbox import Tier
from pagemind.runtime.reembed import unused_tiers
from pagemind.runtime.settings import ERASE_WAIT_SECONDS
from pagemind.runtime.state.outbox import SHOWN_BEFORE
from pagemind.runtime.state.state import State
from pagemind.runtime.tiers.proof import TableProof
from pagemind.runtime.tiers.schema import indexable
from pagemind.runtime.tiers.store import TIERS
from pagemind.runtime.tiers_writer import TiersWriter

_AFTER = 8  # messages read at once
LOCK = "lock"  # held while all else of a folder goes


def parents(plan: Plan) -> dict[Tier, list[str]]:
    """What the rows of the tables that go are named by."""
    return {
        "recall": [f"m{each}" for each in plan.messages],
        "archival": [f"a{each}" for each in plan.passages],
        "pages": [],
    }


def purge(writer: TiersWriter, plan: Plan) -> list[str]:
    """Empty the tables and the database of what was deleted; the tags and branches that had to go
    for it. Raises StorageError where the tables cannot be written, DiskFull."""
    writer.state.outbox.put_again("recall", sorted(_neighbours(writer.state, plan)))
    if not writer.carry_over(lambda done, total: None):
        raise StorageError(
            f"the tiers of {writer.name!r} cannot be written, and hold what is to be erased",
            hint=f"`pagemind {writer.commands} rebuild {writer.name}` makes them anew; then go on",
        )
    holds: list[str] = []
    with writer.still():
        for tier, keys in parents(plan).items():
            holds += [f"{tier}: {each}" for each in writer.store.purge(tier, keys)]
        for folder in unused_tiers(writer.state):  # left by a change of embedder
            shutil.rmtree(folder, ignore_errors=True)
    writer.state.database.shred(ERASE_WAIT_SECONDS)
    return holds


def _neighbours(state: State, plan: Plan) -> set[int]:
    """Messages whose rows show what was said just before them, where that goes: the first that come
    after it, on whichever line."""
    if not plan.messages:
        return set()
    starts = {seq + 1 for seq in plan.messages} - set(plan.messages)
    lines = state.journal.lines
    starts.update(first for line in lines.all() for first, _ in lines.ranges(line.number))
    return {seq for start in starts for seq in _first_shown(state, start)}


def _first_shown(state: State, start: int) -> list[int]:
    """The first messages from there on that have rows, as many as a row shows before itself."""
    found: list[int] = []
    last = state.journal.last_seq
    while start <= last and len(found) < SHOWN_BEFORE:
        for message, _, _ in state.journal.range(start, min(last, start + _AFTER - 1)):
            if not message.erased and indexable(message):
                found.append(message.seq)
        start += _AFTER
    return found[:SHOWN_BEFORE]


def proofs(writer: TiersWriter, since_ns: int) -> list[TableProof]:
    """How the tables are after a purge that began then."""
    found = (writer.store.proof(tier, since_ns) for tier in TIERS)
    return [each for each in found if each is not None]


def now_of(folder: Path) -> int:
    """The time by the clock of the disk, which files are dated by."""
    mark = folder / ".purge"
    mark.touch()
    try:
        os.utime(mark)
        return mark.stat().st_mtime_ns
    finally:
        mark.unlink()


def clear_folder(folder: Path) -> None:
    """Everything in it but its lock, which is held."""
    for each in sorted(folder.iterdir()):
        if each.name == LOCK:
            continue
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
