"""Waits (home.db): which agent waits for which, over all processes, so that none waits for itself.

A row stands while an agent waits. One that a killed process has left says nothing: `runs` tells
whether anybody still runs the agent.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pagemind.runtime.state.database import Database


class Waits:
    """Agents are named by their ids."""

    def __init__(self, database: Database, runs: Callable[[str], bool]) -> None:
        self._db = database
        self._runs = runs

    @contextmanager
    def waiting(self, agent: str, other: str) -> Iterator[list[str]]:
        """`agent` waits for `other` until this is left. What it gives is empty, or the way from
        `other` back to `agent`: then it must not wait, and nothing is noted."""
        with self._db.transaction():
            way = self._way(other, agent)
            if not way:
                self._db.write("INSERT OR IGNORE INTO agent_waits VALUES (?, ?)", (agent, other))
        try:
            yield way
        finally:
            if not way:
                self._db.write(
                    "DELETE FROM agent_waits WHERE agent = ? AND waits_for = ?", (agent, other)
                )

    def _way(self, start: str, end: str) -> list[str]:
        """The agents from start to end, each waiting for the next; empty if there is no way."""
        if start == end:
            return [start]
        came_from = {start: ""}
        front = [start]
        while front:
            here = front.pop(0)
            rows = self._db.rows("SELECT waits_for FROM agent_waits WHERE agent = ?", (here,))
            if rows and not self._runs(here):
                self._db.write("DELETE FROM agent_waits WHERE agent = ?", (here,))
                continue
            for row in rows:
                there = str(row["waits_for"])
                if there in came_from:
                    continue
                came_from[there] = here
                if there == end:
                    way = [there]
                    while way[-1] != start:
                        way.append(came_from[way[-1]])
                    return way[::-1]
                front.append(there)
        return []
