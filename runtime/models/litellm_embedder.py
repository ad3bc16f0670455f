"""An embedding model behind litellm: texts to unit vectors, in batches, each answer checked.

litellm does no batching and passes on whatever the server sent: here batches are bounded by count
and by size, and halved where a server wants fewer; a text that is too long is cut until it is
taken; vectors are put back in order by their index. A wrong length is an error; NaN and zeros
become zeros, which no table keeps, unless nothing else came.
"""

import base64
import binascii
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.errors import BadReply, BadRequest, ContextOverflow
from pagemind.runtime.legalise import provider_of
from pagemind.runtime.message import clean_text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.models import litellm_library
from pagemind.runtime.models.litellm_errors import Call, translate
from pagemind.runtime.models.metered import bill
from pagemind.runtime.models.retry import Backoff, retrying
from pagemind.runtime.models.sound_embedder import settled, unit
from pagemind.runtime.models.stream_accumulator import get
from pagemind.runtime.models.window_probe import api_base_of, is_local, registry_window

_BATCH_TEXTS = 256  # servers refuse more (OpenAI 2,048, many others 256)
_BATCH_TOKENS = 100_000  # OpenAI refuses 300,000 in one request; counted roughly, hence the margin
_BYTES_PER_TOKEN = 3
_FEWEST_TEXTS = 16  # a server that takes no more than this is asked so often as it needs
_WINDOW_TOKENS = 8192  # where neither the server nor the registry says
_SHORT_CHARS = 64  # a text that is refused at this length is not too long
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
        self._longest = (registry_window(name) or _WINDOW_TOKENS) * _BYTES_PER_TOKEN
        self._most = _BATCH_TEXTS
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
        sent = [self._cut(clean_text(t)) if t.strip() else " " for t in texts]
        for batch in _batches(sent, self._most):
            vectors += self._embedded(batch)
        return vectors

    def close(self) -> None:
        """Nothing is held."""

    def _cut(self, text: str) -> str:
        """What the model may read of a text, counted roughly."""
        if len(text) * 4 <= self._longest:
            return text
        return text.encode()[: self._longest].decode("utf-8", "ignore")

    def _embedded(self, batch: list[str]) -> list[list[float]]:
        """A batch; what the server refuses goes in halves: fewer texts, then less of one."""
        try:
            return retrying(partial(self._ask, batch), self._backoff, local=self._local)
        except (ContextOverflow, BadRequest) as error:
            refused = error
        half = len(batch) // 2
        if half:
            # Refused for what it is, the first text says so in the end, and nothing more is asked.
            vectors = self._embedded(batch[:half])
            if isinstance(refused, BadRequest):  # it was their number
                self._most = max(_FEWEST_TEXTS, min(self._most, half))
            return vectors + self._embedded(batch[half:])
        if isinstance(refused, BadRequest) or len(batch[0]) <= _SHORT_CHARS:
            raise refused
        return self._embedded([batch[0][: len(batch[0]) // 2]])

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
        bill(_tokens(response), self._cost(litellm, response))
        return self._checked(get(response, "data"), len(batch))

    def _cost(self, litellm: Any, response: Any) -> float | None:
        """US dollars, where the price is known."""
        try:
            return float(litellm.completion_cost(completion_response=response, model=self._name))
        except Exception:  # litellm raises all kinds for a model without a price
            return 0.0 if self._local else None

    def _checked(self, data: Any, expected: int) -> list[list[float]]:
        items = data if isinstance(data, list) else []
        if len(items) != expected:
            raise BadReply(f"{self._name} answered {len(items)} vectors for {expected} texts")
        placed: dict[int, list[float] | str] = {}
        for position, item in enumerate(items):
            index = get(item, "index")
            vector = self._vector(get(item, "embedding"))
            placed[index if isinstance(index, int) else position] = unit(vector)
        if sorted(placed) != list(range(expected)):
            raise BadReply(f"{self._name} answered the same text twice")
        size = self._dimensions or 0
        return settled([placed[n] for n in range(expected)], size, self._name)

    def _vector(self, answer: Any) -> list[float]:
        """An answer as numbers, of the length that all have."""
        values = _decoded(answer) if isinstance(answer, str) else answer
        try:
            if not isinstance(values, list) or any(isinstance(v, str | bool) for v in values):
                raise TypeError
            vector = [float(v) for v in values]
        except (TypeError, ValueError, OverflowError):
            raise BadReply(
                f"{self._name} answered something that is not a vector of numbers"
            ) from None
        if not vector:
            raise BadReply(f"{self._name} answered a vector of length 0")
        with self._lock:
            self._dimensions = self._dimensions or len(vector)
            wanted = self._dimensions
        if len(vector) != wanted:
            raise BadReply(
                f"{self._name} answered vectors of {len(vector)} dimensions, not {wanted}",
                hint="set dimensions to what the model makes",
            )
        return vector


def _tokens(response: Any) -> int:
    """What the provider counted; 0 where it says nothing."""
    counted = get(get(response, "usage"), "prompt_tokens")
    return counted if isinstance(counted, int) and counted > 0 else 0


def _decoded(text: str) -> list[float] | None:
    """The float32 numbers of a base64 answer."""
    try:
        data = base64.b64decode(text, validate=True)
        return list(struct.unpack(f"<{len(data) // 4}f", data))
    except (binascii.Error, struct.error):
        return None


def _batches(texts: list[str], most: int) -> Iterator[list[str]]:
    """Consecutive texts, bounded by number and by rough tokens; a huge text goes alone."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        size = len(text.encode()) // _BYTES_PER_TOKEN + 1
        if batch and (len(batch) == most or tokens + size > _BATCH_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch
