"""What tests of the worker's jobs share: a state, and a SleepContext over it with searches that
compare every text, so that a job can be run without an agent."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.definition_parts import Sleeping
from pagemind.runtime.message import Message, Origin, Provenance, Text
from pagemind.runtime.model import ModelRequest
from pagemind.runtime.outbox import Tier
from pagemind.runtime.page import Page
from pagemind.runtime.passage import Facets, Passage
from pagemind.runtime.services import Hit, SearchFilters
from pagemind.runtime.sleep.job import Job, SleepContext
from pagemind.runtime.state.state import State
from pagemind.runtime.testing import HashingEmbedder, ScriptedModel

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
NOTE = Facets()


class Bed:
    """One agent's memory and what its jobs are given. `embedder` None: no meanings are known."""

    def __init__(self, folder: Path, *, embeds: bool = True) -> None:
        self.clock = FrozenClock(NOW)
        self.state = State(folder, self.clock)
        self.state.journal.open_first_line()
        self.embeds = embeds
        self._embedder = HashingEmbedder(256)

    # --- what is in memory --------------------------------------------------------------------

    def say(
        self,
        text: str,
        *,
        role: str = "user",
        speaker: str = "Sam",
        conversation: int = 0,
        trust: int = 100,
    ) -> Message:
        message = Message(
            role,  # type: ignore[arg-type]  # a test writes it as a word
            (Text(text),),
            speaker=speaker,
            conversation=conversation,
            provenance=Provenance("user", trust=trust),
        )
        return self.state.journal.append(message, tokens=len(text.split()))[0]

    def turn(
        self,
        text: str,
        reply: str = "Noted.",
        *,
        speaker: str = "Sam",
        looked_up: str = "",
        origin: Origin = "user",
    ) -> int:
        """A finished turn; `looked_up` is what a function of memory found in it."""
        journal, turns = self.state.journal, self.state.turns
        number = turns.open(
            "UserMessage",
            client_id=None,
            client_digest=None,
            conversation=max(1, journal.conversation),
            speaker=speaker,
            first_seq=journal.last_seq + 1,
        )
        said = [
            Message("user", (Text(text),), speaker=speaker, provenance=Provenance(origin)),
            Message("assistant", (Text(reply),), speaker="ada", provenance=Provenance("model")),
        ]
        if looked_up:
            found = Message(
                "tool", (Text(looked_up),), tool_call_id="c", provenance=Provenance("tool")
            )
            said.insert(1, found)
        for message in said:
            journal.append(replace(message, turn=number), tokens=len(message.text.split()))
        turns.close(number, "answered")
        return number

    def note(
        self,
        text: str,
        facets: Facets = NOTE,
        *,
        importance: float | None = None,
        trust: int = 80,
        tags: Sequence[str] = (),
        sources: tuple[str, ...] = (),
        days_ago: float = 0,
    ) -> Passage:
        passage, _ = self.state.passages.insert(
            text,
            tags=tags,
            importance=importance,
            metadata={},
            seq=self.state.journal.last_seq,
            provenance=Provenance("model", trust=trust, sources=sources),
            author="model",
            created_at=self.clock.now() - timedelta(days=days_ago),
            facets=facets,
        )
        return passage

    def page(self, gist: str, *keywords: str, seqs: tuple[int, int] | None = None) -> Page:
        number = self.state.pages.last_number + 1
        first, last = seqs or (number, number)
        now = self.clock.now()
        page = Page(number, first, last, now, now, 1, 10, gist, keywords, 100)
        self.state.pages.add([page], line=self.state.journal.line, epoch=1)
        return page

    def record(self, number: int) -> Passage:
        return self.state.passages.get([number])[number]

    def retire(self, number: int) -> None:
        self.state.passages.set_status(number, "retired", author="user", reason="wrong", seq=0)

    def of_kind(self, kind: str) -> list[Passage]:
        """The records of a kind, the oldest first."""
        return self.state.passages.newest(1000, kind=kind)[::-1]  # type: ignore[arg-type]  # as say

    # --- what a job is given ------------------------------------------------------------------

    def context(self, model: ScriptedModel | None = None, **spec: Any) -> SleepContext:
        return SleepContext(
            agent="ada",
            state=self.state,
            spec=Sleeping.model_validate(spec),
            model=model,
            near=self._near,
            now=self.clock.now,
            zone=UTC,
            count=lambda text: len(text.split()),
            room=lambda: 4000,
            held=nullcontext,
            written=lambda: None,
            search=self._search,
            near_pages=self._near_pages,
        )

    def run(self, job: Job, model: ScriptedModel | None = None, **spec: Any) -> SleepContext:
        """Run a job if it is due, as the worker does."""
        context = self.context(model, **spec)
        if job.due(context):
            job.run(context, CancelToken())
        return context

    def _cosine(self, one: str, other: str) -> float:
        a, b = self._embedder.embed([one, other])
        return sum(x * y for x, y in zip(a, b, strict=True))

    def _near(self, text: str, limit: int, filters: SearchFilters) -> list[tuple[str, float]]:
        if not self.embeds:
            return []
        found = [(p.short_id, self._cosine(text, p.text)) for p in self._passages(filters)]
        return sorted(found, key=lambda each: -each[1])[:limit]

    def _near_pages(self, text: str, limit: int) -> list[tuple[str, float]]:
        pages = self.state.pages.all() if self.embeds else []
        found = [(page.short_id, self._cosine(text, page.gist)) for page in pages]
        return sorted(found, key=lambda each: -each[1])[:limit]

    def _search(self, tier: Tier, query: str, filters: SearchFilters, limit: int) -> Sequence[Hit]:
        if tier == "archival":
            texts = {p.short_id: p.text for p in self._passages(filters)}
        else:
            texts = {f"m{m.seq}": m.said for m in self.state.journal.newest(1000)}
        asked = set(query.lower().split())
        scores = {id: len(asked & set(text.lower().split())) for id, text in texts.items()}
        best = sorted((id for id in scores if scores[id]), key=lambda id: -scores[id])
        return [Hit(id, tier, texts[id], float(scores[id])) for id in best[:limit]]

    def _passages(self, filters: SearchFilters) -> list[Passage]:
        return [
            passage
            for passage in self.state.passages.newest(1000)
            if passage.standing in filters.standings
            and (not filters.kinds or passage.kind in filters.kinds)
            and (filters.end is None or (passage.created_at or NOW) < filters.end)
        ]


@contextmanager
def made(folder: Path, **how: Any) -> Iterator[Bed]:
    bed = Bed(folder, **how)
    try:
        yield bed
    finally:
        bed.state.close()


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    """Imported by the tests that want it."""
    with made(tmp_path) as each:
        yield each


def answering(answer: Any) -> ScriptedModel:
    """A model whose every answer is this JSON, or what a function makes of a request."""
    if callable(answer):
        says: Callable[[ModelRequest], str] = lambda request: json.dumps(answer(request))  # noqa: E731
        return ScriptedModel(says)
    return ScriptedModel(lambda request: json.dumps(answer))
