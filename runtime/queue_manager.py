"""The queue manager: append, warn, page out, flush. It keeps main context within its window.

Whatever it does to the queue is committed to the state database first; the in-memory queue
follows after the commit, so that a crash or a failed summary leaves the old state standing.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import tzinfo

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import PromptTooLarge
from pagemind.runtime.fifo_queue import Entry, FifoQueue, group
from pagemind.runtime.gist import gist, keywords
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.model import Usage
from pagemind.runtime.page import Group, Page, cut
from pagemind.runtime.page_table import SHORTEST_LINE, PageTable
from pagemind.runtime.pressure import Level, Pressure, Thresholds, Window, measure
from pagemind.runtime.settings import (
    EXCERPT_MIN_TOKENS,
    HANDLE_TOKENS,
    IDLE_FLUSH,
    MESSAGE_FRACTION,
    PAGE_FRACTION,
    PAGE_TABLE_FRACTION,
    PAGE_TOKENS,
    RESULTS_FRACTION,
    SUMMARY_FRACTION,
)
from pagemind.runtime.state.state import State
from pagemind.runtime.summarizer import Summarizer
from pagemind.runtime.template import load
from pagemind.runtime.trace import Observer, TraceEvent, ignore
from pagemind.runtime.view import View, show


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did: pages written, tokens freed, and the summary's own usage."""

    pages: tuple[Page, ...]
    freed: int
    usage: Usage


class QueueManager:
    """`window` gives the current window in our own tokens; `read` the text of a reading."""

    def __init__(
        self,
        state: State,
        context: MainContext,
        summarizer: Summarizer,
        *,
        thresholds: Thresholds,
        window: Callable[[], Window],
        zone: tzinfo,
        read: Callable[[Message], str],
        written: Callable[[], None],
    ) -> None:
        self._state = state
        self._context = context
        self._summarizer = summarizer
        self._thresholds = thresholds
        self._window = window
        self._zone = zone
        self._read = read
        self._written = written  # called after each commit that LanceDB should follow
        self._count = context.counter.count
        self.observer: Observer = ignore
        self.epoch = 0

    @property
    def context(self) -> MainContext:
        """Main context as it is now."""
        return self._context

    # --- resident messages ------------------------------------------------------------------

    def load(self) -> None:
        """Fill the queue from the newest epoch, or begin the first one."""
        state, context = self._state, self._context
        epoch = state.history.epoch()
        if epoch is None:
            self.begin_epoch("start")
            return
        self.epoch = epoch.epoch
        summary = state.pages.summary(epoch.summary)
        context.summary = summary.text if summary else ""
        context.table = state.history.text(epoch.table_sha256)
        first = min(epoch.queue_start, epoch.held or epoch.queue_start)
        views = state.history.views(first)
        stored = state.journal.range(epoch.queue_start, state.journal.last_seq)
        entries = [self._entry(m, views.get(m.seq, View()), pause) for m, _, pause in stored]
        context.queue = FifoQueue(e for e in entries if e.view.form != "gone")
        if epoch.held is not None:
            for message, _, pause in state.journal.range(epoch.held, epoch.held):
                context.held = self._entry(message, views.get(message.seq, View()), pause)

    def begin_epoch(self, reason: str, held: Entry | None = None) -> None:
        """Record that the head of the prompt changed. The queue stays where it is."""
        context = self._context
        newest = self._state.history.epoch()
        start = next((e.seq for e in context.queue), self._state.journal.last_seq + 1)
        held = held or context.held
        with self._state.database.transaction():
            epoch = self._state.history.begin_epoch(
                reason,
                system=context.system,
                tools=str(context.tools),
                blocks={block.label: block.version for block in context.core},
                summary=newest.summary if newest else None,
                table=context.table,
                pins=(),
                queue_start=newest.queue_start if newest else start,
                held=held.seq if held else None,
            )

            def follow() -> None:
                self.epoch, context.held = epoch.epoch, held

            self._state.database.after_commit(follow)

    def append(self, message: Message, *, step: int = 0) -> Message:
        """Commit a message and put it at the tail of the queue. An over-long one is stored whole
        and shown as an excerpt."""
        state = self._state
        with state.database.transaction():
            whole = self._context.counter.message(message)
            stored, pause = state.journal.append(message, tokens=whole, step=step)
            view = View("reading") if stored.kind == "reading" else View()
            limit = int(self.measure().room * MESSAGE_FRACTION)
            if stored.kind != "reading" and whole > limit:
                view = View("excerpt", max(EXCERPT_MIN_TOKENS, limit))
            entry = self._entry(stored, view, pause)
            if view.form != "full":
                state.history.set_views({stored.seq: view}, since_step=state.history.last_step + 1)
            state.database.after_commit(lambda: self._context.queue.push(entry))
        self._written()
        return stored

    def _entry(self, message: Message, view: View, pause: bool) -> Entry:
        counter = self._context.counter
        whole = counter.message(message)
        shown = show(
            message,
            view,
            pause=pause,
            whole=whole,
            zone=self._zone,
            count=self._count,
            read=self._read,
        )
        tokens = 0 if view.form == "gone" else counter.message(shown)
        return Entry(message, shown, tokens, whole, view, pause)

    def hold(self, seq: int) -> None:
        """Show an event again whose turn is taken up after it was paged out."""
        if not self._context.resident(seq):
            views = self._state.history.views(seq)
            for message, _, pause in self._state.journal.range(seq, seq):
                held = self._entry(message, views.get(seq, View()), pause)
                self.begin_epoch("held", held)

    # --- pressure ---------------------------------------------------------------------------

    def measure(self) -> Pressure:
        """What the next request costs."""
        return measure(self._context.sections(), self._window().usable, self._thresholds)

    def relieve(self, event_seq: int, cancel: CancelToken | None = None) -> Flushed | None:
        """Before a model call: warn or flush as pressure says. What a flush did, if one ran.

        Afterwards the request fits. Raises PromptTooLarge (each section's tokens) if it cannot,
        Cancelled from inside a summary.
        """
        self._fit_results()
        pressure = self.measure()
        self._tell(pressure)
        flushed = None
        if pressure.level is Level.FLUSH:
            flushed = self.flush(event_seq, cancel=cancel)
            pressure = self.measure()
        if pressure.level is Level.WARN and not self._warned():
            self._warn(pressure)
            if flushed is None and self.measure().level is Level.FLUSH:
                flushed = self.flush(event_seq, cancel=cancel)
        self._tighten(self.measure().flush_at)
        return flushed

    def _tell(self, pressure: Pressure) -> None:
        self.observer(
            TraceEvent(
                "pressure_measured",
                {"used": pressure.used, "room": pressure.room, "level": str(pressure.level)},
            )
        )

    def _warned(self) -> bool:
        return any(entry.message.kind == "notice" for entry in self._context.queue)

    def _warn(self, pressure: Pressure) -> None:
        text = load("warning").fill(percent=round(100 * pressure.ratio)).strip()
        last = self._context.queue.newest()[-1].message
        notice = self.append(
            Message(
                "user",
                (Text(text),),
                kind="notice",
                turn=last.turn,
                conversation=last.conversation,
                speaker="pagemind",
                provenance=Provenance("runtime"),
            )
        )
        self.observer(TraceEvent("warned", {"seq": notice.seq, "ratio": pressure.ratio}))

    # --- making messages smaller --------------------------------------------------------------

    def _fit_results(self) -> None:
        """The results of the newest group share half of room; the largest become excerpts."""
        entries = self._context.queue.newest()
        budget = int(self.measure().room * RESULTS_FRACTION)
        results = [e for e in entries if e.message.role == "tool"]
        while sum(e.tokens for e in results) > budget:
            largest = max(results, key=lambda e: e.tokens)
            smaller = self._halved(largest)
            if smaller is None:
                return
            results = [smaller if e.seq == smaller.seq else e for e in results]

    def _halved(self, entry: Entry) -> Entry | None:
        """Show a message at half its size; None if it does not get smaller."""
        return self._excerpted(entry, max(EXCERPT_MIN_TOKENS, entry.tokens // 2))

    def _bare(self, entry: Entry) -> Entry | None:
        """Show no more of a message than how to read it; None if that is not smaller."""
        return self._excerpted(entry, 0)

    def _excerpted(self, entry: Entry, limit: int) -> Entry | None:
        # A reading is only a reference: its excerpt would show the reference, so it becomes that.
        view = View("full") if entry.message.kind == "reading" else View("excerpt", limit)
        smaller = self._entry(entry.message, view, entry.pause)
        if smaller.tokens >= entry.tokens:
            return None
        history, context = self._state.history, self._context

        def follow() -> None:
            if context.held is not None and context.held.seq == entry.seq:
                context.held = smaller
            else:
                context.queue.replace(smaller)

        with self._state.database.transaction():
            history.set_views({entry.seq: view}, since_step=history.last_step + 1)
            self._state.database.after_commit(follow)
        return smaller

    def _tighten(self, limit: int) -> None:
        """Shrink the largest resident messages until `paged` is at most `limit`.

        Raises PromptTooLarge when nothing gets smaller any more.
        """
        for smaller in (self._halved, self._bare):
            stuck: set[int] = set()
            while (pressure := self.measure()).paged > limit:
                context = self._context
                entries = [*context.queue, *([context.held] if context.held else [])]
                candidates = [e for e in entries if e.seq not in stuck]
                if not candidates:
                    break
                largest = max(candidates, key=lambda e: e.tokens)
                if smaller(largest) is None:
                    stuck.add(largest.seq)
            else:
                return
        listed = ", ".join(f"{k} {v:,}" for k, v in pressure.sections.items() if v)
        raise PromptTooLarge(
            f"the request needs {pressure.used:,} tokens and only {pressure.fixed + limit:,} may"
            f" be used ({listed})",
            sections=pressure.sections,
            hint="use a larger context_window, or shorten the prompt, blocks or tools",
        )

    # --- flush --------------------------------------------------------------------------------

    def flush(
        self,
        event_seq: int | None,
        *,
        keep: int | None = None,
        reason: str = "flush",
        ask: bool = True,
        cancel: CancelToken | None = None,
    ) -> Flushed:
        """Page out the oldest groups and fold them into the summary.

        `event_seq` is the event of the running turn (None between turns): it stays shown, and so
        does the newest group. `keep` is what `paged` may be afterwards, in tokens; without `ask`
        no model is called for the summary.
        """
        before = self.measure()
        self.observer(TraceEvent("flush_started", {"used": before.used, "room": before.room}))
        keep = before.keep_at if keep is None else keep
        summary_budget = int(before.room * SUMMARY_FRACTION)
        table_budget = int(before.room * PAGE_TABLE_FRACTION)

        shown = list(self._context.queue)
        entries = [self._settled(entry, event_seq) for entry in shown]
        views = {e.seq: e.view for e, old in zip(entries, shown, strict=True) if e.view != old.view}
        staying = [e for e in entries if e.view.form != "gone"]
        groups = group(staying)
        target = max(0, keep - summary_budget - table_budget)
        evicted: list[Group] = []
        size = sum(g.tokens for g in groups)
        while len(groups) > 1 and size > target:
            size -= groups[0].tokens
            evicted.append(groups.pop(0))

        newest = self._state.history.epoch()
        queue_start = newest.queue_start if newest else 1
        gone: list[Entry] = []
        pages: list[Page] = []
        if evicted:
            first, queue_start = queue_start, groups[0].first_seq
            gone = [e for e in entries if e.seq < queue_start]
            pages = self._pages(gone, before.room, first, queue_start)
        made = None
        if pages:
            made = self._summarizer.summarise(
                self._context.summary,
                [e.message for e in gone],
                pages,
                budget=summary_budget,
                ask=ask,
                cancel=cancel,
            )
            self.observer(
                TraceEvent("summarised", {"rung": made.rung, "tokens": self._count(made.text)})
            )
        held = self._held_after(gone, event_seq)

        state = self._state
        table = self._context.table
        if pages:
            known = state.pages.newest(table_budget // SHORTEST_LINE + 1)
            table = PageTable([*known, *pages]).render(table_budget, self._count)
        summary = newest.summary if newest else None
        with state.database.transaction():
            if made is not None:
                summary = state.pages.summarise(
                    made.text,
                    tokens=self._count(made.text),
                    covers_last=queue_start - 1,
                    rung=made.rung,
                    author=made.author,
                    trust=min((p.trust for p in pages), default=100),
                )
            epoch = state.history.begin_epoch(
                reason,
                system=self._context.system,
                tools=str(self._context.tools),
                blocks={block.label: block.version for block in self._context.core},
                summary=summary,
                table=table,
                pins=(),
                queue_start=queue_start,
                held=held.seq if held else None,
            )
            state.pages.add(pages, line=state.journal.line, epoch=epoch.epoch)
            if views:
                state.history.set_views(views, since_step=state.history.last_step + 1)

            def follow() -> None:
                context = self._context
                self.epoch = epoch.epoch
                context.queue = FifoQueue(e for e in staying if e.seq >= queue_start)
                context.held = held
                if made is not None:
                    context.summary, context.table = made.text, table

            state.database.after_commit(follow)
        for page in pages:
            self.observer(
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
        after = self.measure()
        freed = before.used - after.used
        self.observer(
            TraceEvent("flush_ended", {"freed": freed, "used": after.used, "pages": len(pages)})
        )
        self._written()
        return Flushed(tuple(pages), freed, made.usage if made else Usage())

    def _settled(self, entry: Entry, event_seq: int | None) -> Entry:
        """Stage 0: results of finished turns become handles, readings become their references,
        notices go. Nothing that was said is touched."""
        message = entry.message
        if message.kind == "notice":
            return self._entry(message, View("gone"), entry.pause)
        running = event_seq is not None and message.seq > event_seq
        if running or message.role != "tool":
            return entry
        if message.kind == "reading":
            return self._entry(message, View("full"), entry.pause)
        if entry.view.form == "handle" or entry.tokens <= HANDLE_TOKENS:
            return entry
        handle = self._entry(message, View("handle"), entry.pause)
        return handle if handle.tokens < entry.tokens else entry

    def _pages(
        self, entries: Sequence[Entry], room: int, first_seq: int, queue_start: int
    ) -> list[Page]:
        """Pages that cover first_seq … queue_start - 1, gapless; notices and readings cost them
        nothing."""
        counted = [
            replace(e, tokens=0 if e.message.kind in ("notice", "reading") else e.whole)
            for e in entries
        ]
        runs = cut(group(counted), min(PAGE_TOKENS, int(room * PAGE_FRACTION)))
        number = self._state.pages.count()
        pages: list[Page] = []
        for at, run in enumerate(runs):
            last = runs[at + 1][0].first_seq - 1 if at + 1 < len(runs) else queue_start - 1
            messages = [m for g in run for m in g.messages if m.kind not in ("notice", "reading")]
            times = [m.recorded_at for g in run for m in g.messages if m.recorded_at is not None]
            words = keywords([m.text for m in messages if m.role != "tool"])
            number += 1
            pages.append(
                Page(
                    number=number,
                    first_seq=run[0].first_seq if at else first_seq,
                    last_seq=last,
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

    def _held_after(self, gone: Sequence[Entry], event_seq: int | None) -> Entry | None:
        """The running turn's event stays shown although its page is written."""
        if event_seq is None:
            return None
        if self._context.held is not None and self._context.held.seq == event_seq:
            return self._context.held
        return next((e for e in gone if e.seq == event_seq), None)

    def shrink(self, event_seq: int, limit: int, cancel: CancelToken | None = None) -> Flushed:
        """A provider says that what fits does not: bring `used` down to `limit` tokens."""
        fixed = self.measure().fixed
        flushed = self.flush(
            event_seq, keep=max(0, limit - fixed), reason="overflow", cancel=cancel
        )
        self._tighten(max(0, limit - fixed))
        return flushed

    def settle_due(self) -> bool:
        """After a turn: whether a flush is so near that it should run before the next one."""
        self._context.prefetch = None
        pressure = self.measure()
        return pressure.paged > pressure.flush_at * IDLE_FLUSH

    def settle(self, cancel: CancelToken | None = None) -> Flushed | None:
        """Flush in the idle after a turn, if one is nearly due."""
        return self.flush(None, reason="idle", cancel=cancel) if self.settle_due() else None

    def make_room(self) -> None:
        """Between turns: flush if what was recorded without a model call filled the window."""
        if self.measure().level is Level.FLUSH:
            self.flush(None, ask=False)
            # No request is made now: what cannot be shown will have left when one is.
            with suppress(PromptTooLarge):
                self._tighten(self.measure().flush_at)
