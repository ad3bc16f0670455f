"""The recorder: what an agent did, into a trace file, so that it can be watched and replayed.

Recorder        one for a runtime (`Runtime(trace=…)`)
└── Recording   one for an agent while it is open
    ├── model(), tool()   stand before the agent's own and write down what passes
    ├── watch()           an observer of every turn
    └── close()           leaves a mark, so that the next process need not write the state again

Beside the TraceEvents a file has these kinds of lines:

opened    an agent, its model, protocol and functions
state     some rows of a table of its state, before the turn that starts from it
window    of a model, in tokens
request   number, purpose, sha256 and what the model is sent
reply     to which request, and what came back; or the error
answer    what a function gave, before it became a message
closed    a mark of the state: who goes on from it need not write it again

Keys are taken out of every text. Without content, texts become lengths and hashes.
"""

import base64
import hashlib
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.errors import PagemindError, ToolError
from pagemind.runtime.exchange import reply_json, request_json
from pagemind.runtime.model import (
    Model,
    ModelReply,
    ModelRequest,
    OnRetry,
    OnText,
    WindowInfo,
)
from pagemind.runtime.models.redact import redact_json, secrets_of
from pagemind.runtime.parts import Parts
from pagemind.runtime.request_digest import RequestDigest
from pagemind.runtime.settings import TRACE_STATE_BYTES, TRACE_STATE_ROWS
from pagemind.runtime.state.dump import mark, rows_of, size_of
from pagemind.runtime.state.state import State
from pagemind.runtime.tool import File, Tool, ToolContext, ToolResult, takes_context
from pagemind.runtime.trace import TraceEvent
from pagemind.runtime.trace_file import TraceFile

_log = logging.getLogger("pagemind.trace")
# Without content these keep their words: names, ids and enumerations of the runtime's own.
_PLAIN = frozenset(
    """agent asked at call_id currency do effect event finish id ids kind level mark message_ids
    model protocol purpose reason role rung sha256 source stop_reason target tier type""".split()
)
_NAMES = frozenset(("tool_called", "tool_returned", "answer"))  # where `name` is a function's


class Recorder:
    """`path` is appended to. `content` False leaves texts out; such a trace cannot be replayed."""

    def __init__(self, path: Path, clock: Clock, *, content: bool = True) -> None:
        self.content = content
        self.path = path
        self._clock = clock
        self._file = TraceFile(path)

    def recording(self, agent: str, state: State, *, secrets: Mapping[str, Any]) -> "Recording":
        """For an agent that is being opened; `secrets` are parameters that may carry some."""
        return Recording(self, agent, state, secrets_of(None, params=secrets))

    def last_mark(self, agent: str) -> str:
        return self._file.last_mark(agent)

    def write(self, agent: str, kind: str, data: Mapping[str, Any], secrets: Sequence[str]) -> None:
        """One line, without keys, and without texts where they are not wanted."""
        body = redact_json(dict(data), secrets)
        if not self.content:
            body = without_content(body, names=kind in _NAMES)
        self._file.append(at=rfc3339(self._clock.now()), agent=agent, kind=kind, data=body)

    def close(self) -> None:
        """Idempotent."""
        self._file.close()


class Recording:
    """What one agent does while it is open."""

    def __init__(
        self, recorder: Recorder, agent: str, state: State, secrets: Sequence[str]
    ) -> None:
        self._recorder = recorder
        self._agent = agent
        self._state = state
        self._secrets = secrets
        self._lock = threading.Lock()
        self._requests = 0
        self._digest = RequestDigest()
        self._before: ModelRequest | None = None
        self._in_the_idle = False
        self._mark = recorder.last_mark(agent)

    def write(self, kind: str, data: Mapping[str, Any]) -> None:
        self._recorder.write(self._agent, kind, data, self._secrets)

    def opened(self, *, model: Model, protocol: str, tools: Sequence[Tool], parts: Parts) -> None:
        """What the agent runs on."""
        self.write(
            "opened",
            {
                "model": model.name,
                "protocol": protocol,
                "content": self._recorder.content,
                "parts": asdict(parts),
                "tools": [
                    {
                        "id": tool.name,
                        "effect": tool.effect,
                        **({"foreign": True} if tool.foreign else {}),
                        "description": tool.description,
                        "parameters": tool.parameters,
                    }
                    for tool in tools
                ],
            },
        )

    def watch(self, event: TraceEvent) -> None:
        """The observer. What a turn starts from is written first, where the trace lacks it."""
        if event.kind == "asked":
            self._keep_state()
        data = event.data
        if event.kind == "text_delta":  # a key may come in two pieces; the reply has it all
            data = {"chars": len(data["text"])}
        self.write(event.kind, data)
        if event.kind == "flush_started":
            self._in_the_idle = data["reason"] == "idle"
        # What else changes the state between turns is not replayed: the next one starts from it.
        if event.kind == "turn_ended" or (event.kind == "flush_ended" and self._in_the_idle):
            self._mark = mark(self._state.database)

    def _keep_state(self) -> None:
        database = self._state.database
        now = mark(database)
        if now == self._mark or not self._recorder.content:
            return
        self._mark = now
        size = size_of(database)
        if size > TRACE_STATE_BYTES:
            self.write("state", {"left_out": size})
            return
        with database.reading():
            for batch in rows_of(database, TRACE_STATE_ROWS):
                self.write("state", batch)

    def close(self) -> None:
        """The agent is let go."""
        self.write("closed", {"mark": mark(self._state.database)})

    # --- models -------------------------------------------------------------------------------

    def model(self, model: Model) -> Model:
        """The same, written down."""
        return RecordedModel(model, self)

    def request(self, model: str, request: ModelRequest) -> int:
        """Write a request down; its number. Of a turn only what the last one did not have."""
        with self._lock:
            self._requests += 1
            number = self._requests
            turn = request.purpose == "turn"
            before = self._before if turn else None
            if turn:
                self._before = request
            digest = self._digest.of(request) if turn else RequestDigest().of(request)
            self.write("request", request_json(number, model, digest, request, before))
        return number

    # --- functions ----------------------------------------------------------------------------

    def tool(self, tool: Tool) -> Tool:
        """The same function, its answers written down."""
        inner = tool.function
        wants_context = takes_context(inner)
        called = {"name": tool.name}

        def recorded(ctx: ToolContext, /, **arguments: Any) -> str | ToolResult:
            try:
                answer = inner(ctx, **arguments) if wants_context else inner(**arguments)
            except Exception as error:
                self.write("answer", {**called, "id": ctx.call_id, **_failure(tool, error)})
                raise
            if not isinstance(answer, str | ToolResult):  # as the executor would
                answer = json.dumps(answer, ensure_ascii=False, default=str)
            self.write("answer", {**called, "id": ctx.call_id, **_answer(answer)})
            return answer

        return replace(tool, function=recorded)


class RecordedModel:
    """A model whose calls are written down."""

    def __init__(self, model: Model, recording: Recording) -> None:
        self._model = model
        self._recording = recording
        self._told = False

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
        number = self._recording.request(self.name, request)
        shown: list[str] = []
        try:
            reply = self._model.complete(
                request,
                on_text=_tee(on_text, shown) if on_text is not None else None,
                on_retry=on_retry,
                cancel=cancel,
            )
        except BaseException as error:
            told = {"type": type(error).__name__, "message": str(error)}
            body = {"request": number, "error": told, "shown": "".join(shown)}
            self._recording.write("reply", body)
            raise
        self._recording.write("reply", {"request": number, **reply_json(reply)})
        return reply

    def window(self) -> WindowInfo | None:
        found = self._model.window()
        if not self._told:
            self._told = True
            body = asdict(found) if found else {"tokens": None}
            self._recording.write("window", {"model": self.name, **body})
        return found

    def prefill(self, request: ModelRequest) -> None:
        self._model.prefill(request)

    def close(self) -> None:
        self._model.close()


def _tee(on_text: OnText, shown: list[str]) -> Callable[[str], None]:
    def tell(piece: str) -> None:
        shown.append(piece)
        on_text(piece)

    return tell


# --- JSON -------------------------------------------------------------------------------------


def _answer(answer: str | ToolResult) -> dict[str, Any]:
    if isinstance(answer, str):
        return {"text": answer}
    return {
        "text": answer.text,
        "reference": answer.reference,
        "speech": answer.speech,
        "trust": answer.trust,
        **({"files": [_file(each) for each in answer.files]} if answer.files else {}),
        "shown": [
            {
                "id": hit.id,
                "tier": hit.tier,
                "page": hit.page,
                "archive": hit.archive,
                "origin": hit.origin,
                "trust": hit.trust,
            }
            for hit in answer.shown
        ],
    }


def _file(file: File) -> dict[str, str]:
    data = base64.b64encode(file.data).decode("ascii")
    return {"media_type": file.media_type, "caption": file.caption, "data": data}


def _failure(tool: Tool, error: Exception) -> dict[str, Any]:
    """What the model is told of it."""
    if isinstance(error, ToolError):
        said = error.message
    elif isinstance(error, PagemindError):
        said = f"{tool.name}: {error.message}"
    else:
        said = f"{tool.name} failed: {type(error).__name__}: {error}"
    return {"error": {"type": type(error).__name__, "message": said}}


# --- what must not stand in a file ------------------------------------------------------------


def without_content(value: Any, *, names: bool = False, key: str = "") -> Any:
    """Lengths and hashes in place of texts. What a model, person or function chose is a text."""
    if isinstance(value, str):
        plain = key in _PLAIN or (names and key == "name")
        return value if plain else _told(value)
    if isinstance(value, Mapping):
        if key in ("arguments", "parameters", "metadata", "reference", "opaque"):
            return _told(json.dumps(value, sort_keys=True, ensure_ascii=False))
        return {name: without_content(v, names=names, key=name) for name, v in value.items()}
    if isinstance(value, list):
        return [without_content(each, names=names, key=key) for each in value]
    return value


def _told(text: str) -> dict[str, Any]:
    return {"chars": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()[:16]}
