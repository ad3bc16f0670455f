"""Better gists: a model reads what a flush paged out, and says in a line what each page holds.

    plan()   the newest pages that no model has looked at, and what to ask; under the agent's lock
    ask()    the model's answer; outside the lock, so that a turn never waits for it
    keep()   the lines that hold, in one transaction; under the lock

A line holds if it names nothing that is not in the page, and every name, number, date and
identifier of the old line still stands beside it. Else the old line stays.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.gist import holds, telling, with_terms
from pagemind.runtime.message import Message, Provenance, Text, clean_text
from pagemind.runtime.model import Model, ModelReply, ModelRequest
from pagemind.runtime.page import Page
from pagemind.runtime.settings import (
    GIST_PAGES,
    GIST_RECENT,
    GIST_TOKENS,
    MESSAGE_OVERHEAD_TOKENS,
    PAGE_TOKENS,
)
from pagemind.runtime.shorten import shorten
from pagemind.runtime.state.state import State
from pagemind.runtime.template import load
from pagemind.runtime.transcript import transcript
from pagemind.runtime.untrusted import marker

_LINE = re.compile(r"[\s*\-`]*([pP]\d{1,18})[\s*`]*[:–—-]\s*(.+)")
_LEAST_WORDS = 3  # of a line that says something
_QUOTES = "\"'“”„«»`* "


@dataclass(frozen=True, slots=True)
class Plan:
    """What a model is asked about: the pages, and the text of each that it is shown."""

    pages: tuple[Page, ...]
    texts: Mapping[int, str]
    request: ModelRequest


class GistWriter:
    """`model` None writes nothing. `window` gives the model's usable tokens; `affordable` whether
    the agent's budget has anything left."""

    def __init__(
        self,
        model: Model | None,
        state: State,
        count: Callable[[str], int],
        *,
        window: Callable[[], int],
        affordable: Callable[[], bool] = lambda: True,
    ) -> None:
        self._model = model
        self._state = state
        self._count = count
        self._window = window
        self._affordable = affordable

    @property
    def newest(self) -> int:
        """The number of the newest page."""
        return self._state.pages.last_number

    def due(self) -> bool:
        """Whether there is a model, something to ask it, and a budget for that."""
        return self._model is not None and bool(self._waiting(1)) and self._affordable()

    def _waiting(self, limit: int) -> list[Page]:
        oldest = self._state.pages.last_number - GIST_RECENT
        return [page for page in self._state.pages.unwritten(limit) if page.number > oldest]

    def plan(self) -> Plan | None:
        """What to ask next, as much as fits the model's window; None for nothing."""
        if not self.due():
            return None
        reply = GIST_PAGES * (GIST_TOKENS + 8)
        room = self._window() - reply - self._count(self._prompt([], "")) - 64
        pages: list[Page] = []
        texts: dict[int, str] = {}
        for page in self._waiting(GIST_PAGES):
            text = self._text(page, min(room, PAGE_TOKENS))
            room -= self._count(text) + MESSAGE_OVERHEAD_TOKENS
            if room < 0 or not text:
                break
            pages.append(page)
            texts[page.number] = text
        if not pages:
            return None
        shown = "\n\n".join(f"{page.short_id}\n{texts[page.number]}" for page in pages)
        request = ModelRequest(
            system=(),
            messages=(
                Message(
                    "user",
                    (Text(self._prompt(pages, shown)),),
                    provenance=Provenance("runtime"),
                ),
            ),
            max_tokens=reply,
            purpose="gist",
        )
        return Plan(tuple(pages), texts, request)

    def _text(self, page: Page, tokens: int) -> str:
        """The page as it is shown: what strangers said is only counted."""
        stored = self._state.journal.span(page.first_seq, page.last_seq)
        lines = transcript([message for message, _, _ in stored], [page])
        return shorten("\n".join(lines), tokens, self._count) if tokens > 0 else ""

    @staticmethod
    def _prompt(pages: list[Page], shown: str) -> str:
        return load("gists").fill(
            max_tokens=GIST_TOKENS // 2,
            example=pages[0].short_id if pages else "p1",
            fence=marker(shown),
            pages=shown,
        )

    def ask(self, plan: Plan, cancel: CancelToken) -> ModelReply:
        """Raises whatever the model raises, Cancelled among it."""
        assert self._model is not None
        return self._model.complete(plan.request, cancel=cancel)

    def keep(self, plan: Plan, reply: ModelReply) -> list[Page]:
        """Store the lines that hold; the pages that got one. The others are not asked about again,
        unless nothing came at all."""
        assert self._model is not None
        proposed = _lines(reply)
        if not proposed:
            return []
        better: list[Page] = []
        with self._state.database.transaction():
            for page in plan.pages:
                line = self._checked(page, proposed.get(page.number, ""), plan.texts[page.number])
                if line:
                    self._state.pages.set_gist(page.number, line, author=self._model.name)
                    better.append(page)
                else:
                    self._state.pages.settle_gist(page.number)
        return better

    def _checked(self, page: Page, proposed: str, text: str) -> str:
        """The new line, with what the old one named; "" if it does not hold."""
        if len(proposed.split()) < _LEAST_WORDS or not _is_from(proposed, text):
            return ""
        named = telling(page.gist)
        terms = [*named, *(word for word in page.keywords if word not in named)]
        for tokens in (GIST_TOKENS * 2 // 3, GIST_TOKENS // 2, GIST_TOKENS // 3):
            line = with_terms(shorten(proposed, tokens, self._count), terms, self._count)
            if all(holds(line, word) for word in named):
                return line
        return ""


def _lines(reply: ModelReply) -> dict[int, str]:
    """What was said about each page; {} for a refusal or anything else."""
    if reply.finish == "refusal":
        return {}
    found: dict[int, str] = {}
    for line in clean_text(reply.text).splitlines():
        if match := _LINE.fullmatch(line.strip()):
            found.setdefault(int(match[1][1:]), " ".join(match[2].split()).strip(_QUOTES))
    return found


def _is_from(line: str, text: str) -> bool:
    """Whether every name and number of a line stands in the text. Of a word the case may differ:
    a heading has capitals."""
    lower = text.lower()
    return all(
        holds(text, word) or (word.isalpha() and word.lower() in lower) for word in telling(line)
    )
