"""The queue manager: append, warn, relieve. It keeps main context within its window.

Whatever it does to the queue is committed to the state database first; the in-memory queue
follows after the commit, so that a crash or a failed summary leaves the old state standing. What
a flush is stands in flush.py.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import PromptTooLarge
from pagemind.runtime.fifo_queue import Entry, FifoQueue
from pagemind.runtime.flush import Flushed, Flusher
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.page import Group
from pagemind.runtime.parts import ALL, Parts
from pagemind.runtime.pinning import Pinning, pin_budget
from pagemind.runtime.pressure import Level, Pressure, Thresholds, Window, measure
from pagemind.runtime.settings import (
    EXCERPT_MIN_TOKENS,
    IDLE_FLUSH,
    MESSAGE_FRACTION,
    RESULTS_FRACTION,
)
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.summarizer import Summarizer
from pagemind.runtime.template import load
from pagemind.runtime.trace import Observer, TraceEvent, ignore
from pagemind.runtime.view import View, show


def is_warning(message: Message) -> bool:
    """Whether this is the notice at WARN; other notices say that a person changed something."""
    return message.kind == "notice" and not message.provenance.detail


def _told(message: Message) -> dict[str, object]:
    """A stored message for a trace, without its text."""
    assert message.recorded_at is not None
    return {
        "seq": message.seq,
        "role": message.role,
        "kind": message.kind,
        "turn": message.turn,
        "at": rfc3339(message.recorded_at),
    }


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
        parts: Parts = ALL,
    ) -> None:
        self._state = state
        self._context = context
        self._thresholds = thresholds
        self._window = window
        self._zone = zone
        self._read = read
        self._written = written  # called after each commit that LanceDB should follow
        self._parts = parts
        self._count = context.counter.count
        self.observer: Observer = ignore
        self.watch: Observer = ignore  # of what is stored, turn or not
        self.before_append: Callable[[Message], None] = lambda message: None
        self.pinning = Pinning(
            state,
            count=self._count,
            zone=zone,
            budget=lambda: pin_budget(self.measure()),
            fences=lambda: context.fences,
        )
        self._flusher = Flusher(
            state,
            context,
            summarizer,
            pinning=self.pinning,
            show=self._entry,
            tell=lambda event: self.observer(event),
            zone=zone,
            parts=parts,
        )

    @property
    def context(self) -> MainContext:
        """Main context as it is now."""
        return self._context

    @property
    def epoch(self) -> int:
        """The number of the epoch that requests are made in."""
        return self._flusher.epoch

    # --- resident messages ------------------------------------------------------------------

    def load(self) -> None:
        """Fill the queue from the newest epoch, or begin the first one."""
        state, context = self._state, self._context
        epoch = state.history.epoch()
        if epoch is None:
            self._flusher.begin_epoch("start")
            return
        self._flusher.epoch = epoch.epoch
        if not context.core.live:  # an edit since the flush waits for the next one
            context.core.show(state.blocks.at(state.history.shown_blocks(epoch)))
        summary = state.pages.summary(epoch.summary)
        context.summary = summary.text if summary else ""
        context.head_trust = self._flusher.head_trust(epoch, summary)
        context.table = state.history.text(epoch.table_sha256)
        context.pinned = self.pinning.of_epoch(epoch)
        first = min(epoch.queue_start, epoch.held or epoch.queue_start)
        views = state.history.views(first)
        stored = state.journal.live(epoch.queue_start)
        entries = [self._entry(m, views.get(m.seq, View()), pause) for m, _, pause in stored]
        context.queue = FifoQueue(e for e in entries if e.view.form != "gone")
        context.held = None
        if epoch.held is not None:
            for message, _, pause in state.journal.range(epoch.held, epoch.held):
                context.held = self._entry(message, views.get(message.seq, View()), pause)

    def reload(self) -> None:
        """Main context as the state says, after a move of the time machine."""
        for block in self._state.blocks.all():
            self._context.core.put(block)
        self._context.prefetch = None
        self.load()
        self._written()

    def renew_trust(self) -> None:
        """After a person has said how far something is trusted."""
        context, state = self._context, self._state
        resident = [*context.queue, *([context.held] if context.held is not None else [])]
        known = state.journal.get([entry.seq for entry in resident])
        for entry in resident:
            trusted = replace(entry, message=known[entry.seq])
            if entry.seq in context.queue:
                context.queue.replace(trusted)
            else:
                context.held = trusted
        if (epoch := state.history.epoch()) is not None:
            context.pinned = self.pinning.of_epoch(epoch)
            context.head_trust = self._flusher.head_trust(epoch, state.pages.summary(epoch.summary))

    def grow_tree(self) -> None:
        """Close directories that are missing, in an agent that may be written to."""
        self._flusher.grow()

    def append(self, message: Message, *, step: int = 0) -> Message:
        """Commit a message and put it at the tail of the queue. An over-long one is stored whole
        and shown as an excerpt."""
        state = self._state
        with state.database.transaction():
            self.before_append(message)
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
            state.database.after_commit(lambda: self.watch(TraceEvent("stored", _told(stored))))
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
            fences=self._context.fences,
        )
        tokens = 0 if view.hidden else counter.message(shown)
        return Entry(message, shown, tokens, whole, view, pause)

    def hold(self, seq: int) -> None:
        """Show an event again whose turn is taken up after it was paged out."""
        if not self._context.resident(seq):
            views = self._state.history.views(seq)
            for message, _, pause in self._state.journal.range(seq, seq):
                held = self._entry(message, views.get(seq, View()), pause)
                self._flusher.begin_epoch("held", held)

    # --- pressure ---------------------------------------------------------------------------

    def measure(self, *, refreshed: bool = False) -> Pressure:
        """What the next request costs; `refreshed`: with every edit of core memory in the head."""
        sections = self._context.sections(refreshed=refreshed)
        return measure(sections, self._window().usable, self._thresholds)

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
        if pressure.level is Level.WARN and self._parts.warning and not self._warned():
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

    def warn(self) -> float:
        """Tell the model now that its window fills, whatever the pressure, which it returns."""
        pressure = self.measure()
        self._warn(pressure)
        return pressure.ratio

    def _warned(self) -> bool:
        return any(is_warning(entry.message) for entry in self._context.queue)

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
        if entry.view.form == "aside":
            return None
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

    # --- setting aside -----------------------------------------------------------------------

    def set_aside(self, turn: int, *, whole_turn: bool) -> list[str]:
        """Take out of view every group in which something untrusted stands, and untrusted memories
        before the event; a line stands for each run of them. What has woken the running turn stays,
        or with `whole_turn` all of it. The id at which each run begins."""
        context, history = self._context, self._state.history
        entries = {entry.seq: entry for entry in context.queue}
        runs: list[list[Entry]] = []
        joined = False
        for each in context.queue.groups():
            own = [entries[message.seq] for message in each.messages]
            stays = any(
                e.message.turn == turn and (whole_turn or e.message.role == "user") for e in own
            )
            if not stays and any(e.tells and untrusted(e.message.provenance.trust) for e in own):
                runs[-1:] = [[*runs[-1], *own]] if joined else [*runs[-1:], own]
                joined = True
            else:
                joined = joined and all(e.view.form == "gone" for e in own)
        views = {
            entry.seq: View("aside", 0 if at else run[-1].seq)
            for run in runs
            for at, entry in enumerate(run)
        }
        aside = [self._entry(entries[q].message, view, False) for q, view in views.items()]

        def follow() -> None:
            if context.prefetch is not None and untrusted(context.prefetch.trust):
                context.prefetch = None
            for entry in aside:
                context.queue.replace(entry)

        with self._state.database.transaction():
            if views:
                history.set_views(views, since_step=history.last_step + 1)
            self._state.database.after_commit(follow)
        ids = [run[0].message.short_id for run in runs]
        if ids:
            self.observer(TraceEvent("set_aside", {"first": ids, "messages": len(views)}))
        return ids

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
        """Page out the oldest groups and fold them into the summary (see Flusher.flush), down to
        about half of room, or to no more than `keep` tokens."""
        before = self.measure()
        begun = {"reason": reason, "used": before.used, "room": before.room}
        self.observer(TraceEvent("flush_started", begun))
        head = self.measure(refreshed=True)  # the flush takes edits of core memory into the head
        flushed = self._flusher.flush(
            event_seq,
            before=head,
            keep=head.keep_at if keep is None else keep,
            exact=keep is not None,
            reason=reason,
            ask=ask,
            cancel=cancel,
        )
        after = self.measure()
        freed = before.used - after.used
        self.observer(
            TraceEvent(
                "flush_ended", {"freed": freed, "used": after.used, "pages": len(flushed.pages)}
            )
        )
        self._written()
        return replace(flushed, freed=freed)

    def next_evicted(self) -> list[Group]:
        """The groups that a flush between turns would take now, oldest first; nothing changes."""
        head = self.measure(refreshed=True)
        return self._flusher.next_evicted(head, keep=head.keep_at)

    def shrink(self, event_seq: int, limit: int, cancel: CancelToken | None = None) -> Flushed:
        """A provider says that what fits does not: bring `used` down to `limit` tokens."""
        fixed = self.measure(refreshed=True).fixed
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
