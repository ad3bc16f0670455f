"""Upgrade: brings home.db and every state.db to the versions that this pagemind writes.

Each file is copied first, whole and on disk; each step is one transaction, so that a crash leaves
the old version or the new one. Opening an agent does the same for that agent alone.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pagemind.runtime import settings
from pagemind.runtime.clock import Clock
from pagemind.runtime.errors import AgentInUse, PagemindError
from pagemind.runtime.state.database import Upgraded, peek, version_of
from pagemind.runtime.state.folders import FolderLock
from pagemind.runtime.state.home import Home
from pagemind.runtime.state.state import State

_ARCHIVES_SINCE = 2  # the version of home.db


@dataclass(frozen=True, slots=True)
class Upgrade:
    """One file: of an agent, of an archive, or, with neither, the home's. `due` is what `dry` says
    in place of `done`."""

    agent: str
    status: Literal["current", "done", "due", "in_use", "failed"]
    before: int
    after: int
    backup: str | None = None
    detail: str = ""
    archive: str = ""

    def as_json(self) -> dict[str, Any]:
        """An item of `upgrade --json`."""
        return {**asdict(self), "agent": self.agent or None, "archive": self.archive or None}


def upgrade(path: Path, clock: Clock, *, dry: bool, wait: float = 0.0) -> list[Upgrade]:
    """Bring everything up, or only say what is due. What fails does not keep back the rest.

    Raises SchemaTooNew, DiskFull or HomeUnusable if home.db itself cannot be brought up.
    """
    registry = path / "home.db"
    if not registry.exists():
        return []
    found = version_of(registry)
    made: Upgraded | None = None
    if not dry or found > settings.HOME_SCHEMA:
        home = Home(path, clock)  # raises what refuses it
        made = home.database.upgraded
        home.close()
    done = [_told(found, settings.HOME_SCHEMA, made)]
    for noun in ("agent", "archive"):
        if noun == "archive" and version_of(registry) < _ARCHIVES_SINCE:
            break
        for row in peek(registry, f"SELECT id, name FROM {noun}s ORDER BY name"):
            folder = path / f"{noun}s" / row["id"]
            done.append(_state(folder, row["name"], noun, clock, dry=dry, wait=wait))
    return done


def _told(before: int, after: int, made: Upgraded | None) -> Upgrade:
    if made is not None:
        return Upgrade("", "done", made.before, made.after, str(made.backup))
    return Upgrade("", "current" if before == after else "due", before, after)


def _state(folder: Path, name: str, noun: str, clock: Clock, *, dry: bool, wait: float) -> Upgrade:
    done = _state_of(folder, name, noun, clock, dry=dry, wait=wait)
    return replace(done, agent=name) if noun == "agent" else replace(done, archive=name)


def _state_of(
    folder: Path, name: str, noun: str, clock: Clock, *, dry: bool, wait: float
) -> Upgrade:
    found, wanted = version_of(folder / "state.db"), settings.STATE_SCHEMA
    if found == wanted or (dry and 0 < found < wanted):
        return _told(found, wanted, None)
    try:
        if found == 0:
            raise PagemindError(f"{folder / 'state.db'} is not there, or empty")
        lock = FolderLock(folder, name, noun)
        lock.acquire(wait)
        try:
            state = State(folder, clock)
            made = state.database.upgraded
            state.close()
        finally:
            lock.release()
    except AgentInUse as error:
        return Upgrade("", "in_use", found, wanted, None, error.message)
    except PagemindError as error:
        return Upgrade("", "failed", found, wanted, None, error.message)
    return _told(wanted, wanted, made)
