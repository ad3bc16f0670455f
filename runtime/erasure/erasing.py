"""Erasing from an agent: look at what would go, then let it go. `Runtime.erasing(name)` is one.

    with runtime.erasing("ada") as erasing:
        preview = erasing.preview(wanted(subject="Sam"))
        print(preview.counts, preview.items[:5])
        receipt = erasing.erase(preview)

It holds the agent until close(). What a killed process left unfinished is finished first
(`resumed`).
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self

from pagemind.runtime.archives import Archives
from pagemind.runtime.erasure.closure import plan_of
from pagemind.runtime.erasure.eraser import Eraser
from pagemind.runtime.erasure.plan import Counts, PreviewItem
from pagemind.runtime.erasure.prepared import Prepared
from pagemind.runtime.erasure.preview import preview as items_of
from pagemind.runtime.erasure.receipt import Receipt
from pagemind.runtime.erasure.retention import outdated
from pagemind.runtime.erasure.seeds import seeds_of
from pagemind.runtime.erasure.wanted import Wanted
from pagemind.runtime.errors import AgentInUse, NotFound, PagemindError
from pagemind.runtime.naming import checked_name
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.state.home import AgentLock, Home, Registered
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.writer import AgentWriter

_log = logging.getLogger("pagemind.erasure")


class House(Protocol):
    """What erasing needs of a Runtime."""

    home: Home
    archives: Archives
    counter: TokenCounter

    def is_open(self, agent_id: str) -> bool: ...

    def reader(self, name: str) -> AgentReader: ...

    def writer_in(self, registered: Registered, folder: Path) -> AgentWriter: ...


@dataclass(frozen=True, slots=True)
class Preview:
    """What would go. `items` show it to a person, and are stored nowhere; `share`: how much of all
    messages and records that is, 0 to 1."""

    wanted: Wanted
    prepared: Prepared
    items: tuple[PreviewItem, ...]
    share: float

    @property
    def counts(self) -> Counts:
        return self.prepared.counts

    @property
    def nothing(self) -> bool:
        """Whether nothing at all is meant."""
        return not self.prepared.plan

    @property
    def beside(self) -> dict[str, int]:
        """What goes outside the agent's own folder, counted by kind."""
        return self.prepared.outside.counts()

    @property
    def files(self) -> tuple[str, ...]:
        """Files of a person that go, unless they are to be kept."""
        return tuple(path for path, _ in self.prepared.outside.made)

    def as_json(self) -> dict[str, Any]:
        """The answer of `memory erase --dry-run` (docs/json.md)."""
        return {
            "erased": self.counts.to_dict(),
            "beside": self.beside,
            "files": list(self.files),
            "share": round(self.share, 4),
            "items": [
                {"kind": each.kind, "id": each.id, "what": each.what, "text": each.text}
                for each in self.items
            ],
        }


class Erasing:
    """A context manager. Raises AgentInUse after `wait` seconds, UnknownAgent."""

    def __init__(
        self,
        house: House,
        name: str,
        *,
        wait: float = 0.0,
        at_step: Callable[[str], None] = lambda step: None,
    ) -> None:
        self.agent = house.home.find(checked_name(name))
        if house.is_open(self.agent.id):
            raise AgentInUse(f"agent {name!r} is open in this process", hint="close it first")
        self._house = house
        self._lock = AgentLock(house.home.folder(self.agent.id), self.agent.name)
        self._lock.acquire(wait)
        self._eraser = eraser_of(house, self.agent, at_step)
        try:
            self.resumed = tuple(self._eraser.resume())
        except BaseException:
            self._lock.release()
            raise

    @property
    def gone(self) -> bool:
        """Whether the whole agent is."""
        return not any(each.id == self.agent.id for each in self._house.home.all())

    def preview(self, wanted: Wanted) -> Preview:
        """Raises NotFound for an id of nothing, UserError."""
        with self._house.reader(self.agent.name) as reader:
            state = reader.state
            plan = plan_of(state, wanted)
            matches = seeds_of(state, wanted).matches
            items = tuple(items_of(state, plan))
            whole = state.journal.count() + state.passages.count()
            prepared = self._eraser.prepare(state, plan, matches)
        counts = prepared.counts
        share = (counts.messages + counts.passages + counts.records) / max(1, whole)
        return Preview(wanted, prepared, items, min(1.0, share))

    def erase(
        self, preview: Preview, *, keep_files: bool = False, markers: Sequence[str] = ()
    ) -> Receipt:
        """Do what the preview showed. `keep_files`: files that were written for a person stay, and
        the receipt says so. Raises NotFound where nothing is meant; StorageError, DiskFull,
        ArchiveInUse: then it is unfinished, and finished by whoever opens the agent next."""
        if preview.nothing:
            raise NotFound(
                f"{self.agent.name} has nothing of that, and nothing was erased",
                hint=f"`pagemind memory search {self.agent.name} QUERY` shows what there is",
            )
        prepared = replace(preview.prepared, keep_files=keep_files)
        return self._eraser.erase(prepared, markers=markers)

    def close(self) -> None:
        """Let go of the agent. Idempotent."""
        self._lock.release()
        if self.gone:
            self._house.home.sweep()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def eraser_of(
    house: House, agent: Registered, at_step: Callable[[str], None] = lambda step: None
) -> Eraser:
    """For an agent whose lock the caller holds."""
    return Eraser(
        house.home,
        house.archives,
        agent,
        lambda: house.writer_in(agent, house.home.folder(agent.id)),
        counter=house.counter,
        at_step=at_step,
    )


def finish(house: House, agent: Registered) -> None:
    """Finish what a killed process left, before the agent, whose lock the caller holds, is used.

    Once its memory is clean the rest may wait (an archive is in use, the disk is full), and is
    tried again the next time. Raises StorageError while it is not.
    """
    try:
        for receipt in eraser_of(house, agent).resume():
            _log.warning("the erasure from %s was finished: %s", receipt.agent, receipt.path)
    except PagemindError as error:
        waiting = house.home.erasures.unfinished(agent.id)
        if any(each.state == "scrub" for each in waiting):
            raise
        _log.warning("the erasure from %s is not finished yet: %s", agent.name, error.message)


def keep_to(house: House, agent: Registered) -> Receipt | None:
    """Erase what is older than the agent's definition keeps; the caller holds its lock. None where
    nothing is due. What cannot be done now is tried again the next time."""
    eraser = eraser_of(house, agent)
    with house.reader(agent.name) as reader:
        due = outdated(reader.state, reader.definition.keep)
        plan = plan_of(reader.state, due) if due is not None else None
        if not plan:
            return None
        prepared = eraser.prepare(reader.state, plan, lambda text: False)
    try:
        return eraser.erase(prepared.saying(by="runtime"))
    except PagemindError as error:
        _log.warning("what %s no longer keeps is not erased yet: %s", agent.name, error.message)
        return None
