"""Prefetch: memories that the runtime places before an event, unasked, within a token budget.

They stand inside the event's own message, fenced, for the steps of that turn; they are never
stored as history and never shown as the person's words.
"""

from collections.abc import Callable
from datetime import tzinfo

from pagemind.runtime.services import Archival, Hit, Recall, SearchFilters
from pagemind.runtime.shorten import shorten
from pagemind.runtime.template import load

_CANDIDATES = 6  # of each tier; more never fit a budget of a few hundred tokens
_MIN_LINE_TOKENS = 12


class Prefetcher:
    """`tokens` is the budget of the fenced text; 0 switches it off."""

    def __init__(
        self,
        tokens: Callable[[], int],
        recall: Recall,
        archival: Archival,
        count: Callable[[str], int],
        zone: tzinfo,
    ) -> None:
        self._tokens = tokens
        self._recall = recall
        self._archival = archival
        self._count = count
        self._zone = zone

    def fetch(self, text: str) -> str:
        """The fenced memories that bear on an event's text; "" for none."""
        budget = self._tokens()
        if budget <= 0 or len(text.split()) < 2:
            return ""
        found = [
            *self._archival.search(text, SearchFilters(), _CANDIDATES).hits,
            *self._recall.search(text, SearchFilters(), _CANDIDATES).hits,
        ]
        fresh = [hit for hit in found if not hit.in_context]
        frame = load("prefetch")
        left = budget - self._count(frame.fill(memories=""))
        lines: list[str] = []
        for hit in sorted(fresh, key=lambda hit: -hit.score):
            if left < _MIN_LINE_TOKENS:
                break
            line = shorten(self._line(hit), left, self._count)
            lines.append(line)
            left -= self._count(line) + 1
        return frame.fill(memories="\n".join(lines)).strip() if lines else ""

    def _line(self, hit: Hit) -> str:
        when = hit.said_at.astimezone(self._zone).strftime("%Y-%m-%d ") if hit.said_at else ""
        who = f"{hit.speaker or hit.role}: " if hit.tier == "recall" else ""
        return f"{hit.id} {when}{who}{' '.join(hit.text.split())}"
