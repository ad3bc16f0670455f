"""When a model was last shown a message, passage or page by a search; for rankings that decay.

record() belongs into the transaction that stores the function's result: what was shown and not
stored was never seen.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pagemind.runtime.clock import Clock, parse_rfc3339, rfc3339
from pagemind.runtime.outbox import Tier
from pagemind.runtime.services import Hit
from pagemind.runtime.settings import HEAT_HIT
from pagemind.runtime.state.database import Database
from pagemind.runtime.state.pages import Pages
from pagemind.runtime.state.segments import Segments


class Accesses:
    """Keys are those of short ids: a seq, or the number of a passage or page."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock
        self._pages = Pages(database, clock)
        self._segments = Segments(database, clock)

    def record(self, tier: Tier, keys: Sequence[int]) -> None:
        """These were shown now."""
        at = rfc3339(self._clock.now())
        self._db.write_many(
            "INSERT INTO accesses (tier, key, at) VALUES (?,?,?) ON CONFLICT (tier, key)"
            " DO UPDATE SET at = excluded.at, visits = visits + 1",
            [(tier, key, at) for key in keys],
        )

    def record_shown(self, hits: Iterable[Hit]) -> None:
        """The same of search results, which warms their pages; what stands in a shared archive is
        not ours to count."""
        keys: dict[Tier, list[int]] = {}
        pages: set[str] = set()
        for hit in hits:
            if not hit.archive:
                keys.setdefault(hit.tier, []).append(int(hit.id[1:]))
                pages.add((hit.id if hit.tier == "pages" else hit.page) or "")
        for tier, some in keys.items():
            self.record(tier, some)
        for page in sorted(pages - {""}):
            self._pages.warm(int(page[1:]), HEAT_HIT)
        self._segments.visit([int(page[1:]) for page in pages - {""}])

    def read(self, tier: Tier, keys: Sequence[int]) -> Mapping[int, datetime]:
        """When each was last shown; those never shown are left out."""
        assert tier.isalpha()  # one of three words: rows_in takes no values but the keys
        rows = self._db.rows_in(f"SELECT key, at FROM accesses WHERE tier = '{tier}' AND key", keys)
        return {row["key"]: parse_rfc3339(row["at"]) for row in rows}

    def visits(self, tier: Tier, keys: Sequence[int]) -> Mapping[int, int]:
        """How often each was shown; those never shown are left out."""
        assert tier.isalpha()
        rows = self._db.rows_in(
            f"SELECT key, visits FROM accesses WHERE tier = '{tier}' AND key", keys
        )
        return {row["key"]: int(row["visits"]) for row in rows}
