"""VectorCache: the vectors of texts embedded lately, for queries and the unwritten tail.

A search waits for an embedder only so long: what comes later is there for the next one.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Sequence

from pagemind.runtime.errors import BadReply, ModelError, PagemindError
from pagemind.runtime.model import Embedder
from pagemind.runtime.models.patience import Patience
from pagemind.runtime.settings import EMBED_CACHE, EMBED_CACHE_CHARS, SEARCH_EMBED_SECONDS


class VectorCache:
    """Thread-safe; forgets the least recently used."""

    def __init__(
        self,
        embedder: Embedder,
        size: int = EMBED_CACHE,
        *,
        seconds: float = SEARCH_EMBED_SECONDS,
    ) -> None:
        self._embedder = embedder
        self._size = size
        self._patience = Patience("the embedder", seconds)
        self._guard = threading.Lock()
        self._known: OrderedDict[str, list[float]] = OrderedDict()

    def get(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; those not known are embedded in one call.

        A text of which the embedder makes nothing gets zeros, unless it is the first: with that
        one the others are compared. Raises ModelError.
        """
        texts = [text[:EMBED_CACHE_CHARS] for text in texts]
        with self._guard:
            have = {text: self._known[text] for text in texts if text in self._known}
        new = [text for text in dict.fromkeys(texts) if text not in have]
        if new:
            have.update(self._patience.wait_for(lambda: self._learned(new)))
        with self._guard:
            for text in texts:
                if text in self._known:
                    self._known.move_to_end(text)
        found = [have[text] for text in texts]
        if found and not any(found[0]):
            raise BadReply("the embedder made nothing of this text")
        return found

    def _learned(self, texts: Sequence[str]) -> dict[str, list[float]]:
        """Fresh vectors, kept. An embedder is anyone's code: search does without it, so whatever
        it raises is a ModelError."""
        try:
            vectors = self._embedder.embed(texts)
            size = self._embedder.identity.dimensions
        except PagemindError:
            raise
        except Exception as error:
            raise ModelError(f"the embedder failed: {type(error).__name__}: {error}") from error
        if len(vectors) != len(texts) or any(len(each) != size for each in vectors):
            raise BadReply(f"the embedder gave no {len(texts)} vectors of {size} dimensions")
        sound = [each if math.isfinite(sum(each)) else [0.0] * size for each in vectors]
        made = dict(zip(texts, sound, strict=True))
        with self._guard:
            self._known.update(made)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return made
