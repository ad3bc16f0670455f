"""Chains (home.db): what one first message has led to, over all agents and processes.

Without a bound agents could write to each other for ever. A chain also keeps what its turns have
cost, for whoever pays for all of it.
"""

from datetime import timedelta

from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.model import Usage
from pagemind.runtime.state.database import Database

_KEPT = timedelta(days=30)


class Chains:
    """Those of one home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    def count(self, chain: str, most: int) -> bool:
        """One more message, unless there were `most` of them."""
        now = self._clock.now()
        with self._db.transaction():
            sent = self._db.number("SELECT messages FROM agent_chains WHERE id = ?", (chain,))
            if sent >= most:
                return False
            if not sent:
                self._db.write("DELETE FROM agent_chains WHERE at < ?", (rfc3339(now - _KEPT),))
            self._db.write(
                "INSERT INTO agent_chains (id, messages, at) VALUES (?, 1, ?)"
                " ON CONFLICT (id) DO UPDATE SET messages = messages + 1",
                (chain, rfc3339(now)),
            )
        return True

    def spend(self, chain: str, *, steps: int, usage: Usage, cost: float, unpriced: bool) -> None:
        """A turn of it has ended."""
        self._db.write(
            "UPDATE agent_chains SET steps = steps + ?, prompt_tokens = prompt_tokens + ?,"
            " completion_tokens = completion_tokens + ?, cached_tokens = cached_tokens + ?,"
            " cost = cost + ?, unpriced = unpriced + ? WHERE id = ?",
            (
                steps,
                usage.prompt_tokens,
                usage.completion_tokens,
                usage.cached_tokens,
                cost,
                steps if unpriced else 0,
                chain,
            ),
        )

    def spent(self, begin: str) -> tuple[int, Usage, float, int]:
        """Over the chains whose ids begin so: steps, tokens, known cost in US dollars, and how
        many steps have no known price; as History.usage_of."""
        row = self._db.one(
            "SELECT sum(steps) AS steps, sum(prompt_tokens) AS prompt, sum(completion_tokens) AS"
            " completion, sum(cached_tokens) AS cached, sum(cost) AS cost, sum(unpriced) AS"
            " unpriced FROM agent_chains WHERE id >= ? AND id < ?",
            (begin, begin + "\x7f"),
        )
        assert row is not None
        usage = Usage(row["prompt"] or 0, row["completion"] or 0, row["cached"] or 0)
        return row["steps"] or 0, usage, float(row["cost"] or 0.0), row["unpriced"] or 0
