"""Pages of what was imported: it is evicted from the first, and never fills the queue.

Pages are a gapless run from the oldest message to the queue, so what is in the queue is paged out
first. add() takes groups in order of seq and holds no more than some pages' worth; close() begins
an epoch whose queue is empty.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pagemind.runtime.flush import page_tokens
from pagemind.runtime.gist import gist, keywords, with_terms
from pagemind.runtime.message import Message
from pagemind.runtime.page import Group, Page, cut
from pagemind.runtime.page_table import PageTable
from pagemind.runtime.settings import (
    FOREIGN_CUT_PAGES,
    HOT_LINES,
    PAGE_TABLE_FRACTION,
    SUMMARY_FRACTION,
)
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.summarizer import deterministic
from pagemind.runtime.usual_words import UsualWords
from pagemind.runtime.writer import AgentWriter


class Pager:
    """Inside one transaction, from its making to close(). `tool` is what the file came from."""

    def __init__(self, writer: AgentWriter, tool: str) -> None:
        self._state = writer.state
        self._manager = writer.queue_manager
        self._tool = tool
        self._zone = writer.zone
        self._count = self._manager.context.counter.count
        self._usual = UsualWords(self._state)
        self._room = self._manager.measure(refreshed=True).room
        self._page = page_tokens(self._room)
        newest = self._state.history.epoch()
        assert newest is not None
        self._before = newest
        self._next = self._state.journal.lines.onward(newest.queue_start)  # of the next page
        self._turn = 0
        self._buffer: list[Group] = []
        self._size = 0
        self._imported = 0
        self._own: list[Page] = []  # of the agent's own talk
        self._span: list[Page] = []  # first and last page of what was imported
        self.written = 0
        self._take_queue()

    def _take_queue(self) -> None:
        """What was in the queue until now."""
        group: list[Message] = []
        tokens = 0
        for message, size, _ in self._state.journal.live(self._next):
            if message.role != "tool" and group:
                self.add(Group(tuple(group), tokens), imported=False)
                group, tokens = [], 0
            group.append(message)
            tokens += 0 if message.kind in ("notice", "reading") else size
        if group:
            self.add(Group(tuple(group), tokens), imported=False)
        if self._buffer:  # a page is either the agent's own talk or another's
            self._cut(self._buffer[-1].last_seq + 1)

    def add(self, group: Group, *, imported: bool = True) -> None:
        """The next group. Times are those at which it was said."""
        head = group.messages[0]
        if head.role == "user" and head.kind == "talk":
            self._turn += 1
        turn = head.turn or self._turn  # so that an answer stays with its question
        said = tuple(replace(m, recorded_at=m.said_at, turn=turn) for m in group.messages)
        self._buffer.append(Group(said, group.tokens))
        self._size += group.tokens
        if imported:
            self._imported += sum(m.kind in ("talk", "observation") for m in group.messages)
        if self._size > FOREIGN_CUT_PAGES * self._page:
            self._cut(None)

    def _cut(self, end: int | None) -> None:
        """Write pages of what is held: all of it, up to seq `end`, or all but the last page."""
        runs = cut(self._buffer, self._page)
        kept = [] if end is not None else runs.pop()
        pages: list[Page] = []
        number = self._state.pages.last_number
        for at, run in enumerate(runs):
            if at + 1 < len(runs):
                after = runs[at + 1][0].first_seq
            else:
                after = kept[0].first_seq if kept else end or 0
            number += 1
            pages.append(self._made(number, run, after))
            self._next = self._state.journal.lines.onward(after)
        self._buffer, self._size = kept, sum(group.tokens for group in kept)
        if not pages:
            return
        epoch = self._before.epoch + 1
        line = self._state.journal.line
        self._state.pages.add(pages, line=line, epoch=epoch)
        self._state.pages.close_directories(self._count, line=line, epoch=epoch)
        self.written += len(pages)
        if self._imported:
            self._span = [*self._span[:1], *pages[: 1 - len(self._span[:1])], pages[-1]]
        else:
            self._own += pages

    def _made(self, number: int, run: Sequence[Group], after: int) -> Page:
        all_of_it = [m for group in run for m in group.messages]
        messages = [m for m in all_of_it if m.kind in ("talk", "observation")]
        times = [m.said_at for m in messages or all_of_it if m.said_at is not None]
        # Nothing that a file says stands in the head of the prompt, not even a word of it.
        told = [m for m in messages if not untrusted(m.provenance.trust)]
        texts = [m.text for m in told if m.role != "tool"]
        words = keywords(texts, rarity=self._usual.weight)
        trust = min((m.provenance.trust for m in messages), default=100)
        line = (
            gist(messages, words, self._count)
            if told or not messages
            else with_terms(f"imported from {self._tool}", words, self._count)
        )
        return Page(
            number=number,
            first_seq=self._next,
            last_seq=self._state.journal.lines.before(after),
            first_at=min(times),
            last_at=max(times),
            messages=len(messages),
            tokens=sum(group.tokens for group in run),
            gist=line,
            keywords=words,
            trust=trust,
        )

    def close(self) -> None:
        """All is in: the rest becomes pages, and the prompt's head says what there is."""
        state, context = self._state, self._manager.context
        end = state.journal.last_seq + 1
        self._cut(end)
        pages = state.pages
        table = PageTable(pages.tops(), pages.children, pages.hot(HOT_LINES), zone=self._zone)
        budget = int(self._room * SUMMARY_FRACTION)
        old = pages.summary(self._before.summary)
        text = deterministic(
            "\n".join(filter(None, [old.text if old else "", *self._lines()])),
            [],
            budget,
            self._count,
        )
        summary = pages.summarise(
            text,
            tokens=self._count(text),
            covers_last=end - 1,
            rung="deterministic",
            author="runtime",
            trust=min((page.trust for page in self._own), default=100),
        )
        state.history.begin_epoch(
            "import",
            system=context.system,
            tools=str(context.tools),
            blocks={block.label: block.version for block in state.blocks.all()},
            summary=summary,
            table=table.render(int(self._room * PAGE_TABLE_FRACTION), self._count),
            pins=context.pinned.targets,
            pinned=context.pinned.text,
            queue_start=end,
            held=None,
        )

    def _lines(self) -> list[str]:
        """What the summary gets: a line for each page of the agent's own, one for the rest."""
        lines = [f"- {p.short_id} {_day(p.first_at)}: {p.gist}" for p in self._own]
        if self._span:
            first, last = self._span[0], self._span[-1]
            ids = dict.fromkeys((first.short_id, last.short_id))
            days = dict.fromkeys((_day(first.first_at), _day(last.last_at)))
            what = f"{self._imported:,} messages imported from {self._tool}"
            lines.append(f"- {' … '.join(ids)} {' … '.join(days)}: {what}")
        return lines


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
