"""A model that answers by chance with all that strong, weak and broken models answer, and judges
every request before it does: it must fit the window and be legal for every provider."""

import json
import random
from collections.abc import Callable
from typing import Any

from fuzz_faults import Faults, Killed, Stuck
from laws import COUNTER
from odd_texts import ODD
from wire_rules import FAMILIES, violations

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.errors import (
    AuthenticationFailed,
    BadReply,
    BadRequest,
    Cancelled,
    ContextOverflow,
    ModelError,
    ModelNotFound,
    ModelOverloaded,
    ModelTimeout,
    ModelUnreachable,
    OutputReserveConflict,
    RateLimited,
    StreamBroken,
)
from pagemind.runtime.legalise import rules_for, to_wire
from pagemind.runtime.message import Reasoning, ToolCall
from pagemind.runtime.model import ModelReply, ModelRequest, OnText, Usage
from pagemind.runtime.testing import ScriptedModel, call

RULES = {family: rules_for(f"{family}/test") for family in FAMILIES}
# Mostly short pieces, for speed; whole ones too.
TEXTS = [*(text[:800] for text in ODD.values() for _ in range(7)), *ODD.values()]
ERRORS: tuple[type[ModelError], ...] = (
    ContextOverflow,
    OutputReserveConflict,
    AuthenticationFailed,
    ModelNotFound,
    BadRequest,
    RateLimited,
    ModelOverloaded,
    ModelUnreachable,
    ModelTimeout,
    StreamBroken,
    BadReply,
)
MOST_REQUESTS = 400  # of one event; a turn may take 8 steps
KINDS = (
    "nothing",
    "refusal",
    "cut off call",
    "cut off text",
    "unknown function",
    "mistyped arguments",
    "broken arguments",
    "call as text",
    "the same call for ever",
    "200 calls",
    "huge call",
    "huge text",
    "lone surrogates",
    "reasoning",
    "ids twice",
    "foreign error",
    "broken stream",
    "cancelled stream",
    "slow",
    "Ctrl-C",
    *(error.__name__ for error in ERRORS),
)


class RandomModel(ScriptedModel):
    """`ratio` is its tokens to ours; 0 reports nothing. `oddness` is the chance of an odd reply."""

    def __init__(
        self, chance: random.Random, faults: Faults, clock: FrozenClock, window: int, ratio: float
    ) -> None:
        super().__init__()
        self.chance, self.faults, self.clock = chance, faults, clock
        self.window_tokens, self.ratio = window, ratio
        self.usable: Callable[[], int] = lambda: 0
        self.oddness = 0.4
        self.asked = 0
        self.wrong: list[str] = []  # what no caller may swallow
        self._number = 0
        self._again: ModelReply | None = None

    def begin(self) -> None:
        """A new event."""
        self.asked, self._again = 0, None

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        cancel: CancelToken | None = None,
        **_: Any,
    ) -> ModelReply:
        if self.faults.dead:
            raise Killed
        self.asked += 1
        if self.asked > MOST_REQUESTS:
            raise Stuck("requests without end")
        size = self._judge(request)
        if request.purpose == "summary":
            return self._summary(request)
        if self.ratio > 1 and size * self.ratio + request.max_tokens > self.window_tokens:
            self.faults.note("model: counts more than we do")
            raise ContextOverflow("prompt is too long")
        if self._again is not None:
            return self._again
        kind = self.chance.choice(KINDS) if self.chance.random() < self.oddness else ""
        if kind:
            self.faults.note(f"model: {kind}")
        reply = self._reply(kind, request, on_text, cancel)
        usage = Usage(int(size * self.ratio), 5 if self.ratio else 0)
        return ModelReply(reply.text, reply.tool_calls, reply.reasoning, usage, reply.finish)

    # --- what it judges -------------------------------------------------------------------------

    def _judge(self, request: ModelRequest) -> int:
        size = sum(COUNTER.count(text) for text in request.system) + 4
        size += sum(map(COUNTER.message, request.messages)) + COUNTER.tools(request.tools)
        if request.purpose == "summary":
            if size + request.max_tokens > self.window_tokens:
                self.wrong.append(f"a summary's request of {size} + {request.max_tokens} tokens")
            return size
        if size > (usable := self.usable()):
            self.wrong.append(f"a request of {size} tokens, usable {usable}")
        for family, rules in RULES.items():
            for fault in violations(to_wire(request, rules), family, tools=bool(request.tools)):
                self.wrong.append(f"{family}: {fault}")
        return size

    # --- what it says ---------------------------------------------------------------------------

    def _summary(self, request: ModelRequest) -> ModelReply:
        kind = self.chance.randrange(8)
        if kind == 0:
            self.faults.note("summary: error")
            raise self.chance.choice(ERRORS)("no summary")
        if kind == 1:
            self.faults.note("summary: foreign error")
            raise RuntimeError("a library's own error")
        if kind == 2:
            self.faults.note("summary: nothing")
            return ModelReply("")
        if kind == 3:
            self.faults.note("summary: too long")
            return ModelReply(self.chance.choice(TEXTS))
        return ModelReply("They talked about boats. " * self.chance.randint(1, 40))

    def text(self) -> str:
        self._number += 1
        return f"Reply {self._number}: {' '.join(['harbour light'] * self.chance.randint(1, 40))}."

    def call(self) -> ToolCall:
        chance = self.chance
        text = self.text() if chance.random() < 0.8 else chance.choice(TEXTS)
        block = chance.choice(["human", "human", "notes"])
        made = chance.choice(
            [
                call("core_append", block=block, content=text[:60]),
                call("core_rewrite", block=block, content=text[: chance.randint(0, 200)]),
                call("core_edit", block=block, old_text="Reply", new_text=text[:50]),
                call("archival_insert", content=text),
                call("archival_edit", id=f"a{chance.randint(0, 5)}", content=text),
                call("archival_delete", id=f"a{chance.randint(0, 20)}"),
                call("archival_search", query=text[:300]),
                call("recall_search", query=text[:300]),
                call("page_in", id=chance.choice("pm") + str(chance.randint(0, 20)), part=1),
                call("fetch", number=chance.randrange(len(TEXTS))),
                call("fail", how=chance.randrange(4)),
                call("send_message", message=text),
            ]
        )
        if chance.random() < 0.3:
            arguments = {**json.loads(made.arguments), "request_heartbeat": chance.random() < 0.5}
            made = ToolCall(made.id, made.name, json.dumps(arguments))
        return made

    def _reply(
        self, kind: str, request: ModelRequest, on_text: OnText | None, cancel: CancelToken | None
    ) -> ModelReply:
        chance = self.chance
        for error in ERRORS:
            if kind == error.__name__:
                raise error(f"{kind}, by chance")
        if kind in ("broken stream", "cancelled stream"):
            text = self.text() if chance.random() < 0.8 else chance.choice(TEXTS)
            for piece in (text[:10], text[10:20]):
                if on_text is not None:
                    on_text(piece)
            if kind == "cancelled stream":
                raise Cancelled("stopped")
            raise StreamBroken("the connection was reset")
        if kind == "foreign error":
            raise chance.choice([RuntimeError, KeyError, ValueError, OSError])("not ours")
        if kind == "Ctrl-C":
            raise KeyboardInterrupt
        if kind == "slow":
            self.clock.advance(seconds=chance.choice([60, 4000]))
        odd = self._odd(kind)
        if odd is not None:
            return odd
        if chance.random() < 0.55:
            text = self.text()
            if on_text is not None:
                on_text(text)
            return ModelReply(text)
        said = chance.choice(["", "", "Let me see."])
        made = tuple(self.call() for _ in range(chance.choice([1, 1, 1, 2, 3, 6])))
        return ModelReply(said, made, finish="tool_calls")

    def _odd(self, kind: str) -> ModelReply | None:
        chance, one = self.chance, self.call()
        half = one.arguments[: len(one.arguments) // 2]
        if kind == "the same call for ever":
            self._again = ModelReply("", (one,), finish="tool_calls")
            return self._again
        many = tuple(call("fetch", number=n % len(TEXTS)) for n in range(200))
        wrong_types = {"block": 5, "content": None, "query": ["a"], "number": "true", "id": {}}
        odd = {
            "nothing": ModelReply(chance.choice(["", " \n"])),
            "refusal": ModelReply(chance.choice(["", "I will not."]), finish="refusal"),
            "cut off call": ModelReply(
                "", (self.call(), ToolCall("", one.name, half)), finish="length"
            ),
            "cut off text": ModelReply("And then", finish="length"),
            "unknown function": ModelReply(
                "", (call(chance.choice(["web.search", "core_apend", "", "x" * 300, "\ud83c"])),)
            ),
            "mistyped arguments": ModelReply(
                "", (ToolCall("", one.name, json.dumps(wrong_types)), call(one.name))
            ),
            "broken arguments": ModelReply(
                "",
                tuple(
                    ToolCall(f"b{at}", one.name, text)
                    for at, text in enumerate((half, "[1, 2]", '{"q": NaN}', "[" * 5000, "\x00"))
                ),
                finish="tool_calls",
            ),
            "call as text": ModelReply(f'{{"name": "{one.name}", "arguments": {one.arguments}}}'),
            "200 calls": ModelReply("", many, finish="tool_calls"),
            "huge call": ModelReply(
                "", (call("archival_insert", content=chance.choice(TEXTS) * 3),)
            ),
            "huge text": ModelReply(chance.choice(TEXTS)),
            "lone surrogates": ModelReply(
                "\ud83c half", (ToolCall("\udf78", one.name, '{"content": "\\ud83c"}'),)
            ),
            "reasoning": ModelReply(
                chance.choice(["", "Yes."]),
                (one,) if chance.random() < 0.5 else (),
                (Reasoning("anthropic", {"thinking": "hm \ud83c", "signature": "x"}, "hm"),),
            ),
            "ids twice": ModelReply(
                "", tuple(ToolCall("call_0", c.name, c.arguments) for c in (one, self.call()))
            ),
        }
        return odd.get(kind)
