"""SharedArchives: the shared archives that an agent may write to, each change for its own duration.

A passage is stamped with the agent that wrote it; others find it at their next search. The archive
is open, and its lock held, only while a change is made, so that many agents, in one process or in
several, may write to the same one.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from pagemind.runtime.archival_memory import ArchivalMemory
from pagemind.runtime.archives import Archives
from pagemind.runtime.errors import ArchiveInUse, ToolFailed, UnknownArchive
from pagemind.runtime.keeping import Keeping
from pagemind.runtime.naming import folded, nearest
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import Held
from pagemind.runtime.settings import ARCHIVE_WAIT_SECONDS
from pagemind.runtime.sight import EVERYTHING, Sight
from pagemind.runtime.state.screen import Rule
from pagemind.runtime.step_trust import StepTrust

T = TypeVar("T")


class SharedArchives:
    """Implements services.Shared. `names` are those that may be written to; `sight` is the agent's,
    its viewer the agent's id: a name may be another agent's one day; `trust` is that of the step
    that writes: what a tainted one writes waits in the archive for a person. `secrets` is the rule
    of the agent's definition: an archive has none."""

    def __init__(
        self,
        archives: Archives,
        names: Sequence[str],
        *,
        agent: str,
        sight: Sight = EVERYTHING,
        trust: StepTrust | None = None,
        secrets: Rule = "allow",
    ) -> None:
        self._secrets = secrets
        self._archives = archives
        self._names = tuple(names)
        self._agent = agent
        self._sight = sight
        self._trust = trust

    def writable(self) -> tuple[str, ...]:
        return self._names

    def insert(
        self,
        archive: str,
        text: str,
        *,
        tags: Sequence[str] = (),
        importance: float | None = None,
        scope: str | None = None,
        private: bool = False,
    ) -> tuple[str, bool, bool]:
        owner = (self._sight.viewer or self._agent) if private else ""
        passage, new = self._change(
            archive,
            lambda memory: memory.insert(
                text, tags=tags, importance=importance, keeping=Keeping(scope, owner)
            ),
        )
        return self._id(archive, passage), new, passage.standing == "pending"

    def edit(self, archive: str, number: int, text: str) -> Passage | Held:
        return self._change(archive, lambda memory: memory.edit(number, text))

    def delete(self, archive: str, number: int) -> Passage | Held:
        return self._change(archive, lambda memory: memory.delete(number))

    def _id(self, archive: str, passage: Passage) -> str:
        return f"{self._name(archive)}:{passage.short_id}"

    def _name(self, archive: str) -> str:
        known = {folded(name): name for name in self._names}
        if found := known.get(folded(archive.strip())):
            return found
        names = ", ".join(self._names)
        hint = nearest(archive, self._names, otherwise=f"you can write to {names}")
        raise ToolFailed(f"you cannot write to an archive {archive!r}; {hint}")

    def _change(self, archive: str, change: Callable[[ArchivalMemory], T]) -> T:
        name = self._name(archive)
        try:
            with self._archives.writer(name, wait=ARCHIVE_WAIT_SECONDS) as writer:
                writer.state.screen.rule = self._secrets
                return change(writer.archival_of(self._agent, self._sight, self._trust))
        except ArchiveInUse:
            raise ToolFailed(f"{name} is being written to by somebody else; try later") from None
        except UnknownArchive:
            raise ToolFailed(
                f"the archive {name} is not there; a person makes it with `pagemind archives new"
                f" {name}`"
            ) from None
