"""Carries out what other processes left for an agent while it was in use (state.inbox())."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from pagemind.runtime.archival_memory import ArchivalMemory
from pagemind.runtime.errors import HomeUnusable, ToolError, UserError
from pagemind.runtime.intake import observation
from pagemind.runtime.keeping import Keeping
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.state.state import State

_log = logging.getLogger("pagemind.agent")


class AgentInbox:
    """Of one agent. Whoever calls holds its lock."""

    def __init__(self, state: State, queue_manager: QueueManager, archival: ArchivalMemory) -> None:
        self._state = state
        self._queue_manager = queue_manager
        self._archival = archival

    def take(self) -> None:
        """All of it. What can never be carried out is dropped, with a warning in the log."""
        for number, kind, body, _ in self._state.inbox():
            try:
                with self._state.database.transaction():
                    self._take(kind, json.loads(body))
                    self._state.take_from_inbox(number)
            except HomeUnusable:
                raise  # the disk's fault, and not the item's: it waits
            except (UserError, ToolError, KeyError, TypeError, ValueError) as fault:
                # Nobody could ever take it, and it must not block what was left after it.
                _log.warning("an item of the inbox cannot be taken: %s", fault)
                self._state.take_from_inbox(number)
        self._queue_manager.make_room()

    def _take(self, kind: str, left: Mapping[str, Any]) -> None:
        """Carry out one item of the inbox."""
        if kind == "observe":
            self._queue_manager.append(observation(left["text"], left["source"], left["speaker"]))
        elif kind == "insert" and left.get("agent"):
            self._archival.for_agent(left["agent"]).insert(
                left["text"],
                tags=left["tags"],
                importance=left["importance"],
                metadata=left.get("metadata"),
                keeping=Keeping.from_json(left),
            )
        elif kind == "insert":
            by_person = self._archival.for_person(left.get("document", ""))
            by_person.insert(
                left["text"],
                tags=left["tags"],
                importance=left["importance"],
                metadata=left.get("metadata"),
                keeping=Keeping.from_json(left),
            )
        else:
            raise ValueError(f"unknown kind {kind!r}")
