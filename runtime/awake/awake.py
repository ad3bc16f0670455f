"""Awake: a home whose agents wake by themselves, in this process.

    with Awake(runtime, tell=print) as awake:
        awake.run(stop)        # until the event is set; awake.keeper takes more in meanwhile

Timers that are due, files in inbox folders and what other processes left become turns. One process
at a time keeps a home awake. It sleeps until the next timer, but looks twice a second for what
others left. After a kill at any instant the next one goes on: nothing is lost, nothing done twice.
"""

import logging
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Self

from pagemind.runtime.agent import Agent
from pagemind.runtime.awake.events import AwakeEvent, Kind, Tell, untold
from pagemind.runtime.awake.inbox import Inbox
from pagemind.runtime.awake.keeper import Keeper
from pagemind.runtime.awake.sleepers import Sleepers
from pagemind.runtime.awake.timekeeper import Timekeeper
from pagemind.runtime.clock import rfc3339
from pagemind.runtime.errors import HomeInUse, HomeUnusable, PagemindError
from pagemind.runtime.naming import checked_name
from pagemind.runtime.runtime import Runtime
from pagemind.runtime.settings import (
    INBOX_LOOK_SECONDS,
    KEEPER_AT_ONCE,
    KEEPER_CUT_SECONDS,
    KEEPER_GRACE_SECONDS,
    KEEPER_LOOK_SECONDS,
    SLEEP_LOOK_SECONDS,
)
from pagemind.runtime.state.blobs import Blobs
from pagemind.runtime.state.folders import FolderLock

_log = logging.getLogger("pagemind.awake")


def lock_of(home: Path) -> FolderLock:
    """Held by the process that keeps a home awake."""
    folder = home / "awake"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HomeUnusable(f"{folder}: {(error.strerror or str(error)).lower()}") from None
    return FolderLock(folder, str(home), "home")


class Awake:
    """`only` these agents, by default all; `inboxes` are folders beside those of definitions, by
    agent; the rest as for Keeper. Raises UnknownAgent; entering it HomeInUse."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        only: Collection[str] | None = None,
        inboxes: Mapping[str, Path] | None = None,
        at_once: int = KEEPER_AT_ONCE,
        opens: Callable[[str], Agent] | None = None,
        tell: Tell = untold,
    ) -> None:
        self.runtime = runtime
        self._tell = tell
        ids = {name: runtime.home.find(checked_name(name)).id for name in only or ()}
        self._only = set(ids.values()) if only else None
        self._own = {
            runtime.home.find(checked_name(name)).id: folder.absolute()
            for name, folder in (inboxes or {}).items()
        }
        self.keeper = Keeper(runtime, at_once=at_once, only=only or None, opens=opens, tell=tell)
        self._timekeeper = Timekeeper(
            runtime.schedules, self.keeper.mailbox, runtime.clock, self._only
        )
        self._sleepers = Sleepers(runtime, self.keeper.using, self._say, self._only)
        self._inboxes: dict[tuple[str, Path], Inbox] = {}
        self._wrong: dict[str, str] = {}  # what was told, by what it is about
        self._lock = lock_of(runtime.home.path)
        self._asleep = False

    def __enter__(self) -> Self:
        try:
            self._lock.acquire(0)
        except HomeInUse:
            raise HomeInUse(
                f"another process keeps {self.runtime.home.path} awake",
                hint="one `pagemind up` serves all agents of a home; stop the other one first",
            ) from None
        waiting, aside = self.keeper.mailbox.counts()
        timers = [s for s in self.runtime.schedules.of() if self._wanted(s.agent)]
        agents = [a.name for a in self.runtime.home.all() if self._wanted(a.id)]
        self._say("awake", agents=agents, timers=len(timers), waiting=waiting, aside=aside)
        self.keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(self, stop: threading.Event) -> None:
        """Let things happen until the event is set."""

        def look_into_inboxes() -> None:
            while not stop.wait(INBOX_LOOK_SECONDS):
                self.look_into_inboxes()

        # Apart: a long document must not keep timers waiting.
        inboxes = threading.Thread(target=look_into_inboxes, name="inboxes", daemon=True)
        inboxes.start()

        def look_for_sleepers() -> None:
            while not stop.wait(SLEEP_LOOK_SECONDS):
                self._guarded("sleep", lambda: self._sleepers.run(stop))

        sleepers = threading.Thread(target=look_for_sleepers, name="sleepers", daemon=True)
        sleepers.start()
        while not stop.wait(self.look()):
            pass
        self._sleepers.stop()
        inboxes.join(KEEPER_CUT_SECONDS)
        sleepers.join(KEEPER_CUT_SECONDS)

    def look(self) -> float:
        """Let what is due fire; seconds until the next look."""
        if self._guarded("timers", self._fire):
            self.keeper.wake()
        left = self._guarded("timers", self._timekeeper.seconds_to_next)
        # One that waits for its last firing to be handled is due all the time.
        return min(KEEPER_LOOK_SECONDS, left) if left else KEEPER_LOOK_SECONDS

    def stop(self, why: str = "", grace: float = KEEPER_GRACE_SECONDS) -> bool:
        """Whether every turn ended in time. What was not done waits for the next. Idempotent."""
        ended = self.keeper.stop(grace)
        if self._asleep:
            return ended
        self._asleep = True
        self._lock.release()
        self._say("asleep", why=why, left=self.keeper.mailbox.counts()[0])
        return ended

    def look_into_inboxes(self) -> None:
        """Take the files that are whole."""
        if self._guarded("inboxes", self._take_files):
            self.keeper.wake()

    # --- what wakes agents ----------------------------------------------------------------------

    def _fire(self) -> int:
        fired = self._timekeeper.fire_due()
        for one in fired:
            self._say(
                "timer_fired",
                agent=self._name(one.agent),
                timer=one.timer,
                due_at=rfc3339(one.due),
                missed=one.missed,
            )
        return len(fired)

    def _take_files(self) -> int:
        named = [(agent, Path(folder)) for agent, folder in self.runtime.schedules.inboxes()]
        wanted = {each for each in (*named, *self._own.items()) if self._wanted(each[0])}
        for gone in self._inboxes.keys() - wanted:
            del self._inboxes[gone]
        taken = 0
        for agent, folder in sorted(wanted):
            inbox = self._inboxes.get((agent, folder))
            if inbox is None:
                blobs = Blobs(self.runtime.home.folder(agent))
                inbox = Inbox(agent, folder, self.keeper.mailbox, blobs, self.runtime.clock)
                self._inboxes[agent, folder] = inbox
            found = self._guarded(f"the inbox {folder}", inbox.look) or []
            for one in found:
                told = {"agent": self._name(agent), "file": str(folder / one.file)}
                if one.reason:
                    self._say("file_failed", **told, reason=one.reason)
                else:
                    self._say("file_taken", **told)
            taken += len(found)
        return taken

    def _guarded(self, what: str, does: Callable[[], Any]) -> Any:
        """What goes wrong with the disk may pass: it is told once, and tried again."""
        try:
            result = does()
        except Exception as error:
            if self._asleep:  # a document that took too long: the next process takes it
                return None
            why = str(error)
            if isinstance(error, OSError):
                why = (error.strerror or str(error)).lower()
            elif not isinstance(error, PagemindError):
                _log.exception("%s", what)
                why = f"{type(error).__name__}: {error}"
            if self._wrong.get(what) != why:
                self._wrong[what] = why
                self._say("warning", why=f"{what}: {why}")
            return None
        self._wrong.pop(what, None)
        return result

    def _wanted(self, agent: str) -> bool:
        return self._only is None or agent in self._only

    def _name(self, agent: str) -> str:
        return self.runtime.home.of_id(agent).name

    def _say(self, happened: Kind, /, **data: Any) -> None:
        self._tell(AwakeEvent(happened, rfc3339(self.runtime.clock.now()), data))
