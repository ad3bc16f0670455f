"""ScriptedModel: a model for tests and demos that answers from a script, and records what it saw.

    model = ScriptedModel(["Hello!", call("core_append", block="human", content="Sam")])
    model = ScriptedModel(lambda request: "You said: " + request.messages[-1].text)

An answer is a text, a ModelReply, an exception to raise, or a list of `call(...)`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.message import ToolCall
from pagemind.runtime.model import ModelReply, ModelRequest, OnRetry, OnText, Usage, WindowInfo

Answer = str | ToolCall | Sequence[ToolCall] | ModelReply | Exception
Script = Iterable[Answer] | Callable[[ModelRequest], Answer]


def call(name: str, /, *, call_id: str = "", **arguments: Any) -> ToolCall:
    """A tool call as a scripted answer; the runtime gives it an id."""
    return ToolCall(call_id, name, json.dumps(arguments, ensure_ascii=False))


class ScriptedModel:
    """Answers in order, or by a function of the request. `requests` holds what it was asked.

    `count` gives the tokens it reports as usage (None reports nothing, as some servers do). Past
    the end of a list every answer is `after`. Requests made for summaries are answered by
    `summary`, so that a script holds only the talk; those for gists by `gists`, and not at all
    where that is None.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        name: str = "scripted",
        window: int | None = None,
        count: Callable[[str], int] | None = None,
        after: Answer = "…",
        summary: Callable[[ModelRequest], str] | None = None,
        gists: Callable[[ModelRequest], str] | None = None,
        pieces: int = 8,
        keep: int = 10_000,
    ) -> None:
        self._name = name
        self._window = window
        self._count = count
        self._after = after
        self._pieces = pieces
        self._keep = keep
        self.summary = summary
        self.gists = gists
        self.requests: list[ModelRequest] = []
        self._function = script if callable(script) else None
        self._answers: Iterator[Answer] = iter(()) if callable(script) else iter(script)

    @property
    def name(self) -> str:
        return self._name

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        on_retry: OnRetry | None = None,
        cancel: CancelToken | None = None,
    ) -> ModelReply:
        if cancel is not None:
            cancel.check()
        if request.purpose == "gist" and self.gists is None:
            return ModelReply(model=self._name)
        self.requests.append(request)
        del self.requests[: -self._keep]
        if request.purpose == "summary" and self.summary is not None:
            return ModelReply(
                self.summary(request), usage=self._usage(request, ""), model=self._name
            )
        if request.purpose == "gist" and self.gists is not None:
            text = self.gists(request)
            return ModelReply(text, usage=self._usage(request, text), model=self._name)
        answer = self._function(request) if self._function else next(self._answers, self._after)
        if isinstance(answer, Exception):
            raise answer
        reply = self._reply(answer, request)
        if on_text is not None and reply.text:
            size = max(1, len(reply.text) // self._pieces)
            for start in range(0, len(reply.text), size):
                if cancel is not None:
                    cancel.check()
                on_text(reply.text[start : start + size])
        return reply

    def _reply(self, answer: Answer, request: ModelRequest) -> ModelReply:
        if isinstance(answer, ModelReply):
            return answer
        if isinstance(answer, str):
            return ModelReply(answer, usage=self._usage(request, answer), model=self._name)
        assert not isinstance(answer, Exception)
        calls = (answer,) if isinstance(answer, ToolCall) else tuple(answer)
        said = "".join(each.arguments for each in calls)
        return ModelReply(
            tool_calls=calls,
            usage=self._usage(request, said),
            finish="tool_calls",
            model=self._name,
        )

    def _usage(self, request: ModelRequest, answer: str) -> Usage:
        if self._count is None:
            return Usage()
        sent = sum(map(self._count, request.system))
        for message in request.messages:
            sent += self._count(message.text) + 4
            sent += sum(self._count(each.arguments) + 8 for each in message.tool_calls)
        sent += sum(self._count(json.dumps(tool.parameters)) + 8 for tool in request.tools)
        return Usage(sent, self._count(answer))

    def window(self) -> WindowInfo | None:
        return WindowInfo(self._window, "script") if self._window else None

    def prefill(self, request: ModelRequest) -> None:
        """A script has nothing to warm."""

    def close(self) -> None:
        """A script holds nothing."""
