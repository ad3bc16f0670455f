"""A model server on loopback for tests: speaks the OpenAI wire format and trusts nobody.

    with Loopback([Reply("Hello."), Reply(calls=(Call("clock_now"),))], window=2048) as server:
        LitellmModel("openai/test", api_base=server.url, api_key="sk-test") …
        assert not server.illegal and server.max_prompt_tokens <= 2048

It checks every request with wire_rules, counts its tokens itself (tiktoken) and answers 400
context_length_exceeded when prompt + max_tokens exceed its window: a real provider's judgement,
not a replay. Replies come from a list or a function of the request; faults are part of a Reply.
"""

import hashlib
import importlib.util
import json
import math
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from wire_rules import violations

Body = dict[str, Any]
# reset: the connection is cut; eof: it ends without a finish; silence: nothing more comes;
# error_event: an error object inside the stream; html: a proxy's page; no_choices: an empty list.
Fault = Literal["", "reset", "eof", "silence", "error_event", "html", "no_choices"]


@dataclass(frozen=True)
class Call:
    """A function call in a reply. A string as arguments is sent as it is, broken or not."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = "auto"  # None: the server gives no id


@dataclass(frozen=True)
class Reply:
    """One answer. `status` other than 200 sends `error` (a dict is JSON, a text is sent raw)."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    reasoning: str = ""
    refusal: str = ""
    status: int = 200
    error: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Fault = ""
    after: int = 1  # pieces of a stream before the fault
    delay: float = 0.0  # seconds before each piece
    piece: int = 6  # characters in a piece of a stream
    # How calls are streamed: one index each; all on index 0; the id on every piece; whole, twice.
    call_style: Literal["split", "index_zero", "id_everywhere", "doubled"] = "split"


Responder = Callable[[Body], "Reply | str"]


def error_body(message: str, code: str | None = None, kind: str = "invalid_request_error") -> Body:
    """An OpenAI error object."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@lru_cache(maxsize=1)
def _encoding() -> Any:
    spec = importlib.util.find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    import tiktoken

    return tiktoken.get_encoding("o200k_base")


@lru_cache(maxsize=100_000)
def count_text(text: str) -> int:
    """Tokens of a text in o200k_base."""
    total = 0
    for start in range(0, len(text), 50_000):
        total += len(_encoding().encode(text[start : start + 50_000], disallowed_special=()))
    return total


def count_request(body: Body) -> int:
    """Prompt tokens of a chat request: contents, calls, reasoning, functions, delimiters."""
    total = 3
    for message in body.get("messages", ()):
        total += 4
        content = message.get("content") or ""
        texts = [content] if isinstance(content, str) else [p.get("text", "") for p in content]
        texts.append(message.get("reasoning_content") or "")
        for call in message.get("tool_calls") or ():
            texts += [call["function"]["name"], call["function"]["arguments"]]
        total += sum(count_text(t) for t in texts if t)
    for tool in body.get("tools") or ():
        total += count_text(json.dumps(tool, ensure_ascii=False))
    return total


def hash_vector(text: str, dimensions: int) -> list[float]:
    """A vector of unit length that depends on the text alone."""
    digest = b"".join(
        hashlib.sha256(f"{n}:{text}".encode()).digest() for n in range(-(-dimensions // 16))
    )
    values = [v / 32768 for v in struct.unpack(f"<{len(digest) // 2}h", digest)][:dimensions]
    norm = math.sqrt(sum(v * v for v in values)) or 1.0
    return [v / norm for v in values]


class Loopback:
    """The server; `url` is the api_base. Everything received is kept in `requests`."""

    def __init__(
        self,
        replies: "Responder | Sequence[Reply | str] | Reply | str" = "ok",
        *,
        window: int = 128_000,
        family: str = "openai",
        usage_factor: float | None = 1.0,
        models: Sequence[Body] = (),
        props: Body | None = None,
        show: Body | None = None,
        dimensions: int = 8,
        embed: "Callable[[Body], Body | Reply] | None" = None,
    ) -> None:
        self.requests: list[Body] = []
        self.embed_requests: list[Body] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.illegal: list[str] = []
        self.prompt_tokens: list[int] = []
        self.refused = 0  # answered context_length_exceeded
        self.disconnects = 0
        self.window = window
        self.family = family
        self.usage_factor = usage_factor
        self.models, self.props, self.show = list(models), props, show
        self.dimensions, self.embed = dimensions, embed
        self.connections: set[socket.socket] = set()
        self.stopping = threading.Event()
        self._responder = self._as_responder(replies)
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    @property
    def max_prompt_tokens(self) -> int:
        """The longest prompt that was accepted."""
        return max(self.prompt_tokens, default=0)

    def __enter__(self) -> "Loopback":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        for connection in list(self.connections):  # idle ones that a client keeps open
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)

    def _as_responder(
        self, replies: "Responder | Sequence[Reply | str] | Reply | str"
    ) -> Responder:
        if callable(replies):
            return replies
        script = [replies] if isinstance(replies, str | Reply) else list(replies)
        position = iter(range(1 << 30))
        return lambda body: script[min(next(position), len(script) - 1)]

    def judge(self, body: Body) -> tuple[Reply, int]:
        """The reply to a chat request, and its prompt tokens."""
        with self._lock:
            self.requests.append(body)
            faults = violations(
                body.get("messages", []), self.family, tools=bool(body.get("tools"))
            )
            if faults:
                self.illegal += faults
                return Reply(status=400, error=error_body(f"illegal: {'; '.join(faults)}")), 0
            tokens = count_request(body)
            reserve = body.get("max_tokens") or body.get("max_completion_tokens") or 0
            if tokens + reserve > self.window:
                self.refused += 1
                text = (
                    f"This model's maximum context length is {self.window} tokens. However, you "
                    f"requested {tokens + reserve} tokens ({tokens} in the messages, {reserve} in "
                    "the completion). Please reduce the length of the messages or completion."
                )
                error = error_body(text, "context_length_exceeded")
                return Reply(status=400, error=error), tokens
            self.prompt_tokens.append(tokens)
            reply = self._responder(body)
        return Reply(reply) if isinstance(reply, str) else reply, tokens

    def usage(self, prompt: int, reply: Reply) -> Body | None:
        """What is reported: our count times a factor; None reports nothing at all."""
        if self.usage_factor is None:
            return None
        made = count_text(reply.text) + sum(count_text(str(c.arguments)) for c in reply.calls)
        scaled = [round(n * self.usage_factor) for n in (prompt, made)]
        return {
            "prompt_tokens": scaled[0],
            "completion_tokens": scaled[1],
            "total_tokens": sum(scaled),
        }

    def embeddings(self, body: Body) -> "Body | Reply":
        self.embed_requests.append(body)
        if self.embed is not None:
            return self.embed(body)
        return embeddings_body(
            [hash_vector(t, body.get("dimensions") or self.dimensions) for t in body["input"]]
        )


def embeddings_body(vectors: Sequence[Sequence[float]]) -> Body:
    """The answer of /v1/embeddings."""
    data = [
        {"object": "embedding", "index": n, "embedding": list(v)} for n, v in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors)}
    return {"object": "list", "model": "test-embedding", "data": data, "usage": usage}


def _wire_calls(reply: Reply) -> list[Body]:
    calls = []
    for number, call in enumerate(reply.calls):
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        wire: Body = {"type": "function", "function": {"name": call.name, "arguments": text}}
        if call.id == "auto":
            wire["id"] = f"call_{time.monotonic_ns():x}{number}"
        elif call.id is not None:
            wire["id"] = call.id
        calls.append(wire)
    return calls


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _whole(reply: Reply, usage: Body | None, model: str) -> Body:
    message: Body = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _wire_calls(reply)
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.refusal:
        message["refusal"] = reply.refusal
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [] if reply.fault == "no_choices" else [choice],
        "usage": usage,
    }


def _deltas(reply: Reply) -> list[Body]:
    """The pieces of a streamed reply."""
    deltas: list[Body] = [{"role": "assistant", "content": ""}]
    for key, text in (
        ("reasoning_content", reply.reasoning),
        ("content", reply.text),
        ("refusal", reply.refusal),
    ):
        deltas += [
            {key: text[n : n + reply.piece]} for n in range(0, len(text), max(1, reply.piece))
        ]
    for number, call in enumerate(_wire_calls(reply)):
        index = 0 if reply.call_style == "index_zero" else number
        head: Body = {"index": index, "type": "function"}
        if "id" in call:
            head["id"] = call["id"]
        name, text = call["function"]["name"], call["function"]["arguments"]
        whole = {**head, "function": {"name": name, "arguments": text}}
        if reply.call_style in ("index_zero", "doubled"):
            times = 2 if reply.call_style == "doubled" else 1
            deltas += [{"tool_calls": [whole]}] * times
            continue
        deltas.append({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
        again = {"id": call["id"]} if reply.call_style == "id_everywhere" and "id" in call else {}
        for n in range(0, len(text), max(1, reply.piece)):
            piece = {"arguments": text[n : n + reply.piece]}
            deltas.append({"tool_calls": [{"index": index, **again, "function": piece}]})
    return deltas


def _handler(server: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            server.connections.add(self.connection)

        def finish(self) -> None:
            server.connections.discard(self.connection)
            with suppress(OSError):
                super().finish()

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            server.paths.append(self.path)
            if self.path == "/v1/models" and server.models:
                self._json(200, {"object": "list", "data": server.models})
            elif self.path == "/props" and server.props is not None:
                self._json(200, server.props)
            else:
                self._json(404, {"error": "not found"})

        def do_POST(self) -> None:
            server.paths.append(self.path)
            server.headers.append({k.lower(): v for k, v in self.headers.items()})
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            try:
                if self.path.endswith("/embeddings"):
                    answer = server.embeddings(body)
                    if isinstance(answer, Reply):
                        self._error(answer)
                    else:
                        self._json(200, answer)
                elif self.path == "/api/show" and server.show is not None:
                    self._json(200, server.show)
                elif self.path.endswith("/chat/completions"):
                    self._chat(body)
                else:
                    self._json(404, {"error": "not found"})
            except (BrokenPipeError, ConnectionResetError):
                server.disconnects += 1
                self.close_connection = True

        def _chat(self, body: Body) -> None:
            reply, tokens = server.judge(body)
            if reply.status != 200:
                self._error(reply)
            elif reply.fault == "html":
                self._raw(200, "<html><body>Bad gateway</body></html>", "text/html", {})
            elif body.get("stream"):
                self._stream(reply, tokens, body)
            elif reply.fault in ("reset", "eof"):
                self._cut()
            else:
                self._pause(reply)
                self._json(200, _whole(reply, server.usage(tokens, reply), body["model"]))

        def _stream(self, reply: Reply, tokens: int, body: Body) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for number, delta in enumerate(_deltas(reply)):
                if reply.fault and number >= reply.after:
                    break
                self._pause(Reply(delay=reply.delay))
                self._event(body, delta, None)
            if reply.fault == "reset":
                self._cut()
            elif reply.fault == "silence":
                self._pause(reply)
            elif reply.fault == "error_event":
                self._send({"error": {"message": "The server had an error", "code": 500}})
            elif reply.fault != "eof":
                self._event(body, {}, _finish(reply), empty=reply.fault == "no_choices")
                if (body.get("stream_options") or {}).get("include_usage"):
                    usage = server.usage(tokens, reply)
                    if usage is not None:
                        self._event(body, None, None, usage=usage)
                self.wfile.write(b"data: [DONE]\n\n")

        def _event(
            self,
            body: Body,
            delta: Body | None,
            finish: str | None,
            *,
            usage: Body | None = None,
            empty: bool = False,
        ) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            event: Body = {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": body["model"],
                "choices": [] if delta is None or empty else [choice],
            }
            if usage is not None:
                event["usage"] = usage
            self._send(event)

        def _send(self, event: Body) -> None:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()

        def _pause(self, reply: Reply) -> None:
            """Wait as told; a silent server waits until the client leaves or the test ends."""
            if reply.fault != "silence":
                if reply.delay:
                    server.stopping.wait(reply.delay)
                return
            self.connection.settimeout(0.05)
            while not server.stopping.is_set():
                try:
                    if not self.connection.recv(1):
                        raise ConnectionResetError
                except TimeoutError:
                    continue
            self.close_connection = True

        def _cut(self) -> None:
            """Reset the connection instead of closing it."""
            self.wfile.flush()
            self.close_connection = True
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.shutdown(socket.SHUT_RD)
            self.connection.close()

        def _error(self, reply: Reply) -> None:
            error = reply.error
            if error is None:
                error = error_body(f"status {reply.status}")
            if isinstance(error, str):
                kind = "text/html" if error.lstrip().startswith("<") else "text/plain"
                self._raw(reply.status, error, kind, reply.headers)
            else:
                self._json(reply.status, error, reply.headers)

        def _json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
            self._raw(status, json.dumps(body), "application/json", headers or {})

        def _raw(self, status: int, text: str, kind: str, headers: Mapping[str, str]) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    return Handler
