"""The home: the registry of agents (home.db), their folders, and the lock of each.

An agent's folder is named by its opaque id, so that renames and odd file systems do no harm; its
name is free text, unique without regard to case.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pagemind.runtime import settings
from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.errors import AgentExists, HomeUnusable, UnknownAgent
from pagemind.runtime.naming import folded, nearest
from pagemind.runtime.state import home_schema
from pagemind.runtime.state.audit_heads import AuditHeads, HomeAudit
from pagemind.runtime.state.database import Database, Row
from pagemind.runtime.state.denied import Denied
from pagemind.runtime.state.erasures import Erasures
from pagemind.runtime.state.folders import FolderLock, Folders
from pagemind.runtime.state.made_files import MadeFiles


@dataclass(frozen=True, slots=True)
class Registered:
    """An agent as the registry knows it. `model` is the person's stored choice, "" for none."""

    id: str
    name: str
    definition: str
    model: str
    created_at: datetime
    last_active_at: datetime


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
            ddl=home_schema.HOME,
            version=settings.HOME_SCHEMA,
            migrations=home_schema.HOME_MIGRATIONS,
        )
        self.audit = HomeAudit(self.database, clock)
        self.audit_heads = AuditHeads(self.database, clock)
        self._folders = Folders(path / "agents", self.database, "messages")
        self.made_files = MadeFiles(self.database, clock)
        self.denied = Denied(self.database)
        self.erasures = Erasures(self.database, clock)
        self._swept = False

    def folder(self, agent_id: str) -> Path:
        return self._folders.path(agent_id)

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
        names = [each.name for each in self.all()]
        hint = nearest(name, names, otherwise="`pagemind agents list` shows them")
        raise UnknownAgent(f"no agent is called {name!r} in {self.path}", hint=hint)

    def of_id(self, agent_id: str) -> Registered:
        """Raises UnknownAgent."""
        row = self.database.one("SELECT * FROM agents WHERE id = ?", (agent_id,))
        if row is None:
            raise UnknownAgent(f"the agent {agent_id} is not there any more", hint="")
        return _registered(row)

    def exists(self, name: str) -> bool:
        return bool(
            self.database.number(
                "SELECT count(*) FROM agents WHERE folded = ?", (folded(name.strip()),)
            )
        )

    def add(
        self, agent_id: str, name: str, definition: str, model: str, *, by: str = "user"
    ) -> Registered:
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
            self.audit.add("agent made", agent_id, by=by)
        return self.find(name)

    def touch(self, agent_id: str) -> None:
        self.database.write(
            "UPDATE agents SET last_active_at = ? WHERE id = ?",
            (rfc3339(self._clock.now()), agent_id),
        )

    def set_model(self, agent_id: str, model: str) -> None:
        self.database.write("UPDATE agents SET model = ? WHERE id = ?", (model, agent_id))

    def set_definition(self, agent_id: str, definition: str) -> None:
        self.database.write("UPDATE agents SET definition = ? WHERE id = ?", (definition, agent_id))

    def remove(self, agent: Registered) -> None:
        """Delete an agent: the registry first, so that what is listed can be opened."""

        self._folders.remove(agent.id, lambda: self.unregister(agent))

    def unregister(self, agent: Registered) -> None:
        """It is not listed any more, and its mail and timers are gone; its folder is swept."""
        with self.database.transaction():
            self.database.write("DELETE FROM agents WHERE id = ?", (agent.id,))
            self.audit.gone("agent removed", agent.id, by="user")

    def now(self) -> datetime:
        return self._clock.now()

    def sweep(self, *, again: bool = True) -> None:
        """Remove folders of agents that were never finished or already deleted; not `again` if
        that was done already: it looks at every folder there is."""
        if self._swept and not again:
            return
        self._swept = True
        self._folders.sweep(lambda: {each.id for each in self.all()})

    def abandoned(self, folder: Path) -> bool:
        """Whether a folder that is not registered was deleted, or never got a message."""
        return self._folders.abandoned(folder)

    def making(self, agent_id: str) -> AbstractContextManager[Path]:
        """A new folder, safe from sweep() until the agent in it is registered; gone on failure."""
        return self._folders.making(agent_id)

    def unfinished(self, agent_id: str) -> AbstractContextManager[None]:
        """Until it is left, sweep() takes what making() has made, whatever it holds."""
        return self._folders.unfinished(agent_id)

    def close(self) -> None:
        self.database.close()


class AgentLock(FolderLock):
    """One writer per agent, across processes."""


def _registered(row: Row) -> Registered:
    return Registered(
        row["id"],
        row["name"],
        row["definition"],
        row["model"],
        parse_rfc3339(row["created_at"]),
        parse_rfc3339(row["last_active_at"]),
    )
