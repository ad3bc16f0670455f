"""The ports to models: what the loop asks (ModelRequest) and gets (ModelReply), and Embedder.

An implementation translates every foreign error into the ModelErrors of errors.py, retries what
is retryable itself, and never changes the canonical messages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.message import Message, Reasoning, ToolCall

Finish = Literal["stop", "tool_calls", "length", "refusal", "empty"]


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A function as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. Everything the model will see is in here, in this order.

    `system` holds the instructions and the core memory as separate parts (the first is the
    longest-lived prefix). `messages` are canonical; the model's own file makes them legal.
    """

    system: tuple[str, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_tokens: int = 1024  # the output reserve, in tokens
    temperature: float | None = None
    response_schema: dict[str, Any] | None = (
        None  # ask for JSON of this schema (guided, extraction)
    )
    purpose: Literal["turn", "summary", "gist", "background"] = "turn"
    # After so many messages a prefix ends that later requests repeat: where a cache may be marked.
    stable: tuple[int, ...] = ()
    # Gives what is in a blob of the messages; None where nobody can: captions stand for them.
    blobs: Callable[[str], bytes] | None = field(default=None, compare=False, repr=False)
    cache_key: str = ""  # the same for all requests with this beginning; says nothing of whose


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reported them; 0 means unknown."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What came back. Decide on `tool_calls`, never on `finish`, whether to run tools.

    `finish == "length"` with tool_calls means that the last call's arguments were cut off: it is
    never executed.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()
    usage: Usage = field(default_factory=Usage)
    finish: Finish = "stop"
    model: str = ""
    cost: float | None = None  # US dollars; None means unknown
    calibrates: bool = True  # usage is of this one request (guided asks several for a step)


@dataclass(frozen=True, slots=True)
class WindowInfo:
    """A context window in tokens, and who says so."""

    tokens: int
    source: str  # "definition", "server", "registry", "default", "model file"


OnText = Callable[[str], None]
OnRetry = Callable[[str, float], None]


class Model(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """As the user writes it: `openai/gpt-4o-mini`, `local/qwen2.5-coder-0.5b`."""

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        on_retry: OnRetry | None = None,
        cancel: CancelToken | None = None,
    ) -> ModelReply:
        """One call. With `on_text` the reply streams and each piece is passed on.

        Raises a ModelError, or Cancelled as soon as `cancel` is set (the stream is closed).
        """

    def window(self) -> WindowInfo | None:
        """The model's context window if it can be known without asking a person."""

    def prefill(self, request: ModelRequest) -> None:
        """Warm the head of the prompt in the background, where that helps; may do nothing."""

    def close(self) -> None:
        """Release what the model holds. Idempotent."""


@dataclass(frozen=True, slots=True)
class EmbeddingIdentity:
    """What makes two vectors comparable (design D11); stored with every table."""

    model: str
    dimensions: int
    revision: str = ""
    precision: str = "float32"
    max_length: int = 0
    pooling: str = ""
    recipe: int = 1  # version of the text recipe: what is embedded for a row

    def as_json(self) -> dict[str, str | int]:
        return {
            "model": self.model,
            "dimensions": self.dimensions,
            "revision": self.revision,
            "precision": self.precision,
            "max_length": self.max_length,
            "pooling": self.pooling,
            "recipe": self.recipe,
        }


class Embedder(Protocol):
    """Texts to vectors of unit length."""

    @property
    def identity(self) -> EmbeddingIdentity:
        """May load the model to learn the dimensions."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in order; zeros for one of which nothing can be made. Raises
        ModelError."""

    def close(self) -> None:
        """Release what the embedder holds. Idempotent."""
