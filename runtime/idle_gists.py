"""Gists in the idle: when a while has passed without a turn, a model is asked for better ones.

start() after a turn, stop() before the next one and when the agent closes: neither waits for the
model. What it cost and did is collected by the next turn.
"""

import logging
import threading

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.errors import Cancelled
from pagemind.runtime.gist_writer import GistWriter
from pagemind.runtime.model import Usage
from pagemind.runtime.settings import GIST_IDLE_SECONDS
from pagemind.runtime.trace import TraceEvent

_log = logging.getLogger("pagemind.gists")


class IdleGists:
    """`lock` is the agent's: held while the state is read or written, not while a model thinks."""

    def __init__(
        self, writer: GistWriter, lock: threading.RLock, *, name: str, pause: float | None = None
    ) -> None:
        self._writer = writer
        self._lock = lock
        self._name = name
        self._pause = GIST_IDLE_SECONDS if pause is None else pause
        self._token = CancelToken()
        self._failed_after = -1  # pages there were when the model failed: more must come first
        self._usage = Usage()
        self._events: list[TraceEvent] = []

    def start(self) -> None:
        """Ask in a while, if there is something to ask."""
        if not self._writer.due() or self._writer.newest <= self._failed_after:
            return
        self.stop()
        self._token = CancelToken()
        threading.Thread(
            target=self._wait_and_write,
            args=(self._token,),
            name=f"gists of {self._name}",
            daemon=True,  # a process that ends does not wait for a line
        ).start()

    def stop(self) -> None:
        """Let it be; what is not stored yet is asked for again another time."""
        self._token.cancel()

    def collect(self) -> tuple[Usage, list[TraceEvent]]:
        """What was used and done since the last time."""
        with self._lock:
            usage, events = self._usage, self._events
            self._usage, self._events = Usage(), []
        return usage, events

    def _wait_and_write(self, token: CancelToken) -> None:
        try:
            token.wait(self._pause)
            while self.write(token):
                pass
        except Cancelled:
            pass

    def write(self, token: CancelToken) -> bool:
        """One call to the model; whether another may follow. Raises Cancelled."""
        try:
            with self._lock:
                token.check()
                plan = self._writer.plan()
            if plan is None:
                return False
            reply = self._writer.ask(plan, token)
            with self._lock:
                self._usage += reply.usage
                token.check()
                better = self._writer.keep(plan, reply)
                asked = [page.short_id for page in plan.pages]
                ids = [page.short_id for page in better]
                self._events.append(TraceEvent("gists_written", {"ids": ids, "asked": asked}))
        except Cancelled:
            raise
        except Exception as error:
            if token.cancelled:
                return False
            # Nobody waits for it, and the deterministic gists do their work.
            _log.info("gists of %s: %s", self._name, error)
            with self._lock:
                self._failed_after = self._writer.newest
                self._events.append(TraceEvent("gists_failed", {"error": str(error)}))
            return False
        if not better:
            self._failed_after = self._writer.newest
        return bool(better)
