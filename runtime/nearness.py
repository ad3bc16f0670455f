"""How near is near: from which cosine on an embedder means that a text answers a question.

Every model has a scale of its own: unrelated texts are at 0.1 for one and at 0.7 for another. So
it is asked about pairs that are known: questions with answers that share no word with them. What
it says is kept in the agent's state.
"""

import logging

from pagemind.runtime.errors import PagemindError
from pagemind.runtime.model import Embedder
from pagemind.runtime.models.patience import Patience
from pagemind.runtime.settings import PREFETCH_SECONDS
from pagemind.runtime.state.state import State

_log = logging.getLogger("pagemind.prefetch")

# Each answer belongs to its own question and to no other.
_PAIRS = (
    ("Where do I live?", "My flat is in Lisbon."),
    ("What is my job?", "I work as a nurse at the clinic."),
    ("Which pet do I have?", "Our cat is a black Siamese."),
    ("What food must I avoid?", "I am allergic to nuts."),
    ("What is my age?", "My birthday is on 3 May 1980."),
    ("Who am I married to?", "My husband is called Paul."),
    ("Which vehicle do I drive?", "Our car is a red Volvo."),
    ("Which instrument do I play?", "I have had piano lessons since school."),
    ("What sport do I do?", "On Tuesdays I go swimming."),
    ("What did the doctor say?", "The physician told me to rest for a week."),
    ("Did the repair cost much?", "The mechanic charged 300 euros."),
    ("Which novel did I like?", "I loved the book about the whale."),
)
_STRAY = 3  # of a hundred unrelated pairs that may lie above


def near_from(embedder: Embedder) -> float | None:
    """The cosine of a question and its answer, as a rule; None for an embedder that only compares
    words: there unrelated texts are as near. One call of the embedder; raises what that raises."""
    vectors = embedder.embed([text for pair in _PAIRS for text in pair])
    asked, said = vectors[::2], vectors[1::2]
    related: list[float] = []
    unrelated: list[float] = []
    for row, question in enumerate(asked):
        for column, answer in enumerate(said):
            cosine = sum(a * b for a, b in zip(question, answer, strict=True))
            (related if row == column else unrelated).append(cosine)
    related.sort()
    unrelated.sort()
    middle = related[len(related) // 2]
    highest = unrelated[-1 - len(unrelated) * _STRAY // 100]
    return middle if middle > highest else None


class Nearness:
    """near_from() of an agent's embedder, asked once; None without one, or while it fails or does
    not answer within `seconds`: a turn waits for it."""

    def __init__(
        self, state: State, embedder: Embedder | None, *, seconds: float = PREFETCH_SECONDS
    ) -> None:
        self._state = state
        self._embedder = embedder
        self._patience = Patience("the embedder", seconds)
        self._known: tuple[float | None] | None = None

    def get(self) -> float | None:
        """Never raises for the embedder's sake."""
        if self._embedder is None:
            return None
        if self._known is None:
            try:
                self._known = (self._look(self._embedder),)
            except PagemindError as error:
                _log.warning("prefetch goes by words: %s", error)
                return None
        return self._known[0]

    def _look(self, embedder: Embedder) -> float | None:
        identity = embedder.identity
        key = f"near {identity.model} {identity.dimensions} {identity.revision}"
        stored = self._state.database.meta(key)
        if not stored:
            found = self._patience.wait_for(lambda: near_from(embedder))
            stored = "none" if found is None else f"{found:.4f}"
            self._state.database.set_meta(key, stored)
        return None if stored == "none" else float(stored)
