"""What a search may ask of one agent's state: implements tiers.view.View for agents and readers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from pagemind.runtime.fact_sources import facts_about, newer_messages
from pagemind.runtime.message import Message
from pagemind.runtime.outbox import OutboxItem, Tier
from pagemind.runtime.page import Page
from pagemind.runtime.passage import Passage
from pagemind.runtime.state.state import State


class StateView:
    """`resident` says whether a seq stands in main context now; a reader beside the agent gives
    the answer from the newest epoch."""

    def __init__(self, state: State, resident: Callable[[int], bool]) -> None:
        self._state = state
        self._resident = resident

    def messages(self, seqs: Sequence[int]) -> Mapping[int, Message]:
        journal = self._state.journal
        found = journal.get(seqs)
        if (live := journal.live_ranges()) is None:
            return found
        return {s: m for s, m in found.items() if any(low <= s <= high for low, high in live)}

    def passages(self, numbers: Sequence[int]) -> Mapping[int, Passage]:
        found = self._state.passages.get(numbers)
        return {n: p for n, p in found.items() if p.provenance.status != "retired"}

    def pages(self, numbers: Sequence[int]) -> Mapping[int, Page]:
        return self._state.pages.get_all(numbers)

    def pending(self, limit: int) -> list[OutboxItem]:
        return self._state.outbox.pending(limit)

    def live(self) -> Sequence[tuple[int, int]] | None:
        return self._state.journal.live_ranges()

    def page_of(self, seq: int) -> str | None:
        number = self._state.pages.of([seq]).get(seq)
        return f"p{number}" if number else None

    def in_context(self, seq: int) -> bool:
        return self._resident(seq)

    def accessed(self, tier: Tier, keys: Sequence[int]) -> Mapping[int, datetime]:
        return self._state.accesses.read(tier, keys)

    def superseded(self, numbers: Sequence[int]) -> Mapping[int, Sequence[Passage]]:
        found = {number: self._state.passages.superseded_by(number) for number in numbers}
        return {
            number: [each for each in reversed(several) if each.provenance.status == "active"]
            for number, several in found.items()
        }

    def about(self, words: str) -> Collection[str]:
        return facts_about(self._state, words)

    def newer(self, seqs: Sequence[int], words: str) -> Mapping[int, Sequence[int]]:
        return newer_messages(self._state, seqs, words)

    def speakers(self) -> Sequence[str]:
        return self._state.journal.speakers()

    def private(self) -> bool:
        return self._state.passages.any_private()

    def count(self, tier: Tier) -> int:
        if tier == "recall":
            return self._state.journal.count()
        passages, pages = self._state.passages, self._state.pages
        return passages.searched() if tier == "archival" else pages.count()
