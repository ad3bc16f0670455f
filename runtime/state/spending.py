"""What was spent beside the turns, in the home: by day, agent, model and purpose. And what turns
took, from an agent's own steps.

It stands in home.db and not with the agents: what was spent stays spent when one is deleted. It is
kept by the hour (of UTC), since a day's budget begins at the midnight of its agent.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pagemind.runtime.clock import Clock
from pagemind.runtime.errors import PagemindError
from pagemind.runtime.model import Usage
from pagemind.runtime.settings import SPENDING_UNPAID
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.history import OWN

_log = logging.getLogger("pagemind.spending")
# Made when the first call is counted: it needs no step of the home's schema.
_TABLE = """CREATE TABLE IF NOT EXISTS spending (
    hour TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cost REAL NOT NULL,
    unpriced INTEGER NOT NULL,
    PRIMARY KEY (hour, agent, model, purpose)
) WITHOUT ROWID"""
_COLUMNS = "calls, prompt_tokens, completion_tokens, cached_tokens, cost, unpriced"


@dataclass(frozen=True, slots=True)
class Spent:
    """What some calls took. `day` is a day of UTC, or an hour of one where they are counted;
    `unpriced` is how many of the calls have no known price; of tokens, 0 is unknown."""

    day: str
    agent: str
    model: str
    purpose: str
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return replace(
            self,
            calls=self.calls + other.calls,
            usage=self.usage + other.usage,
            cost=self.cost + other.cost,
            unpriced=self.unpriced + other.unpriced,
        )


Key = tuple[str, str, str, str]


def summed(spent: Iterable[Spent], key: Callable[[Spent], Key]) -> list[Spent]:
    """One entry for each key (day, agent, model, purpose), in order of the first."""
    found: dict[Key, Spent] = {}
    for each in spent:
        of = key(each)
        found[of] = found.get(of, Spent(*of)) + each
    return list(found.values())


class Spending:
    """Counts calls beside the turns. What cost nothing is written down in batches."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[Spent] = []

    def tell(self, agent: str, model: str, purpose: str, usage: Usage, cost: float | None) -> None:
        """One call was answered."""
        hour = f"{self._clock.now():%Y-%m-%dT%H}"
        call = Spent(hour, agent, model, purpose, 1, usage, cost or 0.0, int(cost is None))
        with self._lock:
            self._waiting.append(call)
            free = cost == 0 and len(self._waiting) < SPENDING_UNPAID
        if not free:
            try:
                self.flush()
            except PagemindError as error:  # what was asked for is done: counting it may wait
                _log.warning("usage is not counted: %s", error)

    def flush(self) -> None:
        """Write down what waits."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        with self._db.transaction():
            self._db.write(_TABLE)
            self._db.write_many(
                f"INSERT INTO spending (hour, agent, model, purpose, {_COLUMNS})"
                " VALUES (?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET calls = calls +"
                " excluded.calls, prompt_tokens = prompt_tokens + excluded.prompt_tokens,"
                " completion_tokens = completion_tokens + excluded.completion_tokens,"
                " cached_tokens = cached_tokens + excluded.cached_tokens, cost = cost +"
                " excluded.cost, unpriced = unpriced + excluded.unpriced",
                [
                    (
                        *(each.day, each.agent, each.model, each.purpose, each.calls),
                        *(each.usage.prompt_tokens, each.usage.completion_tokens),
                        *(each.usage.cached_tokens, each.cost, each.unpriced),
                    )
                    for each in summed(waiting, lambda s: (s.day, s.agent, s.model, s.purpose))
                ],
            )

    def all(self) -> list[Spent]:
        """Everything by day, the oldest first."""
        self.flush()
        if not self._there():
            return []
        hours = [
            Spent(
                row["hour"][:10],
                row["agent"],
                row["model"],
                row["purpose"],
                row["calls"],
                Usage(row["prompt_tokens"], row["completion_tokens"], row["cached_tokens"]),
                row["cost"],
                row["unpriced"],
            )
            for row in self._db.rows("SELECT * FROM spending")
        ]
        days = summed(hours, lambda s: (s.day, s.agent, s.model, s.purpose))
        return sorted(days, key=lambda s: (s.day, s.agent, s.model, s.purpose))

    def cost_since(self, agent: str, at: datetime, purpose: str = "") -> float:
        """US dollars of known cost that were spent for an agent since the hour of a time, on one
        purpose or all."""
        if not self._there():  # what waits to be written cost nothing
            return 0.0
        row = self._db.one(
            "SELECT sum(cost) AS cost FROM spending WHERE agent = ? AND hour >= ?"
            " AND (? = '' OR purpose = ?)",
            (agent, f"{at.astimezone(UTC):%Y-%m-%dT%H}", purpose, purpose),
        )
        return float(row["cost"] or 0.0) if row else 0.0

    def _there(self) -> bool:
        known = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'spending'"
        return bool(self._db.number(known))


def of_turns(database: Database, agent: str) -> list[Spent]:
    """What an agent's turns took, oldest day first. A step that got no answer is a call, too."""
    return [
        Spent(
            row["day"],
            agent,
            row["model"],
            "turn",
            row["calls"],
            Usage(row["prompt"] or 0, row["completion"] or 0, row["cached"] or 0),
            float(row["cost"] or 0.0),
            row["calls"] - row["priced"],
        )
        for row in database.rows(
            "SELECT substr(at, 1, 10) AS day, model, count(*) AS calls, sum(prompt_tokens) AS"
            " prompt, sum(completion_tokens) AS completion, sum(cached_tokens) AS cached,"
            f" sum(cost) AS cost, count(cost) AS priced FROM steps WHERE {OWN} GROUP BY day, model"
            " ORDER BY day"
        )
    ]
