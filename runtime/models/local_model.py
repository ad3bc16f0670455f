"""LocalModel: the embedded model as a Model. No key, no network, no litellm.

Loads at the first use. Functions are offered through our own grammar (call_grammar.py), because
the engine's native calling ignores what it is told; the reply's text is decoded out of that
grammar while it streams. `prefill()` reads the head of the prompt in the background and yields
to the next `complete()`.
"""

import json
import threading
from pathlib import Path
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import Clock, SystemClock
from pagemind.runtime.errors import BadReply
from pagemind.runtime.message import Message, ToolCall
from pagemind.runtime.model import (
    Finish,
    ModelReply,
    ModelRequest,
    OnRetry,
    OnText,
    Usage,
    WindowInfo,
)
from pagemind.runtime.models import call_grammar
from pagemind.runtime.models.catalogue import trained_window
from pagemind.runtime.models.llama_engine import LlamaEngine
from pagemind.runtime.models.pull import find
from pagemind.runtime.template import load

Chat = list[dict[str, str]]


class LocalModel:
    """A model file in this process.

    Args:
        path_or_name: A name of the catalogue, or the path of a GGUF file; `local/` may precede it.
        home: Where pulled models lie; default as settings.home_path.
        threads: More than one collapses on a busy machine.
        window: Tokens of context; no more than the model was trained for.
    """

    def __init__(
        self,
        path_or_name: str | Path,
        *,
        home: str | Path | None = None,
        threads: int = settings.LOCAL_THREADS,
        window: int = settings.LOCAL_WINDOW_TOKENS,
        clock: Clock | None = None,
    ) -> None:
        name = str(path_or_name).removeprefix("local/")
        self._name = f"local/{name}"
        self._window = min(window, trained_window(name) or window)
        self._engine = LlamaEngine(find(name, home), threads=threads, window=self._window)
        self._clock = clock or SystemClock()
        self._waiting = 0  # completions that want the engine: a prefill in its way gives up
        self._closed = False
        self._guard = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def window(self) -> WindowInfo:
        return WindowInfo(self._window, "model file")

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        on_retry: OnRetry | None = None,
        cancel: CancelToken | None = None,
    ) -> ModelReply:
        if cancel:
            cancel.check()
        with self._guard:
            self._waiting += 1
        try:
            return self._complete(request, on_text, cancel)
        finally:
            with self._guard:
                self._waiting -= 1

    def prefill(self, request: ModelRequest) -> None:
        if self._waiting or self._closed:
            return
        body = self._body(request)
        body["max_tokens"] = 1
        self._engine.chat(body, lambda chunk: self._waiting > 0 or self._closed)

    def close(self) -> None:
        self._closed = True  # a prefill under way gives up, and none loads the engine again
        self._engine.close()

    def _complete(
        self, request: ModelRequest, on_text: OnText | None, cancel: CancelToken | None
    ) -> ModelReply:
        stream = _Stream(on_text, cancel, decode=bool(request.tools))
        self._engine.chat(self._body(request), stream.receive)
        if cancel:
            cancel.check()
        return self._reply(stream, bool(request.tools))

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": _chat(request),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature or 0.0,  # small models do not gain from chance
        }
        schema = request.response_schema
        if request.tools:
            schema = call_grammar.call_schema(request.tools)
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
        return body

    def _reply(self, stream: "_Stream", grammar: bool) -> ModelReply:
        text, calls = stream.text, tuple[ToolCall, ...]()
        if grammar:
            text, call = call_grammar.parse(stream.text)
            if call:
                calls = (ToolCall(f"call_{self._clock.new_id()}", *call),)
        finish: Finish = "stop"
        if stream.finish == "length":
            finish = "length"
        elif calls:
            finish = "tool_calls"
        elif not text.strip():
            finish = "empty"
        return ModelReply(
            text, calls, usage=stream.usage, finish=finish, model=self._name, cost=0.0
        )


class _Stream:
    """Collects one streamed completion and passes on what is meant for the reader."""

    def __init__(self, on_text: OnText | None, cancel: CancelToken | None, decode: bool) -> None:
        self._pieces: list[str] = []
        self._on_text = on_text
        self._cancel = cancel
        self._decoder = call_grammar.ReplyDecoder() if decode else None
        self.finish = ""
        self.usage = Usage()

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def receive(self, chunk: dict[str, Any]) -> bool:
        if self._cancel and self._cancel.cancelled:
            return True
        if usage := chunk.get("usage"):
            cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
            self.usage = Usage(usage["prompt_tokens"], usage["completion_tokens"], cached)
        for choice in chunk.get("choices", ()):
            self.finish = choice.get("finish_reason") or self.finish
            self._take(choice.get("delta", {}).get("content") or "")
        return False

    def _take(self, piece: str) -> None:
        if not piece:
            return
        self._pieces.append(piece)
        shown = self._decoder.feed(piece) if self._decoder else piece
        if shown and self._on_text:
            self._on_text(shown)


def _chat(request: ModelRequest) -> Chat:
    """Plain role and content, as every chat template takes them. Core memory stays last in the
    head, so that an edit of it keeps the prefix before it."""
    system = list(request.system)
    if request.tools:
        functions = load("local_functions").fill(functions=call_grammar.describe(request.tools))
        system.insert(1, functions)
    chat: Chat = [{"role": "system", "content": "\n\n".join(filter(None, system))}]
    for message in request.messages:
        role, content = _plain(message, grammar=bool(request.tools))
        if not content.strip():
            continue
        if chat[-1]["role"] == role:
            chat[-1]["content"] += "\n\n" + content
        else:
            chat.append({"role": role, "content": content})
    return chat if chat[0]["content"] else chat[1:]


def _plain(message: Message, grammar: bool) -> tuple[str, str]:
    if message.role == "tool":
        return "user", f'<result of="{message.name}">\n{message.text}\n</result>'
    if message.role == "user":
        return "user", message.text
    pieces = []
    if message.text:
        pieces.append(call_grammar.encode_reply(message.text) if grammar else message.text)
    if grammar:
        pieces += [call_grammar.encode_call(c.name, c.parsed()) for c in message.tool_calls]
    return "assistant", "\n".join(pieces)


def as_json(reply: ModelReply) -> dict[str, Any]:
    """The object a reply under `response_schema` holds. Raises BadReply if it was cut off."""
    try:
        value = json.loads(reply.text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise BadReply(f"{reply.model} answered no JSON object: {reply.text[:80]!r}")
    return value
