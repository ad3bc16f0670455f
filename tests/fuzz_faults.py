"""What goes wrong on purpose around an agent: the disk, LanceDB, the embedder, and the power.

One fault is armed at a time, for one event; `Faults` says which have struck. The disk's faults are
raised where SQLite would raise them, in its own words, so that pagemind's translation is tried too.
"""

import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from pagemind.runtime.errors import ModelUnreachable
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.state.database import Database
from pagemind.runtime.testing import HashingEmbedder
from pagemind.runtime.tiers.store import TierStore
from pagemind.runtime.tiers.write_back import WriteBack

MOST_STATEMENTS = 100_000  # of one event: more is a loop without end
WRITES = ("INSERT", "UPDATE", "DELETE")
DISK = {
    "disk full at a statement": "database or disk is full",
    "disk full, all undone": "database or disk is full",
    "disk full at commit": "database or disk is full",
    "disk full until freed": "database or disk is full",
    "disk error at commit": "disk I/O error",
    "disk error at reading": "disk I/O error",
    "disk locked": "database is locked",
    "disk read-only": "attempt to write a readonly database",
}
KILLS = ("killed before a statement", "killed after a statement")
STOPS = ("Ctrl-C at a statement", "Ctrl-C after a statement", "Ctrl-C after a commit")
EMBEDDINGS = ("raises", "foreign error", "NaN", "wrong length", "too few", "zero")


class Killed(BaseException):
    """The process is dead: nothing of it runs any more, and nothing more reaches the disk."""


class Stuck(BaseException):
    """An event that does not end; nothing may catch it."""


@dataclass
class Faults:
    """The armed fault, what struck in this event, and how often each kind was tried."""

    chance: random.Random
    armed: str = ""
    left: int = 0  # passings until it strikes
    dead: bool = False
    statements: int = 0
    struck: Counter[str] = field(default_factory=Counter)

    def begin(self, armed: str = "") -> None:
        """A new event, with what may go wrong in it."""
        self.armed, self.dead, self.statements = armed, False, 0
        # Few statements are passed by an observation, hundreds by a turn that flushes.
        often = not armed.startswith(("embedder:", "tiers:"))
        self.left = self.chance.choice([1, 2, 3, 5, 8, 13, 21, 40, 80] if often else [1, 1, 2])
        self.struck.clear()

    def strikes(self, kind: str) -> bool:
        """Whether the armed fault is of this kind and its time has come; counted if so."""
        if self.armed != kind:
            return False
        self.left -= 1
        if self.left > 0 or (self.left < 0 and not kind.endswith("until freed")):
            return False
        self.note(kind)
        return True

    def note(self, kind: str) -> None:
        self.struck[kind] = 1


class FaultyConnection:
    """sqlite3's connection on a disk that may fail, in a process that may die."""

    def __init__(self, real: sqlite3.Connection, faults: Faults) -> None:
        self.real = real
        self._faults = faults

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._run(sql, lambda: self.real.execute(sql, values))

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> Any:
        return self._run(sql, lambda: self.real.executemany(sql, rows))

    def _run(self, sql: str, run: Callable[[], Any]) -> Any:
        faults = self._faults
        if faults.dead:
            raise Killed
        faults.statements += 1
        if faults.statements > MOST_STATEMENTS:
            raise Stuck("statements without end")
        word = sql.split(None, 1)[0]
        if word in ("ROLLBACK", "RELEASE", "PRAGMA"):
            return run()
        self._break(word)
        done = run()
        if faults.strikes("killed after a statement"):
            faults.dead = True
            raise Killed
        if faults.strikes("Ctrl-C after a statement"):
            raise KeyboardInterrupt
        if word == "COMMIT" and faults.strikes("Ctrl-C after a commit"):
            raise KeyboardInterrupt
        return done

    def _break(self, word: str) -> None:
        faults, armed = self._faults, self._faults.armed
        if faults.strikes("killed before a statement"):
            faults.dead = True
            raise Killed
        if faults.strikes("Ctrl-C at a statement"):
            raise KeyboardInterrupt
        if armed not in DISK:
            return
        at = {
            "disk full at commit": ("COMMIT",),
            "disk error at commit": ("COMMIT",),
            "disk error at reading": ("SELECT",),
            "disk locked": ("BEGIN",),
        }.get(armed, WRITES)
        if word in at and faults.strikes(armed):
            if armed == "disk full, all undone" and self.real.in_transaction:
                self.real.execute("ROLLBACK")  # as SQLite does where it cannot undo one statement
            raise sqlite3.OperationalError(DISK[armed])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class FaultyEmbedder:
    """An embedder that fails, or answers with what is no vector."""

    def __init__(self, faults: Faults) -> None:
        self._good = HashingEmbedder(8)
        self._faults = faults

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._good.identity

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = self._good.embed(texts)
        how = self._faults.armed.removeprefix("embedder: ")
        if how not in EMBEDDINGS or not self._faults.strikes(f"embedder: {how}"):
            return vectors
        self._faults.left = 1  # it stays so until the event is over
        if how == "raises":
            raise ModelUnreachable("the embedder is down")
        if how == "foreign error":
            raise RuntimeError("a library's own error")
        broken = {"NaN": [float("nan")] * 8, "zero": [0.0] * 8, "wrong length": [1.0] * 5}
        if how in broken:
            return [broken[how] if self._faults.chance.random() < 0.7 else v for v in vectors]
        return vectors[:-1]

    def close(self) -> None:
        """It holds nothing."""


class OnDemand(WriteBack):
    """Write-back without its thread, so that a seed repeats: it runs when it is drained."""

    def _start(self) -> None:
        """No thread."""

    def drain(self, key: str, timeout: float, *, vectors: bool = True) -> bool:
        agent = self._agents[key]
        for _ in range(1000):
            agent.asked += 1
            agent.hurried = not vectors
            agent.writing.at = agent.embedding.at = 0.0
            self._visit(agent)
            if agent.writing.error is not None:
                return False
            if not agent.outbox.count():
                return True
        raise Stuck("a drain without end")


@contextmanager
def injected(faults: Faults) -> Iterator[None]:
    """Every database opened meanwhile is on the faulty disk, every tier in the faulty LanceDB."""
    connect = Database._connect

    def faulty(self: Database) -> Any:
        real = connect(self)
        real.execute("PRAGMA synchronous = OFF")  # nothing here survives a power cut anyway
        return FaultyConnection(real, faults)

    with patch.object(Database, "_connect", faulty), _tiers(faults):
        yield


@contextmanager
def _tiers(faults: Faults) -> Iterator[None]:
    """LanceDB's own calls fail inside of what translates their errors."""
    opened = TierStore._open

    def broken(self: TierStore, tier: Any, *, create: bool = False) -> Any:
        if faults.dead:
            raise Killed
        if faults.strikes("tiers: cannot be opened"):
            faults.left = 1
            raise OSError(28, "No space left on device")
        return opened(self, tier, create=create)

    put = TierStore.put

    def broken_put(self: TierStore, tier: Any, rows: Any) -> None:
        if rows and faults.strikes("tiers: put fails"):
            raise OSError(28, "No space left on device")
        put(self, tier, rows)
        if rows and faults.strikes("tiers: put is told as failed"):
            raise OSError(5, "Input/output error")

    with patch.object(TierStore, "_open", broken), patch.object(TierStore, "put", broken_put):
        yield


ARMED = (
    *DISK,
    *KILLS,
    *KILLS,
    *STOPS,
    *(f"embedder: {how}" for how in EMBEDDINGS),
    "tiers: cannot be opened",
    "tiers: put fails",
    "tiers: put is told as failed",
    "observer raises",
    "cancelled at an event",
)
