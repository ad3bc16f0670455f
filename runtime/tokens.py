"""The token counter: tiktoken's o200k_base, counted once for each text, calibrated per model.

The tokenizer's file ships with litellm and is loaded from there, so that counting needs no
network. Foreign text is never encoded in one piece: very long runs of spaces panic the tokenizer.
"""

import functools
import hashlib
import importlib.util
import json
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pagemind.runtime.message import Blob, Message, Reasoning
from pagemind.runtime.model import ToolSchema, Usage
from pagemind.runtime.settings import (
    CALIBRATION_ALPHA,
    CALIBRATION_MARGIN,
    CALIBRATION_MIN_TOKENS,
    CALIBRATION_RANGE,
    MESSAGE_OVERHEAD_TOKENS,
)

if TYPE_CHECKING:
    from tiktoken import Encoding

_ENCODING = "o200k_base"
_CHUNK = 50_000  # characters; sums over chunks are within 0.02 % of the whole (measured)
_CACHE = 4096  # texts
_KEPT = 4096  # characters; longer texts are remembered by their hash, or the cache holds them all


@functools.cache
def _encoding() -> "Encoding":
    litellm = importlib.util.find_spec("litellm")  # finds it without importing it
    if litellm is not None and litellm.origin is not None:
        folder = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
        if folder.is_dir():
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    import tiktoken

    return tiktoken.get_encoding(_ENCODING)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass")).hexdigest()


class TokenCounter:
    """Counts texts, messages and tool schemas. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, int] = OrderedDict()

    def count(self, text: str) -> int:
        """Tokens of a text; special-token look-alikes are counted as plain text."""
        if not text:
            return 0
        key = text if len(text) <= _KEPT else _hash(text)
        with self._lock:
            if key in self._seen:
                self._seen.move_to_end(key)
                return self._seen[key]
        total = 0
        encoding = _encoding()
        for start in range(0, len(text), _CHUNK):
            chunk = text[start : start + _CHUNK]
            try:
                total += len(encoding.encode(chunk, disallowed_special=()))
            except ValueError:  # the tokenizer gives up on some long runs of one character
                total += len(chunk) // 2 + 1
        with self._lock:
            self._seen[key] = total
            if len(self._seen) > _CACHE:
                self._seen.popitem(last=False)
        return total

    def message(self, message: Message) -> int:
        """Tokens of a message as it is sent: text, calls, reasoning, blobs and overhead."""
        total = MESSAGE_OVERHEAD_TOKENS + self.count(message.text)
        for call in message.tool_calls:
            total += self.count(call.name) + self.count(call.arguments) + self.count(call.id) + 4
        if message.tool_call_id:
            total += self.count(message.tool_call_id)
        for part in message.parts:
            if isinstance(part, Reasoning):
                total += self.count(json.dumps(part.opaque, ensure_ascii=False))
            elif isinstance(part, Blob):
                total += part.tokens
        return total

    def tools(self, schemas: tuple[ToolSchema, ...]) -> int:
        """Tokens of the tool section: the JSON of each schema (providers bill less)."""
        return sum(
            self.count(f"{s.name}\n{s.description}\n{json.dumps(s.parameters)}") + 8
            for s in schemas
        )


@dataclass(frozen=True, slots=True)
class Calibration:
    """How many tokens a model reports for one of ours: an average, and the last value seen."""

    ratio: float
    last: float
    samples: int = 0

    @property
    def factor(self) -> float:
        """What our counts are multiplied with: the worse of both, and a margin."""
        return max(self.ratio, self.last) * (1 + CALIBRATION_MARGIN)

    def learn(self, estimated: int, usage: Usage) -> "Calibration":
        """With one more reply. Missing usage and tiny prompts teach nothing."""
        if usage.prompt_tokens <= 0 or estimated < CALIBRATION_MIN_TOKENS:
            return self
        low, high = CALIBRATION_RANGE
        seen = min(high, max(low, usage.prompt_tokens / estimated))
        ratio = seen
        if self.samples:
            ratio = CALIBRATION_ALPHA * seen + (1 - CALIBRATION_ALPHA) * self.ratio
        return Calibration(ratio, seen, self.samples + 1)


def first_guess(model: str) -> Calibration:
    """Before any reply. Other tokenizers than OpenAI's need 10–30 % more tokens for most text."""
    if model.startswith(("openai/", "gpt-", "o1", "o3", "o4", "scripted")):
        return Calibration(1.0, 1.0)
    return Calibration(1.2, 1.2)
