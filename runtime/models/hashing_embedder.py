"""The hashing embedder: deterministic, instant, and blind to meaning. For tests and benchmarks.

Texts that share words get close vectors. It is never a silent fallback: one asks for it by name.
"""

import math
import re
import zlib
from collections.abc import Sequence

from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.settings import TEXT_RECIPE

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Each word adds ±1 to one of the dimensions; the sum is scaled to unit length."""

    def __init__(self, dimensions: int = 64) -> None:
        self.identity = EmbeddingIdentity(
            model="hashing",
            dimensions=dimensions,
            revision="1",
            pooling="sum",
            recipe=TEXT_RECIPE,
        )

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def close(self) -> None:
        """Nothing is held."""

    def _vector(self, text: str) -> list[float]:
        size = self.identity.dimensions
        vector = [0.0] * size
        for word in _WORD.findall(text.lower()):
            code = zlib.crc32(word.encode("utf-8", "replace"))
            vector[code % size] += 1.0 if code & 0x8000_0000 else -1.0
        length = math.sqrt(sum(x * x for x in vector))
        if length == 0.0:  # no words, or words that cancel out: unit length is promised
            vector[0], length = 1.0, 1.0
        return [x / length for x in vector]
