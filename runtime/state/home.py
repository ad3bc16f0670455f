"""The home: the registry of agents (home.db), their folders, and the lock of each.

An agent's folder is named by its opaque id, so that renames and odd file systems do no harm; its
name is free text, unique without regard to case. The lock is the operating system's: it goes when
the process does.
"""

import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

from pagemind.runtime import settings
from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import (
    AgentExists,
    AgentInUse,
    HomeUnusable,
    InvalidName,
    StorageError,
    UnknownAgent,
)
from pagemind.runtime.settings import LOCK_GRACE_SECONDS, MAX_NAME
from pagemind.runtime.state import schema
from pagemind.runtime.state.database import Database, Row, peek, version_of

_DELETED = "deleted"  # lies in the folder of an agent that is being removed


@dataclass(frozen=True, slots=True)
class Registered:
    """An agent as the registry knows it. `model` is the person's stored choice, "" for none."""

    id: str
    name: str
    definition: str
    model: str
    created_at: datetime
    last_active_at: datetime


def checked_name(name: str) -> str:
    """The name in NFC. Raises InvalidName for one that no command line or file could carry."""
    name = unicodedata.normalize("NFC", name).strip()
    problem = ""
    if not name:
        problem = "is empty"
    elif len(name) > MAX_NAME:
        problem = f"has {len(name)} characters; at most {MAX_NAME} are allowed"
    elif any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in name):
        problem = "has control characters"
    elif "/" in name or "\\" in name or set(name) <= {"."}:
        problem = "looks like a path"
    elif name.startswith("-"):
        problem = "starts with a dash, like an option"
    if problem:
        raise InvalidName(f"agent name {name[:80]!r} {problem}", hint="a word such as ada will do")
    return name


def folded(name: str) -> str:
    """What must be unique. Half a character, from a shell's stray bytes, is no name of anyone."""
    whole = name.encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFKC", whole).casefold()


class Home:
    """The folder `path`; made when it is first needed. Raises HomeUnusable, SchemaTooNew."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        try:
            (path / "agents").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HomeUnusable(
                f"{path} cannot be used as the home: {error.strerror or error}",
                hint="set PAGEMIND_HOME, or give --home, to a folder that can be written",
            ) from error
        self.database = Database(
            path / "home.db",
            ddl=schema.HOME,
            version=settings.HOME_SCHEMA,
            migrations=schema.HOME_MIGRATIONS,
        )

    def folder(self, agent_id: str) -> Path:
        return self.path / "agents" / agent_id

    # --- the registry ---------------------------------------------------------------------------

    def all(self) -> list[Registered]:
        """Every agent, the one used last first."""
        rows = self.database.rows("SELECT * FROM agents ORDER BY last_active_at DESC, name")
        return [_registered(row) for row in rows]

    def find(self, name: str) -> Registered:
        """Raises UnknownAgent with the nearest names."""
        row = self.database.one("SELECT * FROM agents WHERE folded = ?", (folded(name.strip()),))
        if row is not None:
            return _registered(row)
        names = {folded(each.name): each.name for each in self.all()}
        close = [names[key] for key in get_close_matches(folded(name), names, n=3)]
        hint = (
            f"did you mean {' or '.join(close)}?" if close else "`pagemind agents list` shows them"
        )
        raise UnknownAgent(f"no agent is called {name!r} in {self.path}", hint=hint)

    def exists(self, name: str) -> bool:
        return bool(
            self.database.number(
                "SELECT count(*) FROM agents WHERE folded = ?", (folded(name.strip()),)
            )
        )

    def add(self, agent_id: str, name: str, definition: str, model: str) -> Registered:
        """Register an agent whose folder is complete. Raises AgentExists."""
        now = rfc3339(self._clock.now())
        with self.database.transaction():
            if self.exists(name):
                raise AgentExists(
                    f"there is an agent called {name!r} already",
                    hint="choose another name, or delete that one first",
                )
            self.database.write(
                "INSERT INTO agents VALUES (?,?,?,?,?,?,?)",
                (agent_id, name, folded(name), definition, model, now, now),
            )
        return self.find(name)

    def touch(self, agent_id: str) -> None:
        self.database.write(
            "UPDATE agents SET last_active_at = ? WHERE id = ?",
            (rfc3339(self._clock.now()), agent_id),
        )

    def set_model(self, agent_id: str, model: str) -> None:
        self.database.write("UPDATE agents SET model = ? WHERE id = ?", (model, agent_id))

    def remove(self, agent: Registered) -> None:
        """Delete an agent: the registry first, so that what is listed can be opened."""
        with suppress(OSError):
            (self.folder(agent.id) / _DELETED).touch()
        self.database.write("DELETE FROM agents WHERE id = ?", (agent.id,))
        shutil.rmtree(self.folder(agent.id), ignore_errors=True)

    def sweep(self) -> None:
        """Remove folders of agents that were never finished or already deleted. One that holds
        messages and was not deleted stays: then it is the registry that has lost something."""
        with self.database.transaction():
            known = {each.id for each in self.all()}
            for folder in (self.path / "agents").iterdir():
                # A folder in the making holds its lock; only abandoned ones go.
                if folder.name not in known and folder.is_dir() and self.abandoned(folder):
                    with suppress(AgentInUse):
                        lock = AgentLock(folder, folder.name)
                        lock.acquire(0)
                        shutil.rmtree(folder, ignore_errors=True)
                        lock.release()

    @staticmethod
    def abandoned(folder: Path) -> bool:
        """Whether a folder that is not registered was deleted, or never got a message."""
        path = folder / "state.db"
        if (folder / _DELETED).exists() or version_of(path) == 0:
            return True
        try:
            return not peek(path, "SELECT 1 FROM messages LIMIT 1")
        except StorageError:
            return False

    @contextmanager
    def making(self, agent_id: str) -> Iterator[Path]:
        """A new folder, safe from sweep() until the agent in it is registered; gone on failure."""
        folder = self.folder(agent_id)
        # Within a transaction, as sweep() is: it never sees a folder whose lock is not yet held.
        with self.database.transaction():
            folder.mkdir(parents=True)
            lock = AgentLock(folder, agent_id)
            lock.acquire(0)
        try:
            yield folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            lock.release()

    def close(self) -> None:
        self.database.close()


class AgentLock:
    """One writer per agent, across processes."""

    def __init__(self, folder: Path, name: str) -> None:
        from filelock import FileLock

        self._name = name
        self._lock = FileLock(folder / "lock")

    def acquire(self, wait: float) -> None:
        """Raises AgentInUse if another process still holds the agent after `wait` seconds."""
        from filelock import Timeout

        try:
            # Whoever only asks whether it is held (`held`) has it for an instant.
            self._lock.acquire(timeout=max(wait, LOCK_GRACE_SECONDS), poll_interval=0.02)
        except Timeout:
            raise AgentInUse(
                f"agent {self._name!r} is in use by another process",
                hint="wait for it with --wait SECONDS, or close the other one",
            ) from None
        except OSError as error:
            raise HomeUnusable(
                f"the lock of agent {self._name!r} cannot be taken: {error.strerror or error}",
                hint="check the permissions of the home",
            ) from error

    def held(self) -> bool:
        """Whether another process holds it now."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(self._lock.lock_file, timeout=0):
                return False
        except Timeout:
            return True
        except OSError:
            return False

    def release(self) -> None:
        self._lock.release()


def _registered(row: Row) -> Registered:
    return Registered(
        row["id"],
        row["name"],
        row["definition"],
        row["model"],
        parse_rfc3339(row["created_at"]),
        parse_rfc3339(row["last_active_at"]),
    )
