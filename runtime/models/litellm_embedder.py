"""An embedding model behind litellm: texts to unit vectors, in batches, each answer checked.

litellm does no batching and passes on whatever the server sent: here batches are bounded by count
and by size, vectors are put back in order by their index, and a vector of the wrong length, with
NaN, or of length zero is an error rather than a row that no search can find.
"""

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.errors import BadReply
from pagemind.runtime.legalise import provider_of
from pagemind.runtime.message import clean_text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.models import litellm_library
from pagemind.runtime.models.litellm_errors import Call, translate
from pagemind.runtime.models.retry import Backoff, retrying
from pagemind.runtime.models.stream_accumulator import get
from pagemind.runtime.models.window_probe import api_base_of, is_local

_BATCH_TEXTS = 256  # servers refuse more (OpenAI 2,048, many others 256)
_BATCH_TOKENS = 100_000  # OpenAI refuses 300,000 in one request; counted roughly, hence the margin
_BYTES_PER_TOKEN = 3
_DIMENSION_PROBE = "dimensions"  # what is embedded once to learn the length of a vector


class LitellmEmbedder:
    """`name` is litellm's (`openai/text-embedding-3-small`). `dimensions` asks for shorter
    vectors where the provider can make them; without it the model's own length is learned.
    """

    def __init__(
        self,
        name: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        params: Mapping[str, Any] | None = None,
        timeout: float = settings.MODEL_SILENCE_SECONDS,
        backoff: Backoff | None = None,
    ) -> None:
        self._name = name
        self._api_base, self._api_key = api_base, api_key
        self._asked = dimensions
        self._dimensions = dimensions
        self._params = dict(params or {})
        self._timeout = timeout
        self._backoff = backoff or Backoff()
        self._local = is_local(api_base_of(name, api_base))
        self._lock = threading.Lock()

    @property
    def identity(self) -> EmbeddingIdentity:
        with self._lock:
            dimensions = self._dimensions
        if dimensions is None:
            dimensions = len(self.embed([_DIMENSION_PROBE])[0])
        return EmbeddingIdentity(self._name, dimensions, recipe=settings.TEXT_RECIPE)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of unit length for each text, in order; an empty text counts as a space."""
        vectors: list[list[float]] = []
        for batch in _batches([clean_text(t) if t.strip() else " " for t in texts]):
            vectors += retrying(partial(self._ask, batch), self._backoff, local=self._local)
        return vectors

    def close(self) -> None:
        """Nothing is held."""

    def _ask(self, batch: list[str]) -> list[list[float]]:
        litellm = litellm_library.load()
        arguments: dict[str, Any] = {
            **self._params,
            "model": self._name,
            "input": batch,
            "timeout": self._timeout,
            "max_retries": 0,
            "num_retries": 0,
        }
        if self._asked is not None:
            arguments["dimensions"] = self._asked
            # litellm allows it for OpenAI's own names only, though many servers understand it.
            arguments["allowed_openai_params"] = ["dimensions"]
        if self._api_base:
            arguments["api_base"] = self._api_base
        if self._api_key:
            arguments["api_key"] = self._api_key
        elif self._local and provider_of(self._name) == "openai":
            arguments["api_key"] = "none"  # servers at home want none, but the SDK insists
        try:
            response = litellm.embedding(**arguments)
        except Exception as error:
            raise translate(error, Call(self._name, self._api_base, self._api_key)) from None
        return self._checked(get(response, "data"), len(batch))

    def _checked(self, data: Any, expected: int) -> list[list[float]]:
        items = data if isinstance(data, list) else []
        if len(items) != expected:
            raise BadReply(f"{self._name} answered {len(items)} vectors for {expected} texts")
        placed: dict[int, list[float]] = {}
        for position, item in enumerate(items):
            index = get(item, "index")
            placed[index if isinstance(index, int) else position] = self._unit(
                get(item, "embedding")
            )
        if sorted(placed) != list(range(expected)):
            raise BadReply(f"{self._name} answered the same text twice")
        return [placed[n] for n in range(expected)]

    def _unit(self, vector: Any) -> list[float]:
        if not isinstance(vector, list) or not all(isinstance(v, int | float) for v in vector):
            raise BadReply(f"{self._name} answered something that is not a vector of numbers")
        norm = math.sqrt(sum(v * v for v in vector)) if vector else 0.0
        if not math.isfinite(norm) or norm == 0.0:
            raise BadReply(f"{self._name} answered a vector of length {norm}")
        with self._lock:
            self._dimensions = self._dimensions or len(vector)
            wanted = self._dimensions
        if len(vector) != wanted:
            raise BadReply(
                f"{self._name} answered vectors of {len(vector)} dimensions, not {wanted}",
                hint="set dimensions to what the model makes",
            )
        return [v / norm for v in vector]


def _batches(texts: list[str]) -> Iterator[list[str]]:
    """Consecutive texts, bounded by number and by rough tokens; a huge text goes alone."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        size = len(text.encode()) // _BYTES_PER_TOKEN + 1
        if batch and (len(batch) == _BATCH_TEXTS or tokens + size > _BATCH_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch
