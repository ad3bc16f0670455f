"""Which of a few short texts bear on a question: by meaning, where there is an embedder, else by
their words.

`Relevance.scores()` never raises for a failing embedder: what it would have said is lost, the
words remain.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence

from pagemind.runtime.errors import PagemindError
from pagemind.runtime.model import Embedder
from pagemind.runtime.models.plain_talk import owned, stem, terms

_CACHED = 2048  # vectors of lines seen before; a few megabytes


class Relevance:
    """Scores from 0 to 1; above `settings.GUIDED_RELEVANT` a text answers the question."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[str, list[float]] = OrderedDict()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, in order."""
        shared = [_overlap(question, text) for text in texts]
        if self._embedder is None or not texts:
            return shared
        try:
            mine, *others = self._embed([turned(question), *texts])
        except PagemindError:
            return shared
        return [
            # Meaning leads; the words break ties between lines of one kind.
            max(0.0, sum(a * b for a, b in zip(mine, other, strict=True))) + 0.05 * words
            for other, words in zip(others, shared, strict=True)
        ]

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        assert self._embedder is not None
        missing = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if missing:
            self._vectors.update(zip(missing, self._embedder.embed(missing), strict=True))
        found = [self._vectors[text] for text in texts]
        while len(self._vectors) > _CACHED:
            self._vectors.popitem(last=False)
        return found


def turned(question: str) -> str:
    """The question as it would be put to the person: `where do I live` is `where do you live`."""
    text = re.sub(r"\bam I\b", "are you", question)
    text = re.sub(r"\b(?:[Mm]y|[Oo]ur)\b", "your", text)
    return re.sub(r"\b(?:I|me|we|us)\b", "you", text)


def _overlap(question: str, text: str) -> float:
    """The share of the question's meaningful stems that the text has. A question without any,
    such as `who is it?`, is judged by its last word."""
    asked = terms(question) | set(owned(question))
    if not asked:
        last = re.findall(r"\w+", question)
        asked = frozenset({stem(last[-1])}) if last else frozenset()
        return float(bool(asked & {stem(word) for word in re.findall(r"\w+", text)}))
    said = {stem(word) for word in re.findall(r"\w+", text)}
    return len(asked & said) / len(asked)
