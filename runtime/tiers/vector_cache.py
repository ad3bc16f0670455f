"""VectorCache: the vectors of texts embedded lately, for queries and the unwritten tail."""

import math
import threading
from collections import OrderedDict
from collections.abc import Sequence

from pagemind.runtime.errors import BadReply, ModelError, PagemindError
from pagemind.runtime.model import Embedder
from pagemind.runtime.settings import EMBED_CACHE


class VectorCache:
    """Thread-safe; forgets the least recently used."""

    def __init__(self, embedder: Embedder, size: int = EMBED_CACHE) -> None:
        self._embedder = embedder
        self._size = size
        self._guard = threading.Lock()
        self._known: OrderedDict[str, list[float]] = OrderedDict()

    def get(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; those not known are embedded in one call. Raises ModelError."""
        with self._guard:
            have = {text: self._known[text] for text in texts if text in self._known}
        new = [text for text in dict.fromkeys(texts) if text not in have]
        if new:
            have.update(zip(new, self._embedded(new), strict=True))
        with self._guard:
            for text in texts:
                self._known[text] = have[text]
                self._known.move_to_end(text)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return [have[text] for text in texts]

    def _embedded(self, texts: Sequence[str]) -> list[list[float]]:
        """Fresh vectors that can be compared. An embedder is anyone's code: search does without
        it, so whatever it raises is a ModelError."""
        try:
            vectors = self._embedder.embed(texts)
            size = self._embedder.identity.dimensions
        except PagemindError:
            raise
        except Exception as error:
            raise ModelError(f"the embedder failed: {type(error).__name__}: {error}") from error
        sound = all(len(each) == size and math.isfinite(sum(each)) for each in vectors)
        if len(vectors) != len(texts) or not sound:
            raise BadReply(f"the embedder gave no {len(texts)} vectors of {size} dimensions")
        return vectors
