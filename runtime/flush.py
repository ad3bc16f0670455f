"""The flush: moves the oldest groups of the queue into pages and folds them into the summary.

flush() commits pages, summary, views and the new epoch in one transaction; main context follows
after the commit. begin_epoch() records that the head of the prompt changed without one.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.fifo_queue import Entry, FifoQueue, group
from pagemind.runtime.gist import gist, keywords
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.message import Message
from pagemind.runtime.model import Usage
from pagemind.runtime.page import Group, Page, cut, turn_ends
from pagemind.runtime.page_table import PageTable
from pagemind.runtime.parts import ALL, Parts
from pagemind.runtime.pinning import Pinning, pin_budget
from pagemind.runtime.pins import Pinned
from pagemind.runtime.pressure import Pressure
from pagemind.runtime.settings import (
    GIST_TOKENS,
    HANDLE_TOKENS,
    HOT_LINES,
    PAGE_FRACTION,
    PAGE_TABLE_FRACTION,
    PAGE_TOKENS,
    SUMMARY_FRACTION,
    SUMMARY_GROWTH,
    TABLE_LINE_TOKENS,
)
from pagemind.runtime.state.history import Epoch
from pagemind.runtime.state.pages import Summary
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.summarizer import Summarised, Summarizer
from pagemind.runtime.trace import Observer, TraceEvent
from pagemind.runtime.usual_words import UsualWords
from pagemind.runtime.view import View

UNTRUSTED_HEAD = "untrusted_head"  # of meta: up to which epoch the head came in a file


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did: pages written, tokens freed, and the summary's own usage."""

    pages: tuple[Page, ...]
    freed: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class _Eviction:
    """What leaves the queue and what stays, all as it will be shown."""

    gone: list[Entry]
    staying: list[Entry]
    queue_start: int
    views: dict[int, View]


class Flusher:
    """`show` makes an entry of a message in a view; `tell` is given what happens."""

    def __init__(
        self,
        state: State,
        context: MainContext,
        summarizer: Summarizer,
        *,
        pinning: Pinning,
        show: Callable[[Message, View, bool], Entry],
        tell: Observer,
        zone: tzinfo,
        parts: Parts = ALL,
    ) -> None:
        self._state = state
        self._usual = UsualWords(state)
        self._context = context
        self._summarizer = summarizer
        self._pinning = pinning
        self._show = show
        self._tell = tell
        self._zone = zone
        self._parts = parts
        self._count = context.counter.count
        self.epoch = 0

    # --- epochs -------------------------------------------------------------------------------

    def begin_epoch(self, reason: str, held: Entry | None = None) -> None:
        """Record that the head of the prompt changed. The queue stays where it is."""
        context = self._context
        newest = self._state.history.epoch()
        start = next((e.seq for e in context.queue), self._state.journal.last_seq + 1)
        held = held or context.held
        with self._state.database.transaction():
            epoch = self._record(
                reason,
                blocks=context.core.shown_versions(),
                summary=newest.summary if newest else None,
                table=context.table,
                pinned=context.pinned,
                queue_start=newest.queue_start if newest else start,
                held=held,
            )

            def follow() -> None:
                self.epoch, context.held = epoch.epoch, held

            self._state.database.after_commit(follow)

    def _record(
        self,
        reason: str,
        *,
        blocks: Mapping[str, int],
        summary: int | None,
        table: str,
        pinned: Pinned,
        queue_start: int,
        held: Entry | None,
    ) -> Epoch:
        """All that an epoch records: with it any past request can be made again."""
        context = self._context
        return self._state.history.begin_epoch(
            reason,
            system=context.system,
            tools=str(context.tools),
            blocks=blocks,
            summary=summary,
            table=table,
            pins=pinned.targets,
            pinned=pinned.text,
            queue_start=queue_start,
            held=held.seq if held else None,
        )

    def head_trust(self, epoch: Epoch, summary: Summary | None) -> int:
        """How far summary and page table of an epoch are trusted: what came in a file that is not,
        and was not made anew since, as little as that."""
        came = json.loads(self._state.database.meta(UNTRUSTED_HEAD, "{}"))
        least = came["trust"] if came and epoch.epoch <= came["epoch"] else 100
        return min(least, summary.trust if summary is not None and summary.text else 100)

    # --- flush --------------------------------------------------------------------------------

    def flush(
        self,
        event_seq: int | None,
        *,
        before: Pressure,
        keep: int,
        reason: str,
        exact: bool,
        ask: bool,
        cancel: CancelToken | None,
    ) -> Flushed:
        """Page out the oldest groups and fold them into the summary.

        `event_seq` is the event of the running turn (None between turns): it stays shown, and so
        does the newest group. `keep` is what `paged` should be afterwards, in tokens, and with
        `exact` what it may be; without `ask` no model is called for the summary.
        """
        summary_budget, table_budget = self._budgets(before)
        newest = self._state.history.epoch()
        first = newest.queue_start if newest else 1
        # What is pinned is read here, once a flush, and stands in the epoch from here on.
        pinned = self._pinning.section(pin_budget(before))
        asks = ask and self._summarizer.asks
        target = self._target(before, keep, pinned, exact=exact, asks=asks)
        spare = page_tokens(before.room)
        out = self._evict(event_seq, first, target, spare=spare, exact=exact)
        pages = self._pages(out.gone, before.room, first, out.queue_start) if out.gone else []
        made = self._summarised(out.gone, pages, summary_budget, ask, cancel) if pages else None
        held = self._held_after(out.gone, event_seq)

        state, context = self._state, self._context
        summary = newest.summary if newest else None
        number = newest.epoch + 1 if newest else 1
        with state.database.transaction():
            table = context.table
            if pages:
                self._grow(pages, number)
                table = self._table(table_budget)
            if made is not None:
                summary = state.pages.summarise(
                    made.text,
                    tokens=self._count(made.text),
                    covers_last=out.queue_start - 1,
                    rung=made.rung,
                    author=made.author,
                    trust=self._summary_trust(out.gone, summary),
                )
            epoch = self._record(
                reason,
                blocks={block.label: block.version for block in context.core},
                summary=summary,
                table=table,
                pinned=pinned,
                queue_start=out.queue_start,
                held=held,
            )
            assert epoch.epoch == number
            if out.views:
                state.history.set_views(out.views, since_step=state.history.last_step + 1)

            def follow() -> None:
                self.epoch = epoch.epoch
                context.core.refresh()
                context.queue = FifoQueue(e for e in out.staying if e.seq >= out.queue_start)
                context.held = held
                context.pinned = pinned
                if made is not None:
                    context.summary, context.table = made.text, table
                    context.head_trust = self.head_trust(epoch, state.pages.summary(summary))

            state.database.after_commit(follow)
        for page in pages:
            self._tell_written(page)
        return Flushed(tuple(pages), 0, made.usage if made else Usage())

    def next_evicted(self, before: Pressure, *, keep: int) -> list[Group]:
        """The groups that a flush between turns would take now, oldest first; nothing changes."""
        newest = self._state.history.epoch()
        first = newest.queue_start if newest else 1
        pinned = self._pinning.section(pin_budget(before))
        # Who looks at an agent has no model: whoever wrote the last summary will write the next.
        last = self._state.pages.summary(newest.summary) if newest else None
        target = self._target(before, keep, pinned, asks=bool(last and last.author != "runtime"))
        spare = page_tokens(before.room)
        return group(self._evict(None, first, target, spare=spare, exact=False).gone)

    def _budgets(self, before: Pressure) -> tuple[int, int]:
        """Tokens that the summary and the page table may take."""
        return (
            int(before.room * SUMMARY_FRACTION) if self._parts.summary else 0,
            int(before.room * PAGE_TABLE_FRACTION) if self._parts.table else 0,
        )

    def _target(
        self, before: Pressure, keep: int, pinned: Pinned, *, asks: bool, exact: bool = False
    ) -> int:
        """What the queue may be after a flush that leaves about `keep` tokens of all that is paged.

        Summary and table are made after that, so that what they will take is foreseen: a model's
        summary is about as long as its last one (a third of what it may be at least, lest a sudden
        long one brings the next warning near), and a table of few pages is short. `exact`: they
        count as long as they may be.
        """
        summary, table = self._budgets(before)
        if not exact:
            if asks and (last := self._count(self._context.summary)):
                summary = min(summary, max(summary // 3, int(last * SUMMARY_GROWTH)))
            pages = before.paged // page_tokens(before.room) + 1
            lines = pages * (GIST_TOKENS + TABLE_LINE_TOKENS)
            table = min(table, self._count(self._context.table) + lines)
        return max(0, keep - summary - table - self._count(pinned.text))

    def _grow(self, pages: Sequence[Page], epoch: int) -> None:
        """Put pages into the tree, and close the directories that are full with them."""
        line = self._state.journal.line
        self._state.pages.add(pages, line=line, epoch=epoch)
        self._state.pages.close_directories(self._count, line=line, epoch=epoch)

    def _table(self, budget: int) -> str:
        """The page table of the tree as it is now: only what may be shown is loaded."""
        pages = self._state.pages
        table = PageTable(pages.tops(), pages.children, pages.hot(HOT_LINES), zone=self._zone)
        return table.render(budget, self._count)

    def grow(self) -> None:
        """Close directories that should be there: a home of the first version has none."""
        state = self._state
        state.pages.close_directories(self._count, line=state.journal.line, epoch=self.epoch)

    def _tell_written(self, page: Page) -> None:
        self._tell(
            TraceEvent(
                "page_written",
                {
                    "id": page.short_id,
                    "first_seq": page.first_seq,
                    "last_seq": page.last_seq,
                    "tokens": page.tokens,
                    "gist": page.gist,
                },
            )
        )

    def _evict(
        self, event_seq: int | None, first: int, target: int, *, spare: int, exact: bool
    ) -> _Eviction:
        """Settle what is shown, then take the oldest groups until the queue is down to `target`,
        or up to `spare` tokens beside it where a turn ends; nothing is changed yet."""
        shown = list(self._context.queue)
        entries = [self._settled(entry, event_seq) for entry in shown]
        views = {e.seq: e.view for e, old in zip(entries, shown, strict=True) if e.view != old.view}
        staying = [e for e in entries if e.view.form != "gone"]
        groups = group(staying)
        size = sum(g.tokens for g in groups)
        evicted = 0
        while len(groups) - evicted > 1 and size > target:
            size -= groups[evicted].tokens
            evicted += 1
        if not evicted:
            return _Eviction([], staying, first, views)
        evicted = _at_turn_end(groups, evicted, spare, event_seq, exact)
        queue_start = groups[evicted].first_seq
        gone = [e for e in entries if e.seq < queue_start]
        return _Eviction(gone, staying, queue_start, views)

    def _settled(self, entry: Entry, event_seq: int | None) -> Entry:
        """Stage 0: results of finished turns become handles, readings become their references,
        notices go. Nothing that was said is touched."""
        message = entry.message
        if entry.view.form == "aside":
            return entry
        if message.kind == "notice":
            return self._show(message, View("gone"), entry.pause)
        running = event_seq is not None and message.seq > event_seq
        if running or message.role != "tool":
            return entry
        if message.kind == "reading":
            return self._show(message, View("full"), entry.pause)
        if entry.view.form == "handle" or entry.tokens <= HANDLE_TOKENS or not self._parts.handles:
            return entry
        handle = self._show(message, View("handle"), entry.pause)
        return handle if handle.tokens < entry.tokens else entry

    def _pages(
        self, entries: Sequence[Entry], room: int, first_seq: int, queue_start: int
    ) -> list[Page]:
        """Pages that cover what is live from first_seq to queue_start - 1, gapless; notices and
        readings cost them nothing."""
        lines = self._state.journal.lines
        counted = [
            replace(e, tokens=0 if e.message.kind in ("notice", "reading") else e.whole)
            for e in entries
        ]
        runs = cut(group(counted), page_tokens(room))
        number = self._state.pages.last_number
        pages: list[Page] = []
        for at, run in enumerate(runs):
            end = runs[at + 1][0].first_seq if at + 1 < len(runs) else queue_start
            messages = [m for g in run for m in g.messages if m.kind not in ("notice", "reading")]
            times = [m.recorded_at for g in run for m in g.messages if m.recorded_at is not None]
            texts = [
                m.text for m in messages if m.role != "tool" and not untrusted(m.provenance.trust)
            ]
            words = keywords(texts, rarity=self._usual.weight)
            number += 1
            pages.append(
                Page(
                    number=number,
                    first_seq=run[0].first_seq if at else lines.onward(first_seq),
                    last_seq=lines.before(end),
                    first_at=min(times),
                    last_at=max(times),
                    messages=len(messages),
                    tokens=sum(g.tokens for g in run),
                    gist=gist(messages, words, self._count),
                    keywords=words,
                    trust=min((m.provenance.trust for m in messages), default=100),
                )
            )
        return pages

    def _summarised(
        self,
        gone: Sequence[Entry],
        pages: Sequence[Page],
        budget: int,
        ask: bool,
        cancel: CancelToken | None,
    ) -> Summarised:
        made = self._summarizer.summarise(
            # What is not trusted any more is not told again.
            "" if untrusted(self._context.head_trust) else self._context.summary,
            [e.message for e in gone],
            pages,
            budget=budget,
            ask=ask,
            cancel=cancel,
        )
        data = {"rung": made.rung, "tokens": self._count(made.text)}
        self._tell(TraceEvent("summarised", data))
        return made

    def _summary_trust(self, gone: Sequence[Entry], before: int | None) -> int:
        """The least trust of what the summary was made from: what is untrusted is only counted."""
        old = None if untrusted(self._context.head_trust) else self._state.pages.summary(before)
        trusts = [e.message.provenance.trust for e in gone]
        read = [trust for trust in trusts if not untrusted(trust)]
        return min([*read, old.trust if old is not None else 100])

    def _held_after(self, gone: Sequence[Entry], event_seq: int | None) -> Entry | None:
        """The running turn's event stays shown although its page is written."""
        if event_seq is None:
            return None
        if self._context.held is not None and self._context.held.seq == event_seq:
            return self._context.held
        return next((e for e in gone if e.seq == event_seq), None)


def page_tokens(room: int) -> int:
    """How long a page may be."""
    return min(PAGE_TOKENS, int(room * PAGE_FRACTION))


def _at_turn_end(
    groups: Sequence[Group], evicted: int, spare: int, event_seq: int | None, exact: bool
) -> int:
    """How many groups leave, if an answer shall stay with its question: some more or, unless no
    more may stay, some fewer than `evicted`, whichever is nearer and within `spare` tokens.

    Neither a part of the running turn nor the newest group leaves for it.
    """
    later, more = evicted, 0
    while not turn_ends(groups[later - 1], groups[later]):
        more += groups[later].tokens
        running = event_seq is not None and groups[later].last_seq >= event_seq
        later += 1
        if running or later == len(groups):
            more = spare + 1
            break
    earlier, fewer = evicted, 0
    while earlier and not turn_ends(groups[earlier - 1], groups[earlier]):
        earlier -= 1
        fewer += groups[earlier].tokens
    if exact or not earlier:
        fewer = spare + 1
    if min(more, fewer) > spare:
        return evicted
    return later if more <= fewer else earlier
