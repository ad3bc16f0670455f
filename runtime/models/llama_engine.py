"""The embedded llama.cpp: one model file, one slot, one call at a time.

`load()` maps the file (most of a second during which the interpreter stands still: the binding
holds its lock), `chat()` streams chunks until the end or until the callback returns True, and
`close()` gives the memory back. The only importer of xllamacpp; its errors are translated here.
"""

import secrets
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pagemind.runtime import settings
from pagemind.runtime.errors import (
    BadReply,
    BadRequest,
    ContextOverflow,
    LocalModelError,
    MissingExtra,
    ModelError,
)

OnChunk = Callable[[dict[str, Any]], bool]


class LlamaEngine:
    """llama.cpp's own server, in this process. Thread-safe: calls queue on a lock."""

    def __init__(self, path: Path, *, threads: int, window: int) -> None:
        self.path = path
        self._threads = threads
        self._window = window
        self._server: Any = None
        self._lock = threading.Lock()

    @property
    def loaded(self) -> bool:
        return self._server is not None

    def load(self) -> None:
        """Map the model into memory. Raises MissingExtra or LocalModelError; idempotent."""
        with self._lock:
            self._open()

    def chat(self, body: dict[str, Any], on_chunk: OnChunk) -> None:
        """Stream one chat completion. `on_chunk` also sees prompt progress, so that returning
        True stops a long prefill as well as a reply. Raises a ModelError."""
        failure: list[dict[str, Any]] = []
        raised: list[BaseException] = []

        def receive(chunk: dict[str, Any]) -> bool:
            if "error" in chunk:
                failure.append(chunk["error"])
                return True
            try:
                return on_chunk(chunk)
            except BaseException as error:  # the binding swallows it: carry it over by hand
                raised.append(error)
                return True

        streamed = {
            **body,
            "stream": True,
            "return_progress": True,
            "cache_prompt": True,
            "stream_options": {"include_usage": True},
        }
        with self._lock:
            server = self._open()
            try:
                server.handle_chat_completions(streamed, receive)
            except (RuntimeError, ValueError) as error:
                raise BadRequest(f"the embedded model refused the request: {error}") from None
        if raised:
            raise raised[0]
        if failure:
            raise _translate(failure[0])

    def close(self) -> None:
        """Stop llama.cpp and free its memory. A later call loads it again."""
        with self._lock:
            self._server = None

    def _open(self) -> Any:
        if self._server is None:
            self._server = self._start()
        return self._server

    def _start(self) -> Any:
        try:
            xllamacpp = import_module("xllamacpp")  # it ships no types
        except ImportError:
            raise MissingExtra(
                "the embedded model needs the package xllamacpp",
                hint="pip install 'pagemind[local]'",
            ) from None
        check_gguf(self.path)
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_ctx = self._window
        params.n_parallel = 1  # one slot: every call finds the prefix of the one before
        params.n_batch = params.n_ubatch = settings.LOCAL_BATCH_TOKENS
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.cache_ram_mib = settings.LOCAL_CACHE_MIB
        params.fit_params = False  # it would quietly change the window we promise
        params.warmup = False  # the first prompt warms it up; this saves half a second
        params.verbosity = 0  # errors come back as values; standard error belongs to the person
        params.offline = True
        # The server always listens on a port of the loopback; a random key shuts it to others.
        params.api_keys = [secrets.token_urlsafe(24)]
        try:
            _read_ahead(self.path)
            return xllamacpp.Server(params)
        except RuntimeError:
            raise LocalModelError(
                f"{self.path.name}: llama.cpp cannot load it (damaged, or a format it lacks)",
                hint="pagemind models pull, or give the path of another GGUF file",
            ) from None


def _read_ahead(path: Path) -> None:
    """Bring the file into the system's cache. The binding holds the interpreter's lock while it
    loads: what it then waits for the disk, every other thread waits too."""
    block = bytearray(4 << 20)
    with path.open("rb", buffering=0) as file:
        while file.readinto(block):
            pass


def check_gguf(path: Path) -> None:
    """Refuse what is plainly not a model file. Raises LocalModelError."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except FileNotFoundError:
        raise LocalModelError(
            f"no model file at {path}", hint="pagemind models list shows what can be pulled"
        ) from None
    except OSError as error:
        raise LocalModelError(f"{path} cannot be read: {error.strerror}") from None
    if magic != b"GGUF":
        raise LocalModelError(
            f"{path} is not a GGUF model file",
            hint="local models are GGUF files; pagemind models pull fetches one",
        )


def _translate(error: dict[str, Any]) -> ModelError:
    message = str(error.get("message", "unknown error"))
    if error.get("type") == "exceed_context_size_error":
        return ContextOverflow(
            f"{error.get('n_prompt_tokens')} tokens do not fit the embedded model's window "
            f"of {error.get('n_ctx')}"
        )
    if int(error.get("code", 500)) < 500:
        return BadRequest(f"the embedded model refused the request: {message}")
    return BadReply(f"the embedded model failed: {message}")
