"""Entities on disk: whom and what facts are about, and the names that lead to each.

A name leads to one entity at most; `key` is the name made plain (the caller's `plain`). Which name
means which entity is decided elsewhere. What was learnt on a line that was left is not known.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.lines import on_line

_KNOWN = on_line("entity_names.seq")


@dataclass(frozen=True, slots=True)
class Entity:
    """`name` is how it was first called; `names` are all that lead to it."""

    number: int
    name: str
    names: tuple[str, ...]


class Entities:
    """Of one agent."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def find(self, key: str) -> int | None:
        """The entity that a plain name leads to."""
        row = self._db.one(
            f"SELECT entity FROM entity_names WHERE key = ? AND {_KNOWN} ORDER BY seq LIMIT 1",
            (key,),
        )
        return int(row["entity"]) if row else None

    def named(self, keys: Iterable[str]) -> list[int]:
        """The entities that any of these plain names leads to."""
        rows = self._db.rows(
            "SELECT DISTINCT entity FROM entity_names"
            f" WHERE key IN (SELECT value FROM json_each(?)) AND {_KNOWN}",
            (json.dumps(list(keys)),),
        )
        return [row["entity"] for row in rows]

    def make(self, name: str, key: str, *, seq: int) -> int:
        """A new entity with its first name; its number."""
        at = rfc3339(self._clock.now())
        with self._db.transaction():
            number = self._db.write(
                "INSERT INTO entities (name, at, seq) VALUES (?,?,?)", (name, at, seq)
            )
            self._name(key, seq, number, name, "first", at)
        return number

    def also(self, number: int, name: str, key: str, *, how: str, seq: int) -> None:
        """Another name leads to it; one that leads elsewhere stays."""
        with self._db.transaction():
            if self.find(key) is None:
                self._name(key, seq, number, name, how, rfc3339(self._clock.now()))

    def _name(self, key: str, seq: int, number: int, name: str, how: str, at: str) -> None:
        self._db.write(
            "INSERT INTO entity_names (key, seq, entity, name, how, at) VALUES (?,?,?,?,?,?)",
            (key, seq, number, name, how, at),
        )

    def get(self, numbers: Sequence[int]) -> dict[int, Entity]:
        names: dict[int, list[str]] = {}
        for row in self._db.rows_in(
            f"SELECT * FROM entity_names WHERE {_KNOWN} AND entity", numbers
        ):
            names.setdefault(row["entity"], []).append(row["name"])
        return {
            row["number"]: Entity(row["number"], row["name"], tuple(names.get(row["number"], ())))
            for row in self._db.rows_in("SELECT * FROM entities WHERE number", numbers)
        }

    def keys(self) -> list[tuple[str, int]]:
        """Every plain name with its entity."""
        return [
            (row["key"], row["entity"])
            for row in self._db.rows(
                f"SELECT key, entity FROM entity_names WHERE {_KNOWN} ORDER BY key"
            )
        ]

    def keys_about(self, length: int) -> list[tuple[str, int]]:
        """Those about so long: what is a fifth longer or shorter is not nearly the same."""
        return [
            (row["key"], row["entity"])
            for row in self._db.rows(
                "SELECT key, entity FROM entity_names WHERE length(key) BETWEEN ? AND ?"
                f" AND {_KNOWN} ORDER BY key",
                (int(length * 0.8) - 1, int(length * 1.25) + 1),
            )
        ]

    def count(self) -> int:
        return self._db.number("SELECT count(*) FROM entities")
