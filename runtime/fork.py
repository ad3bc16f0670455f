"""fork(): a full copy of an agent under another name, as it is or as it was at a moment.

The copy is made in a folder of its own and registered last: there is a whole agent, or none. State,
blobs and search tables are copied; where another process may be writing to the tables, they are
made anew in the copy instead. Nothing is shared afterwards. What was paid before is not counted as
the copy's own, and what others left in the inbox is not taken twice.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pagemind.runtime.acceptance import definition_of
from pagemind.runtime.approvals import no_copy_waits
from pagemind.runtime.clock import Clock
from pagemind.runtime.errors import AgentExists, AgentInUse
from pagemind.runtime.made_of import core_of, registry_of, zone_of
from pagemind.runtime.moved import Moved
from pagemind.runtime.naming import checked_name
from pagemind.runtime.state.home import AgentLock, Home, Registered
from pagemind.runtime.state.state import State
from pagemind.runtime.time_machine import TimeMachine

_BLOBS = "blobs"


@dataclass(frozen=True, slots=True)
class Forked:
    """`moved` is the rewind of the copy, None for a copy of now; without `indexed` its search
    tables are made anew when it is first used."""

    agent: str
    id: str
    source: str
    messages: int
    passages: int
    pages: int
    indexed: bool
    moved: Moved | None

    def as_json(self) -> dict[str, Any]:
        """The answer of `agents fork --json`, without sha256."""
        return {
            "agent": self.agent,
            "id": self.id,
            "source": self.source,
            "messages": self.messages,
            "passages": self.passages,
            "pages": self.pages,
            "indexed": self.indexed,
            "moved": self.moved.as_json() if self.moved else None,
        }


def fork(
    home: Home,
    source: Registered,
    name: str,
    at: int | datetime | None,
    *,
    clock: Clock,
    count: Callable[[str], int],
    tables_rest: bool,
) -> Forked:
    """Copy an agent. `tables_rest`: this process holds it, and writes nothing to its tables now.

    Raises AgentExists, InvalidName, and what TimeMachine.rewind does: NotFound, UserError.
    """
    name = checked_name(name)
    if home.exists(name):
        raise AgentExists(
            f"there is an agent called {name!r} already",
            hint="choose another name, or delete that one first",
        )
    home.sweep()
    agent_id = clock.new_id()
    folder = home.folder(source.id)
    with (
        home.making(agent_id) as made,
        home.unfinished(agent_id),
        _held(folder, source.name, tables_rest) as held,
    ):
        tables = _copy(folder, made, clock, tables=held)
        state = State(made, clock)
        try:
            with state.database.transaction():
                _settle_in(state, agent_id, source, tables)
            moved = _rewound(state, name, at, count) if at is not None else None
            counts = state.journal.count(), state.passages.count(), state.pages.count()
        finally:
            state.close()
        home.add(agent_id, name, source.definition, source.model)
    return Forked(name, agent_id, source.name, *counts, indexed=tables, moved=moved)


@contextmanager
def _held(folder: Path, name: str, held: bool) -> Iterator[bool]:
    """Whether nobody writes to the tables while they are copied."""
    lock = AgentLock(folder, name)
    if not held:
        try:
            lock.acquire(0)
        except AgentInUse:
            yield False
            return
    try:
        yield True
    finally:
        if not held:
            lock.release()


def _copy(folder: Path, made: Path, clock: Clock, *, tables: bool) -> bool:
    """State, blobs and tables; whether there are tables in the copy, or none in the source."""
    source = State(folder, clock, read_only=True)
    try:
        source.database.copy_to(made / "state.db")
        if (folder / _BLOBS).is_dir():
            shutil.copytree(folder / _BLOBS, made / _BLOBS)
        if not tables:
            return False
        if source.tiers.is_dir():
            shutil.copytree(source.tiers, made / source.tiers.name)
    finally:
        source.close()
    return True


def _settle_in(state: State, agent_id: str, source: Registered, tables: bool) -> None:
    """The copy is an agent of its own."""
    state.database.set_meta("agent_id", agent_id)
    state.database.set_meta("forked_from", source.id)
    head = state.audit.head()
    state.audit.restart(
        "forked",
        source.id,
        by="user",
        number=head.number,
        hash=head.hash,
        seq=state.journal.last_seq,
    )
    state.database.set_meta("reembedding", "")  # half-made tables were not copied
    no_copy_waits(state)
    state.history.copy_steps()
    for number, _, _, _ in state.inbox():
        state.take_from_inbox(number)
    if not tables:
        state.outbox.refill()


def _rewound(
    state: State, name: str, at: int | datetime, count: Callable[[str], int]
) -> Moved | None:
    definition = definition_of(state.database)
    protocol = state.database.meta("protocol") or definition.protocol
    registry = registry_of(definition, protocol, state=state)
    effects = {tool.name: tool.effect for tool in registry}
    machine = TimeMachine(
        name,
        state,
        count=count,
        live=core_of(state, definition, protocol).live,
        effect=lambda function: effects.get(function, "world"),
        zone=zone_of(definition),
    )
    return machine.rewind(at)
