"""GuidedModel: a very small model as a Model, asked one narrow question at a time.

One free choice among many functions is too much for half a billion parameters. So each step of a
turn puts questions that have few answers, and gives what comes out as an ordinary reply:

    a lasting fact to note?    → ToolCall core_append or core_edit
    look something up?         → ToolCall recall_search, archival_search if that found nothing
    the reply                  → text, with the facts that bear on it set before the person's words

Code decides what it can tell for sure (plain_talk.py, person_facts.py), the model the rest; no
answer is written in code. Loop, transcript and functions are those of every other protocol. Each
question has a fixed head of its own, which the engine keeps warm; core memory stands at the end of
the prompt, so that noting a fact costs no prefix.
"""

import json
from collections.abc import Sequence

from pagemind.runtime import settings
from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import Clock, SystemClock
from pagemind.runtime.message import Message, Text, ToolCall
from pagemind.runtime.model import (
    Embedder,
    Model,
    ModelReply,
    ModelRequest,
    OnRetry,
    OnText,
    Usage,
    WindowInfo,
)
from pagemind.runtime.models import guided_facts, guided_search
from pagemind.runtime.models.guided_prompt import guided_prompt
from pagemind.runtime.models.guided_turn import (
    GuidedTurn,
    head_text,
    own_words,
    person_block,
    read_blocks,
    read_turn,
)
from pagemind.runtime.models.relevance import Relevance
from pagemind.runtime.template import load


class GuidedModel:
    """Wraps the model that answers the questions.

    Args:
        inner: A model that takes `response_schema`.
        embedder: Finds the known facts that bear on a question; words alone do it without one.
    """

    def __init__(
        self, inner: Model, *, embedder: Embedder | None = None, clock: Clock | None = None
    ) -> None:
        self._inner = inner
        self._relevance = Relevance(embedder)
        self._clock = clock or SystemClock()

    @property
    def name(self) -> str:
        return self._inner.name

    def window(self) -> WindowInfo | None:
        return self._inner.window()

    def close(self) -> None:
        self._inner.close()

    def prefill(self, request: ModelRequest) -> None:
        """Warm the heads of all questions, the reply's last: it is the longest."""
        for question in (guided_facts.question("."), guided_search.question(".")):
            self._inner.prefill(question)
        self._inner.prefill(_reply_request(request, (), "."))

    def complete(
        self,
        request: ModelRequest,
        *,
        on_text: OnText | None = None,
        on_retry: OnRetry | None = None,
        cancel: CancelToken | None = None,
    ) -> ModelReply:
        turn = read_turn(request)
        if turn is None or request.purpose != "turn" or request.response_schema is not None:
            return self._inner.complete(request, on_text=on_text, on_retry=on_retry, cancel=cancel)
        asking = _Asking(self._inner, on_retry, cancel)
        calls = self._note(turn, asking) or self._look_up(turn, asking)
        if calls:
            return ModelReply(
                tool_calls=calls,
                usage=asking.usage,
                finish="tool_calls",
                model=self.name,
                cost=asking.cost,
                calibrates=False,
            )
        return self._reply(request, turn, asking, on_text)

    def _note(self, turn: GuidedTurn, asking: "_Asking") -> tuple[ToolCall, ...]:
        if turn.noting_done or not turn.by_person:
            return ()
        return tuple(
            self._call(name, arguments)
            for name, arguments in guided_facts.edits(turn, asking.answer)
        )

    def _look_up(self, turn: GuidedTurn, asking: "_Asking") -> tuple[ToolCall, ...]:
        search = guided_search.choose(turn, self._relevance, asking.answer)
        return (self._call(search[0], {"query": search[1]}),) if search else ()

    def _reply(
        self, request: ModelRequest, turn: GuidedTurn, asking: "_Asking", on_text: OnText | None
    ) -> ModelReply:
        said, by_facts = guided_search.said_with_facts(turn, self._relevance)
        # An answer from facts needs no talk before it: seeing its own last replies, a small model
        # falls into repeating them. Otherwise the last exchanges give the thread.
        earlier = () if by_facts else turn.earlier
        reply = asking.complete(_reply_request(request, earlier, said), on_text)
        return ModelReply(
            reply.text,
            usage=asking.usage,
            finish=reply.finish,
            model=self.name,
            cost=asking.cost,
            calibrates=False,
        )

    def _call(self, name: str, arguments: dict[str, str]) -> ToolCall:
        return ToolCall(
            f"call_{self._clock.new_id()}", name, json.dumps(arguments, ensure_ascii=False)
        )


class _Asking:
    """The calls behind one step, with what they cost together."""

    def __init__(self, inner: Model, on_retry: OnRetry | None, cancel: CancelToken | None) -> None:
        self._inner = inner
        self._on_retry = on_retry
        self._cancel = cancel
        self.usage = Usage()
        self.cost: float | None = None

    def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        reply = self._inner.complete(
            request, on_text=on_text, on_retry=self._on_retry, cancel=self._cancel
        )
        self.usage += reply.usage
        if reply.cost is not None:
            self.cost = (self.cost or 0.0) + reply.cost
        return reply

    def answer(self, question: ModelRequest) -> object:
        """The JSON value a narrow question is answered with; None if it was cut off."""
        try:
            return json.loads(self.complete(question).text)
        except ValueError:
            return None


def _reply_request(request: ModelRequest, earlier: Sequence[Message], said: str) -> ModelRequest:
    """Instructions, the agent's own blocks, the summary, examples, the talk, and what is said."""
    prompt = guided_prompt(load("guided_reply"), message=said)
    *examples, last = prompt.turns
    if "\n" in said:
        last = last.with_text(said)  # the person's own lines stay as they are
    blocks = read_blocks(request.system[1:])
    person = person_block(blocks)
    own = [block.value for block in blocks if block.value and block is not person]
    talk = [
        Message(message.role, (Text(text),))
        for message in earlier
        if message.role != "tool" and message.kind != "notice" and (text := own_words(message))
    ]
    return ModelRequest(
        system=(request.system[0], *own, head_text(request.messages), prompt.instructions),
        messages=(*examples, *talk[-settings.GUIDED_TALK :], last),
        max_tokens=min(request.max_tokens, settings.LOCAL_MAX_TOKENS),
        temperature=request.temperature,
    )
