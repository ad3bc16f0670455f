"""SoundEmbedder: makes anyone's embedder keep the promises of the Embedder protocol.

Whatever it raises or answers, the caller sees unit vectors of one length or a ModelError, within a
time. A text of which it makes nothing usable (NaN, infinity, zeros) gets a vector of zeros, so that
it costs no other text its own; where that is every text, it is an error.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pagemind.runtime.errors import BadReply, ModelError, PagemindError
from pagemind.runtime.model import Embedder, EmbeddingIdentity
from pagemind.runtime.models.patience import Patience
from pagemind.runtime.settings import EMBED_SECONDS


class SoundEmbedder:
    """Around an embedder that was handed in."""

    def __init__(self, embedder: Embedder, *, seconds: float = EMBED_SECONDS) -> None:
        self._embedder = embedder
        self._name = type(embedder).__name__
        self._patience = Patience(f"the embedder {self._name}", seconds)
        self._identity: EmbeddingIdentity | None = None

    @property
    def identity(self) -> EmbeddingIdentity:
        """That of the embedder, asked once. Raises ModelError."""
        if self._identity is None:
            found: Any = self._called(lambda: self._embedder.identity)
            size = getattr(found, "dimensions", None)
            if not isinstance(found, EmbeddingIdentity) or type(size) is not int or size < 1:
                raise BadReply(
                    f"the embedder {self._name} has no identity",
                    hint="identity is an EmbeddingIdentity(model, dimensions)",
                )
            self._identity = replace(found)
        return self._identity

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in order. Raises ModelError."""
        if not texts:
            return []
        size = self.identity.dimensions
        answer = self._called(lambda: list(self._embedder.embed(texts)))
        if len(answer) != len(texts):
            raise BadReply(
                f"the embedder {self._name} gave {len(answer)} vectors for {len(texts)} texts"
            )
        return settled([self._unit(vector, size) for vector in answer], size, self._name)

    def close(self) -> None:
        self._embedder.close()

    def _called(self, call: Any) -> Any:
        try:
            return self._patience.wait_for(call)
        except PagemindError:
            raise
        except Exception as error:
            raise ModelError(
                f"the embedder {self._name} failed: {type(error).__name__}: {error}"
            ) from error

    def _unit(self, vector: Any, size: int) -> list[float] | str:
        if isinstance(vector, str | bytes) or not isinstance(vector, Iterable):
            raise BadReply(f"the embedder {self._name} gave something that is no vector")
        try:
            values = [_number(value) for value in vector]
        except (TypeError, ValueError, OverflowError):
            raise BadReply(
                f"the embedder {self._name} gave a vector of something else than numbers"
            ) from None
        if len(values) != size:
            raise BadReply(
                f"the embedder {self._name} gave vectors of {len(values)} dimensions, not {size}"
            )
        return unit(values)


def _number(value: Any) -> float:
    if isinstance(value, str | bytes | bool):
        raise TypeError
    return float(value)


def unit(values: Sequence[float]) -> list[float] | str:
    """The vector at length one, or what is wrong with it."""
    if not all(map(math.isfinite, values)):
        return "holds NaN or infinity"
    norm = math.sqrt(sum(v * v for v in values))
    if not norm:
        return "has length 0"
    if not math.isfinite(norm):
        return "is too long to be measured"
    return [v / norm for v in values]


def settled(vectors: Sequence[list[float] | str], size: int, name: str) -> list[list[float]]:
    """The vectors, zeros where there is none. Raises BadReply where there is none at all."""
    made = [each if isinstance(each, list) else [0.0] * size for each in vectors]
    faults = [each for each in vectors if isinstance(each, str)]
    if faults and len(faults) == len(vectors):
        raise BadReply(f"a vector of {name} {faults[0]}")
    return made
