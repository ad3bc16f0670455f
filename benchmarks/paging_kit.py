"""What the paging benchmarks share: a model that watches every request, and scripted lookups.

A lookup is a generator of calls: what it yields the model asks for, and what it gets back is the
request of the next step, with the results in it. A first None asks for the request as it is. It
sees what a model sees and nothing else; where the runtime says that a turn has read its share, the
next turn goes on.
"""

import json
import re
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from pagemind.runtime.agent import Agent
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.definition import AgentDefinition, parse_definition
from pagemind.runtime.message import Message, ToolCall
from pagemind.runtime.model import Model, ModelReply, ModelRequest, OnRetry, OnText, WindowInfo
from pagemind.runtime.models.scripted_model import Answer
from pagemind.runtime.settings import MESSAGE_OVERHEAD_TOKENS
from pagemind.runtime.testing import ScriptedModel
from pagemind.runtime.tokens import TokenCounter

AGENT = "bench"
WINDOW = 8192
START = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)
T = TypeVar("T")
Lookup = Generator[ToolCall | None, ModelRequest, T]
_SECTION = {name: re.compile(f"<{name}>\n(.*?)\n</{name}>", re.S) for name in ("page_table",)}


# --- what is sent -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its tokens, those of its unchanged beginning, those of the page table, and
    what of it is fixed (functions and system)."""

    tokens: int
    prefix: int
    table: int
    fixed: int
    max_tokens: int

    @property
    def share(self) -> float:
        return self.prefix / self.tokens


class Watch:
    """A Model around another: counts each request, and how much of it is as it was the time before.

    Requests are compared unit by unit (functions, each part of the system prompt, each message);
    a unit that differs anywhere counts as changed, with all that follows. `seconds` is the CPU
    time that watching took; `requests` are kept where that is asked for.
    """

    def __init__(self, inner: Model, *, keep: bool = False) -> None:
        self._inner = inner
        self._keep = keep
        self.requests: list[ModelRequest] = []
        self._counter = TokenCounter()
        self._known: dict[tuple[Any, ...], int] = {}
        self._units: list[tuple[Any, ...]] = []
        self.last: ModelRequest | None = None
        self.sent: list[Sent] = []
        self.background = 0  # tokens sent for summaries and gists
        self.background_calls = 0
        self.seconds = 0.0

    @property
    def name(self) -> str:
        return self._inner.name

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        on_retry: OnRetry | None = None,
        cancel: CancelToken | None = None,
    ) -> ModelReply:
        began = time.thread_time()
        if request.purpose == "turn":
            self.last = request
            if self._keep:
                self.requests.append(request)
            self.sent.append(self._weigh(request))
        else:
            self.background += sum(self._counter.message(m) for m in request.messages)
            self.background_calls += 1
        self.seconds += time.thread_time() - began
        return self._inner.complete(request, on_text=on_text, on_retry=on_retry, cancel=cancel)

    def _weigh(self, request: ModelRequest) -> Sent:
        tools = tuple((t.name, t.description, json.dumps(t.parameters)) for t in request.tools)
        units: list[tuple[Any, ...]] = [("tools", tools)]
        costs = [self._cost(units[0], lambda: self._counter.tools(request.tools))]
        for part in request.system:
            units.append(("system", part))
            costs.append(self._cost(units[-1], lambda part=part: self._counter.count(part)))
        costs[-1] += MESSAGE_OVERHEAD_TOKENS
        fixed = sum(costs)
        for each in request.messages:
            units.append(_unit(each))
            costs.append(self._cost(units[-1], lambda each=each: self._counter.message(each)))
        same = 0
        for before, now, cost in zip(self._units, units, costs, strict=False):
            if before != now:
                break
            same += cost
        self._units = units
        table = section(request, "page_table")
        return Sent(
            sum(costs),
            same,
            self._cost(("table", table), lambda: self._counter.count(table)),
            fixed,
            request.max_tokens,
        )

    def _cost(self, unit: tuple[Any, ...], count: Callable[[], int]) -> int:
        if unit not in self._known:
            self._known[unit] = count()
        return self._known[unit]

    def window(self) -> WindowInfo | None:
        return self._inner.window()

    def prefill(self, request: ModelRequest) -> None:
        self._inner.prefill(request)

    def close(self) -> None:
        self._inner.close()


def _unit(message: Message) -> tuple[Any, ...]:
    calls = tuple((call.id, call.name, call.arguments) for call in message.tool_calls)
    return message.role, message.text, calls, message.tool_call_id


# --- what a model sees --------------------------------------------------------------------------


def section(request: ModelRequest, name: str) -> str:
    """The text between a tag of the context head; "" where there is none."""
    for message in request.messages[:1]:
        if found := _SECTION[name].search(message.text):
            return found[1]
    return ""


def results(request: ModelRequest) -> list[Message]:
    """The results of the running turn, oldest first."""
    found: list[Message] = []
    for message in reversed(request.messages):
        if message.role == "user" and message.kind != "notice":
            break
        if message.role == "tool":
            found.append(message)
    return found[::-1]


def result(request: ModelRequest) -> str:
    """The newest result."""
    return results(request)[-1].text


# --- lookups ------------------------------------------------------------------------------------


@dataclass
class Talker:
    """What the model says: `reply` gives the answer to an ordinary request, a lookup goes before
    it. `spent` is how the runtime's text begins where a turn has read its share."""

    reply: Callable[[ModelRequest], Answer]
    _lookup: Lookup[Any] | None = None
    _waiting: ToolCall | None = None
    _asked: bool = False
    outcome: Any = None
    done: bool = True
    calls: list[ToolCall] = field(default_factory=list)
    spent: re.Pattern[str] = re.compile(r"\[\w+ part \d+ was not read: this turn")

    def __call__(self, request: ModelRequest) -> Answer:
        if request.purpose != "turn":
            return summary_of(request)
        if self._lookup is None:
            return self.reply(request)
        try:
            if not self.calls:
                first = next(self._lookup)
                self._waiting = self._lookup.send(request) if first is None else first
            elif self._asked:
                if self.spent.match(result(request)):
                    self._asked = False
                    return "I go on in the next turn."
                self._waiting = self._lookup.send(request)
        except StopIteration as end:
            self.outcome, self.done, self._lookup = end.value, True, None
            return "That is what I found."
        assert self._waiting is not None
        self._asked = True
        self.calls.append(self._waiting)
        return self._waiting

    def look(self, agent: Agent, question: str, lookup: Lookup[T], turns: int = 12) -> T:
        """Ask the question and let the lookup answer it; what it returned."""
        self._lookup, self.done, self._asked, self.calls = lookup, False, False, []
        text = question
        for _ in range(turns):
            agent.send(text)
            if self.done:
                return self.outcome  # type: ignore[no-any-return]  # what the generator returned
            text = "Please go on."
        raise RuntimeError(f"a lookup did not end within {turns} turns: {question}")


def summary_of(request: ModelRequest) -> str:
    """A summary without a model: the first words of some lines, about as long as allowed."""
    said = request.messages[-1].text.splitlines()
    step = max(1, len(said) // 24)
    return " ".join(" ".join(line.split()[:10]) for line in said[::step])[: 3 * request.max_tokens]


# --- agents -------------------------------------------------------------------------------------


def definition(window: int, **more: Any) -> AgentDefinition:
    """The agent of the benchmarks: the shipped prompt and all functions. `more` are further keys
    of a definition."""
    written: Mapping[str, Any] = {
        "name": AGENT,
        "embedding": "hashing",
        "timezone": "UTC",
        "context_window": window,
        **more,
    }
    return parse_definition(json.dumps(written), "benchmark")  # JSON is YAML


def scripted(answer: Callable[[ModelRequest], Answer]) -> ScriptedModel:
    """A scripted model that also writes summaries, as a model of a provider does."""
    return ScriptedModel(answer, keep=1)


def pages_in(text: str) -> list[str]:
    """The pages whose lines stand in an answer of page_find, best first."""
    return re.findall(r"^(p\d+) \[", text, re.M)
