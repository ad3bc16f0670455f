"""Usual words: how often a word is said in an agent's life, from a sample of its messages.

A line of words that are said again and again ("tell me more about the boat") tells little, one
with words that are hardly ever said ("the boat is called Nomad") tells something. The sample is
spread evenly over the whole history and drawn anew as that grows.
"""

import math
from collections import Counter
from collections.abc import Iterable

from pagemind.runtime.models.plain_talk import content
from pagemind.runtime.settings import USUAL_GROWTH, USUAL_SAMPLE
from pagemind.runtime.state.state import State


class UsualWords:
    """Counted when first asked for."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._times: Counter[str] = Counter()
        self._messages = 0  # in the sample
        self._until = 0  # the newest seq up to which the counts will do

    def rarity(self, words: Iterable[str]) -> float:
        """How rare these words are on average: 1 where each is said once at most, 0 for none.
        Words are stems, as plain_talk.content() makes them."""
        times = self._counted()
        shares = [1 / max(1, times[word]) for word in words]
        return sum(shares) / len(shares) if shares else 0.0

    def weight(self, word: str) -> float:
        """How rare a word is as it is written: 1 where it is said once at most, towards 0 the more
        often; 0 for one that carries no meaning."""
        times, stems = self._counted(), content(word)
        if not stems:
            return 0.0
        most = max(times[stem] for stem in stems)
        return 1 - math.log(max(1, most)) / math.log(max(2, self._messages) + 1)

    def _counted(self) -> Counter[str]:
        journal = self._state.journal
        last = journal.last_seq
        if last > self._until:
            step = max(1.0, last / USUAL_SAMPLE)
            seqs = [1 + int(at * step) for at in range(int(last / step))]
            said = [
                content(message.said)
                for message in journal.get(seqs).values()
                if message.kind in ("talk", "observation") and message.role != "tool"
            ]
            self._times = Counter(word for words in said for word in words)
            self._messages = len(said)
            self._until = int(last * USUAL_GROWTH)
        return self._times
