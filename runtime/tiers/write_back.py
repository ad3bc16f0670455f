"""WriteBack: the one thread of a process that carries outboxes into the LanceDB tiers.

kick() after each append, drain() where one must know. Rows go out with their vectors if the
embedder works, without them if not; missing vectors are made up for when it is idle. Nothing here
raises into a turn: a failure is kept in status(), the rows stay in the outbox (where every search
looks) and are tried again later. An item is done only after its commit, so a crash repeats it.
"""

import atexit
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

from pagemind.runtime.clock import Clock, SystemClock
from pagemind.runtime.errors import PagemindError, TierOutdated
from pagemind.runtime.model import Embedder
from pagemind.runtime.outbox import Outbox, OutboxItem, Tier
from pagemind.runtime.settings import (
    UPKEEP_BUSY,
    UPKEEP_IDLE_SECONDS,
    UPKEEP_LEAVING,
    WRITE_BACK_BULK_ROWS,
    WRITE_BACK_EXIT_SECONDS,
    WRITE_BACK_IDLE_SECONDS,
    WRITE_BACK_RETRY_SECONDS,
    WRITE_BACK_ROWS,
)
from pagemind.runtime.tiers.schema import (
    TierRow,
    embedded_text,
    rows_of,
)
from pagemind.runtime.tiers.store import TIERS, TierStore

_log = logging.getLogger("pagemind.write_back")


@dataclass(frozen=True, slots=True)
class WriteBackStatus:
    """What `doctor` shows of an agent."""

    unwritten: int
    missing_vectors: int
    last_error: str | None
    filling: bool = False  # vectors are being made up for


def with_vectors(embedder: Embedder, rows: Sequence[TierRow]) -> list[TierRow]:
    """The rows with vectors. A zero or broken one is near to nothing, and LanceDB refuses NaN:
    such a row stays without."""
    vectors = embedder.embed([embedded_text(row) for row in rows])
    size = embedder.identity.dimensions
    return [
        replace(row, vector=vector)
        if len(vector) == size and 0.0 < sum(x * x for x in vector) < float("inf")
        else row
        for row, vector in zip(rows, vectors, strict=True)
    ]


class _Retries:
    """Waits that double from failure to failure."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.at = 0.0  # not before
        self._failures = 0

    def failed(self, error: Exception, now: float) -> None:
        first, most = WRITE_BACK_RETRY_SECONDS
        self.at = now + min(most, first * 2**self._failures)
        self._failures = min(self._failures + 1, 16)
        self.error = f"{type(error).__name__}: {error}"

    def worked(self) -> None:
        self.error, self.at, self._failures = None, 0.0, 0


class _Agent:
    """One registered agent. Fields below `due` are the thread's own."""

    def __init__(
        self, outbox: Outbox, store: TierStore, embedder: Embedder | None, zone: tzinfo
    ) -> None:
        self.outbox = outbox
        self.store = store
        self.embedder = embedder
        self.zone = zone
        self.kicks = 0  # since the last visit
        self.kicked_at = float("-inf")
        self.asked = 0  # drains asked for …
        self.answered = 0  # … and answered: all that was pending when asked is dealt with
        self.hurried = False  # a drain does not wait for vectors
        self.gone = False
        self.due: float | None = None
        self.busy = threading.Lock()  # held while a batch is under way
        self.writing = _Retries()
        self.embedding = _Retries()
        self.upkeep_error: str | None = None
        self.unkempt = False  # something was written since its indices were seen to
        self.backfill = True  # rows of an earlier process may lack vectors


class WriteBack:
    """Serves any number of agents; the thread starts with the first kick or drain."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._agents: dict[str, _Agent] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def register(
        self,
        key: str,
        outbox: Outbox,
        store: TierStore,
        embedder: Embedder | None,
        *,
        zone: tzinfo = UTC,
    ) -> None:
        """Take an agent on. What its outbox holds already is written after the first kick: at
        once if it is a batch, which many short processes have left together."""
        agent = _Agent(outbox, store, embedder, zone)
        agent.kicks = outbox.count()
        with self._changed:
            assert key not in self._agents, f"{key} is registered already"
            self._agents[key] = agent

    def kick(self, key: str) -> None:
        """Something was appended. Costs a lock and no more."""
        with self._changed:
            agent = self._agents.get(key)
            if agent is None:
                return
            agent.kicks += 1
            now = agent.kicked_at = self._clock.monotonic()
            full = agent.kicks >= WRITE_BACK_ROWS
            fresh = agent.due is None
            agent.due = max(now if full else now + WRITE_BACK_IDLE_SECONDS, agent.writing.at)
            # Later kicks only move the time; the thread sees that when it wakes.
            if full or fresh:
                self._start()
                self._changed.notify_all()

    def drain(self, key: str, timeout: float, *, vectors: bool = True) -> bool:
        """Write all that is pending now and wait for it; False if that failed or took too long.

        Without `vectors` the rows go out at once and get theirs later.
        """
        with self._changed:
            agent = self._agents.get(key)
            if agent is None or self._closed:
                return False
            agent.asked += 1
            ticket = agent.asked
            agent.hurried = agent.hurried or not vectors
            agent.due = self._clock.monotonic()
            agent.writing.at = 0.0
            self._start()
            self._changed.notify_all()
            answered = self._changed.wait_for(
                lambda: agent.answered >= ticket or agent.gone or self._closed, timeout
            )
            return answered and agent.answered >= ticket and agent.writing.error is None

    def unregister(self, key: str, timeout: float = WRITE_BACK_EXIT_SECONDS) -> None:
        """Let an agent go, after the batch under way. What is unwritten stays in its outbox."""
        with self._changed:
            agent = self._agents.pop(key, None)
            if agent is None:
                return
            agent.gone = True
            self._changed.notify_all()
        if agent.busy.acquire(timeout=timeout):
            try:
                # Many short processes never pause: one of them must do it.
                if agent.unkempt and agent.store.pressed(UPKEEP_LEAVING):
                    agent.store.maintain()
            except PagemindError as error:
                _log.warning("compaction failed: %s", error)
            finally:
                agent.busy.release()

    @contextmanager
    def paused(self, key: str, timeout: float = WRITE_BACK_EXIT_SECONDS) -> Iterator[bool]:
        """Nothing is written to an agent's tables meanwhile; False if a batch is still under way
        after `timeout` seconds."""
        agent = self._agents.get(key)
        if agent is None:
            yield True
            return
        stopped = agent.busy.acquire(timeout=timeout)
        try:
            yield stopped
        finally:
            if stopped:
                agent.busy.release()

    def status(self, key: str) -> WriteBackStatus:
        """Raises KeyError for an agent that is not registered."""
        agent = self._agents[key]
        error = agent.writing.error or agent.embedding.error or agent.upkeep_error
        missing = 0
        if agent.embedder is not None:
            try:
                missing = sum(agent.store.count_missing(tier) for tier in TIERS)
            except PagemindError as failure:
                error = error or f"{type(failure).__name__}: {failure}"
        filling = agent.embedder is not None and agent.backfill
        return WriteBackStatus(agent.outbox.count(), missing, error, filling)

    def close(self, timeout: float = WRITE_BACK_EXIT_SECONDS) -> None:
        """Stop the thread after the batch under way. Idempotent."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        atexit.unregister(self.close)

    # --- the thread -------------------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = threading.Thread(
                target=self._run, name="pagemind-write-back", daemon=True
            )
            # A daemon thread inside native code while the interpreter goes down may abort it.
            atexit.register(self.close)
            self._thread.start()

    def _run(self) -> None:
        while (agent := self._next()) is not None:
            with agent.busy:
                if not agent.gone:
                    self._visit(agent)
                    self._maintain(agent)

    def _next(self) -> _Agent | None:
        """Wait for the agent whose time has come; None at the end."""
        with self._changed:
            while not self._closed:
                now = self._clock.monotonic()
                waiting = [a for a in self._agents.values() if a.due is not None]
                agent = min(waiting, key=lambda a: a.due or 0.0, default=None)
                if agent is None:
                    self._changed.wait()
                elif agent.due is not None and agent.due > now:
                    self._changed.wait(agent.due - now)
                else:
                    agent.due, agent.kicks = None, 0
                    return agent
            return None

    def _visit(self, agent: _Agent) -> None:
        """One batch of rows if there is reason to write, else one batch of missing vectors."""
        with self._changed:
            asked, hurried = agent.asked, agent.hurried
            waited_for = asked > agent.answered
        now = self._clock.monotonic()
        idle = now - agent.kicked_at >= WRITE_BACK_IDLE_SECONDS
        wait: float | None = None  # until the next visit; None: until the next kick
        settled = True  # all that was pending when the drains asked is written, or failed
        try:
            unwritten = agent.outbox.count()
            if unwritten and (unwritten >= WRITE_BACK_ROWS or idle or waited_for):
                bulk = unwritten >= WRITE_BACK_BULK_ROWS
                limit = WRITE_BACK_BULK_ROWS if bulk else WRITE_BACK_ROWS
                items = agent.outbox.pending(limit)
                self._write(agent, items, with_vectors=not hurried)
                agent.writing.worked()
                wait, settled = 0.0, len(items) < limit
            elif unwritten:  # too few for a commit of their own
                wait = agent.kicked_at + WRITE_BACK_IDLE_SECONDS - now
            elif waited_for or self._fill(agent):
                wait = 0.0
            elif agent.embedder is not None and agent.backfill:
                wait = agent.embedding.at - now
        except TierOutdated as error:
            # Derived rows: an older version's are made anew. Queued first, dropped then: a crash
            # in between repeats it.
            _log.warning("%s; its rows are written again", error)
            agent.outbox.refill()
            agent.store.reset()
            wait, settled = 0.0, False
        except Exception as error:
            # Whatever it is, it must not end the thread: the rows wait, doctor shows it. Of an
            # agent that was let go the files may be closed under it.
            level = logging.DEBUG if agent.gone else logging.WARNING
            _log.log(level, "write-back failed: %s", error)
            agent.writing.failed(error, now)
            wait = agent.writing.at - now
        with self._changed:
            if settled:
                agent.answered = max(agent.answered, asked)
                agent.hurried = agent.hurried and agent.asked > asked
            if wait is not None:
                then = now + max(0.0, wait)
                agent.due = then if agent.due is None else min(agent.due, then)
            self._changed.notify_all()

    def _maintain(self, agent: _Agent) -> None:
        """See to the tables in a pause; where there never is one, when it is long overdue or when
        searches suffer. Nobody waits for it: between two steps it gives way to whatever is to be
        written."""
        if not agent.unkempt or agent.gone or self._closed:
            return
        if not agent.store.pressed(UPKEEP_BUSY) and not agent.store.worn():
            if self._wanted(agent):
                return
            pause = agent.kicked_at + UPKEEP_IDLE_SECONDS
            if self._clock.monotonic() < pause:
                with self._changed:
                    agent.due = pause if agent.due is None else min(agent.due, pause)
                return
        try:
            agent.store.maintain(stop=lambda: self._wanted(agent))
        except Exception as error:
            _log.warning("compaction failed: %s", error)
            agent.upkeep_error = f"compaction: {error}"
        else:
            agent.upkeep_error = None
        agent.unkempt = self._wanted(agent)

    def _wanted(self, agent: _Agent) -> bool:
        """Whether the thread has something else to do than upkeep."""
        now = self._clock.monotonic()
        return (
            self._closed
            or agent.gone
            or agent.asked > agent.answered
            or any(a.due is not None and a.due <= now for a in list(self._agents.values()))
        )

    def _write(self, agent: _Agent, items: Sequence[OutboxItem], *, with_vectors: bool) -> None:
        rows: dict[Tier, list[TierRow]] = {tier: [] for tier in TIERS}
        removed: dict[Tier, list[str]] = {tier: [] for tier in TIERS}
        for item in items:
            made = rows_of(item, agent.zone)
            rows[item.tier].extend(made)
            if not made:
                removed[item.tier].append(item.key)
        for tier in TIERS:
            # A huge message or a backlog is written first and embedded later, batch by batch.
            if with_vectors and len(rows[tier]) <= 2 * WRITE_BACK_ROWS:
                rows[tier] = self._embedded(agent, rows[tier])
            if agent.gone:
                # Let go while an embedder took its time: somebody else may write by now, or have
                # erased what these rows say.
                return
            if any(row.vector is None for row in rows[tier]):
                agent.backfill = True
            agent.store.delete(tier, removed[tier])
            agent.store.put(tier, rows[tier])
        agent.unkempt = True
        agent.outbox.done(items)

    def _embedded(self, agent: _Agent, rows: list[TierRow]) -> list[TierRow]:
        """The rows with vectors, or as they are if the embedder cannot."""
        if agent.embedder is None or not rows or self._clock.monotonic() < agent.embedding.at:
            return rows
        try:
            made = with_vectors(agent.embedder, rows)
        except Exception as error:
            _log.warning("embedding failed: %s", error)
            agent.embedding.failed(error, self._clock.monotonic())
            return rows
        agent.embedding.worked()
        return made

    def _fill(self, agent: _Agent) -> bool:
        """Give some rows the vectors they lack; whether there may be more."""
        if agent.embedder is None or not agent.backfill:
            return False
        for tier in TIERS:
            rows = agent.store.missing_vectors(tier, WRITE_BACK_ROWS)
            if not rows:
                continue
            made = {r.id: r.vector for r in self._embedded(agent, rows) if r.vector is not None}
            if agent.gone:
                return False
            agent.store.fill_vectors(tier, made)
            agent.unkempt = True
            if made:
                return True
            if agent.embedding.error is not None:
                return False  # tried again when its wait is over
        agent.backfill = False
        return False
