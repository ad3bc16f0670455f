"""What scale.py writes and asks: rows and questions of any number, alike on every machine.

Vectors lie around 2,000 directions, as embeddings of talk lie around its subjects: unit length,
noise of 32 dimensions in 384, so that neighbours differ as much as real ones do. Texts are words
of a Zipf vocabulary, every twentieth with an identifier. A question takes some words of one row
and a vector beside that row's; what it should find is whatever an exact comparison finds.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.tiers.schema import TierRow, rows_of_message

if TYPE_CHECKING:
    import numpy as np

DIMENSIONS = 384
CLUSTERS = 2_000
NOISE = 32  # dimensions in which neighbours differ
SPREAD = 0.7  # length of the noise beside a direction of length 1
WORDS = 20_000
START = datetime(2024, 1, 1, 8, 0, tzinfo=UTC)
DAYS = 1_000  # over which the rows are spread, whatever their number
SPEAKERS = ("Sam", "Ada", "Jon", "Mia")
TAGS = ("boat", "work", "family", "garden", "travel", "music", "books", "health", "money", "food")
BLOCK = 10_000  # rows that are made at a time


@dataclass(frozen=True, slots=True)
class Question:
    """Words of row `seq`, and a vector beside its own."""

    text: str
    vector: Any
    seq: int


class Corpus:
    """So many rows of one seed. `identity` is that of their embedder."""

    identity = EmbeddingIdentity("synthetic", DIMENSIONS, revision="1", recipe=1)

    def __init__(self, rows: int, seed: int) -> None:
        import numpy as np

        self.rows = rows
        self._seed = seed
        draw = np.random.default_rng((seed, 0))
        self._centres = _unit(draw.standard_normal((CLUSTERS, DIMENSIONS), dtype=np.float32))
        basis = draw.standard_normal((NOISE, DIMENSIONS), dtype=np.float32)
        self._basis = basis / np.linalg.norm(basis, axis=1, keepdims=True)
        weights = 1.0 / np.arange(1, WORDS + 1)
        self._cumulative = np.cumsum(weights / weights.sum())
        self._vocabulary = _vocabulary()

    def vectors(self, number: int) -> "np.ndarray[Any, Any]":
        """The vectors of one block."""
        import numpy as np

        count = min(BLOCK, self.rows - number * BLOCK)
        draw = np.random.default_rng((self._seed, 1, number))
        return self._around(draw, draw.integers(0, CLUSTERS, count))

    def messages(self, number: int) -> list[Message]:
        """The messages of one block."""
        import numpy as np

        first = number * BLOCK
        count = min(BLOCK, self.rows - first)
        draw = np.random.default_rng((self._seed, 4, number))
        lengths = draw.integers(8, 28, count)
        words = np.searchsorted(self._cumulative, draw.random(int(lengths.sum())))
        messages, at = [], 0
        for index in range(count):
            seq = first + index + 1
            taken = words[at : at + lengths[index]]
            at += lengths[index]
            text = " ".join([self._vocabulary[min(word, WORDS - 1)] for word in taken])
            if seq % 20 == 0:
                text += f" {identifier(seq)}"
            messages.append(
                Message(
                    "user",
                    (Text(text),),
                    seq=seq,
                    turn=seq,
                    conversation=seq // 40 + 1,
                    speaker=SPEAKERS[int(words[at - 1]) % len(SPEAKERS)],
                    said_at=self.said_at(seq),
                    provenance=Provenance("user"),
                )
            )
        return messages

    def said_at(self, seq: int) -> datetime:
        """When a row was said: all of them evenly over the same days."""
        return START + timedelta(days=DAYS) * (seq / self.rows)

    def blocks(self) -> Iterator[tuple[list[Message], list[TierRow]]]:
        """Everything, in order: messages and the rows that LanceDB gets of them."""
        before: list[Message] = []
        for number in range(-(-self.rows // BLOCK)):
            messages, rows = self.messages(number), []
            for message, vector in zip(messages, self.vectors(number), strict=True):
                row = rows_of_message(message, before)[0]
                rows.append(replace(row, tags=(tag_of(message.seq),), vector=vector))
                before = [*before, message][-2:]
            yield messages, rows

    def questions(self, count: int) -> list[Question]:
        """So many, about rows drawn at random."""
        import numpy as np

        draw = np.random.default_rng((self._seed, 2, self.rows))
        found, block = [], -1
        for seq in sorted(int(each) for each in draw.integers(1, self.rows + 1, count)):
            if block != (seq - 1) // BLOCK:
                block = (seq - 1) // BLOCK
                messages, vectors = self.messages(block), self.vectors(block)
            words = messages[(seq - 1) % BLOCK].text.split()
            chosen = [words[int(i)] for i in sorted(draw.choice(len(words), 5, replace=False))]
            noise = draw.standard_normal((1, NOISE), dtype=np.float32) @ self._basis
            beside = vectors[(seq - 1) % BLOCK] + 0.3 * SPREAD / NOISE**0.5 * noise
            found.append(Question(f"{' '.join(chosen)}?", _unit(beside)[0], seq))
        return found

    def vector_of(self, text: str) -> "np.ndarray[Any, Any]":
        """A vector for any other text: always the same."""
        import numpy as np

        code = zlib.crc32(text.encode())
        draw = np.random.default_rng((self._seed, 3, code))
        made: np.ndarray[Any, Any] = self._around(draw, np.array([code % CLUSTERS]))[0]
        return made

    def _around(self, draw: Any, clusters: Any) -> "np.ndarray[Any, Any]":
        import numpy as np

        noise = draw.standard_normal((len(clusters), NOISE), dtype=np.float32) @ self._basis
        return _unit(self._centres[clusters] + SPREAD / NOISE**0.5 * noise)


class CorpusEmbedder:
    """The embedder of a corpus: it knows the questions' vectors and invents all others."""

    def __init__(self, corpus: Corpus, questions: Sequence[Question]) -> None:
        self.identity = corpus.identity
        self._corpus = corpus
        self._known = {question.text: question.vector for question in questions}

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [
            [float(x) for x in self._known.get(text, self._corpus.vector_of(text))]
            for text in texts
        ]

    def close(self) -> None:
        """Nothing is held."""


def identifier(seq: int) -> str:
    """What every twentieth row holds, as no other does."""
    return f"KX-{seq * 7 + 10_000}"


def tag_of(seq: int) -> str:
    """Each tag stands on every tenth row."""
    return TAGS[seq % len(TAGS)]


def _unit(vectors: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    import numpy as np

    made: np.ndarray[Any, Any] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return made


def _vocabulary() -> list[str]:
    """Words that can be spoken, the more frequent the shorter."""
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    words = []
    for number in range(WORDS):
        word, rest = "", number + len(syllables)
        while rest:
            rest, index = divmod(rest, len(syllables))
            word = syllables[index] + word
        words.append(word)
    return words
