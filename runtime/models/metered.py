"""A model and an embedder that tell what each of their calls took.

Of a model only what is not a turn's is told: summaries, gists, other work in the background. Turns
have their steps. What a provider bills for an embedding its own file tells by bill().
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.model import (
    Embedder,
    EmbeddingIdentity,
    Model,
    ModelReply,
    ModelRequest,
    OnRetry,
    OnText,
    Usage,
    WindowInfo,
)

# agent, model, purpose, tokens, US dollars or None for unknown
Tell = Callable[[str, str, str, Usage, float | None], None]

_BILL: ContextVar[list[tuple[int, float | None]] | None] = ContextVar("bill", default=None)


def bill(tokens: int, cost: float | None) -> None:
    """One request for embeddings was answered; 0 tokens is unknown."""
    noted = _BILL.get()
    if noted is not None:
        noted.append((tokens, cost))


class MeteredModel:
    """A model that works for `agent` in the background."""

    def __init__(self, model: Model, agent: str, tell: Tell) -> None:
        self._model = model
        self._agent = agent
        self._tell = tell

    @property
    def name(self) -> str:
        return self._model.name

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        on_retry: OnRetry | None = None,
        cancel: CancelToken | None = None,
    ) -> ModelReply:
        reply = self._model.complete(request, on_text=on_text, on_retry=on_retry, cancel=cancel)
        if request.purpose != "turn":
            self._tell(self._agent, self.name, request.purpose, reply.usage, reply.cost)
        return reply

    def window(self) -> WindowInfo | None:
        return self._model.window()

    def prefill(self, request: ModelRequest) -> None:
        self._model.prefill(request)

    def close(self) -> None:
        self._model.close()


class MeteredEmbedder:
    """An embedder called `name`; `agent` is "" where nobody in particular asks."""

    def __init__(self, embedder: Embedder, name: str, tell: Tell, agent: str = "") -> None:
        self._embedder = embedder
        self._name = name
        self._tell = tell
        self._agent = agent

    def of(self, agent: str) -> "MeteredEmbedder":
        """The same, working for an agent."""
        return MeteredEmbedder(self._embedder, self._name, self._tell, agent)

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._embedder.identity

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        noted: list[tuple[int, float | None]] = []
        token = _BILL.set(noted)
        try:
            return self._embedder.embed(texts)
        finally:
            _BILL.reset(token)
            if self._name.startswith(("local/", "hashing")) and texts:
                noted.append((0, 0.0))
            for tokens, cost in noted:
                self._tell(self._agent, self._name, "embedding", Usage(tokens), cost)

    def close(self) -> None:
        self._embedder.close()
