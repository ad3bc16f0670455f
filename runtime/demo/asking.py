"""Asking: a question to the agent, and what two simpler kinds of memory would still know.

sliding window  the newest messages that fit the same window, without functions or pages
running summary what stands in the agent's own summary slot
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pagemind.runtime.clock import rfc3339
from pagemind.runtime.demo import script
from pagemind.runtime.demo.stage import AGENT, TalkClock, talked
from pagemind.runtime.demo.talk import SPEAKER, talk
from pagemind.runtime.gist import keywords
from pagemind.runtime.message import Message
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import MESSAGE_OVERHEAD_TOKENS
from pagemind.runtime.state.pages import Pages
from pagemind.runtime.tiers.lexical import terms
from pagemind.runtime.trace import TraceEvent

_TELLING_WORDS = 5


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer beside what the others know. Without a quote nothing was found."""

    question: str
    answer: str
    calls: tuple[tuple[str, dict[str, Any], str], ...]  # name, arguments, result
    quote: str
    message: str
    page: str
    speaker: str
    said_at: datetime | None
    exact: bool  # the quote is, to the letter, what the journal holds
    messages_ago: int
    window_knows: bool
    window_messages: int
    window_since: datetime | None
    telling: tuple[str, ...]  # the quote's names, numbers and rarest words …
    summary_has: tuple[str, ...]  # … and those that stand in the summary
    summary_tokens: int

    def as_json(self) -> dict[str, Any]:
        """An item of `questions`."""
        return {
            "question": self.question,
            "answer": self.answer,
            "tool_calls": [{"name": n, "arguments": a} for n, a, _ in self.calls],
            "quote": self.quote,
            "exact": self.exact,
            "message": self.message,
            "page": self.page or None,
            "speaker": self.speaker,
            "said_at": rfc3339(self.said_at) if self.said_at else None,
            "messages_ago": self.messages_ago,
            "sliding_window": {
                "knows": self.window_knows,
                "messages": self.window_messages,
                "since": rfc3339(self.window_since) if self.window_since else None,
            },
            "summary": {
                "telling_words": list(self.telling),
                "has": list(self.summary_has),
                "tokens": self.summary_tokens,
            },
        }


class Asking:
    """The agent, opened the morning after the talk; a context manager."""

    def __init__(self, home: Path) -> None:
        with ExitStack() as opening:
            last = talk()[-1].at
            clock = TalkClock(last.replace(hour=9, minute=0, second=0) + timedelta(days=1))
            self._clock = clock
            self._runtime = opening.enter_context(Runtime(home, clock=clock, background=False))
            self._agent = self._runtime.agent(AGENT, model=script.model(), create=False)
            self._close = opening.pop_all().close

    def ask(
        self, question: str, watch: Callable[[str, dict[str, Any]], None] = lambda *_: None
    ) -> Answered:
        """Ask; `watch` is told of each call (name, arguments), its result, and each flush."""
        calls: list[tuple[str, dict[str, Any], str]] = []

        def observe(event: TraceEvent) -> None:
            data = dict(event.data)
            if event.kind == "tool_called":
                calls.append((data["name"], data["arguments"], ""))
                watch("called", data)
            elif event.kind == "tool_returned":
                data["text"] = self._seen(data["text"])
                calls[-1] = (*calls[-1][:2], data["text"])
                watch("returned", data)
            elif event.kind == "flush_ended":
                watch("flushed", data)

        before = talked(self._agent.state.journal)
        summary = self._agent.context.summary  # afterwards the question may stand in it
        turn = self._agent.send(question, speaker=SPEAKER, observer=observe)
        self._clock.set(self._clock.now() + timedelta(seconds=30))
        return self._compared(question, turn.text, tuple(calls), before, summary)

    @property
    def pages(self) -> Pages:
        """What has left the window, as it is stored."""
        return self._agent.state.pages

    def _seen(self, result: str) -> str:
        """The result as the model saw it: a reading is stored as a reference only."""
        newest = next(reversed(list(self._agent.context.queue)), None)
        return newest.shown.text if newest is not None and result.startswith("[read") else result

    def _compared(
        self,
        question: str,
        answer: str,
        calls: tuple[tuple[str, dict[str, Any], str], ...],
        before: list[Message],
        summary: str,
    ) -> Answered:
        quote, named, page = script.parse(answer)
        place = next((i for i, m in enumerate(before) if m.short_id == named), None)
        source = before[place] if place is not None else None
        window = self._sliding(before)
        telling = keywords([quote], _TELLING_WORDS)
        words = set(terms(summary))
        return Answered(
            question=question,
            answer=answer,
            calls=calls,
            quote=quote,
            message=named,
            page=page,
            speaker=source.speaker if source else "",
            said_at=source.said_at if source else None,
            exact=source is not None and source.text == quote,
            messages_ago=len(before) - place if place is not None else 0,
            window_knows=source is not None and source in window,
            window_messages=len(window),
            window_since=window[0].said_at if window else None,
            telling=telling,
            summary_has=tuple(word for word in telling if set(terms(word)) <= words),
            summary_tokens=self._runtime.counter.count(summary),
        )

    def _sliding(self, messages: list[Message]) -> list[Message]:
        """The newest messages that fit the usable window beside the system prompt."""
        count = self._runtime.counter
        pressure = self._agent.queue_manager.measure()
        left = pressure.usable - pressure.sections["system"]
        kept: list[Message] = []
        for message in reversed(messages):
            left -= count.count(message.text) + MESSAGE_OVERHEAD_TOKENS
            if left < 0:
                break
            kept.insert(0, message)
        return kept

    def close(self) -> None:
        self._close()

    def __enter__(self) -> "Asking":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
