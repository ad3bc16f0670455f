"""AgentWriter: changes the memory of an agent at rest, as a person does. No model is needed.

It holds the agent's lock from its making to close(), so that nobody runs the agent meanwhile. What
it writes is committed to the state database and on its way to LanceDB, as in a turn.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pagemind.runtime import retold
from pagemind.runtime.approvals import Approvals
from pagemind.runtime.archives import Archives
from pagemind.runtime.clock import Clock
from pagemind.runtime.core_editor import CoreEditor, take_up
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.intake import observation
from pagemind.runtime.made_of import registry_of
from pagemind.runtime.mcp.offered import KEY as MCP_SEEN
from pagemind.runtime.mcp.offered import ServerSeen, seen_in, stored_as
from pagemind.runtime.mend import mend
from pagemind.runtime.message import Message, Origin
from pagemind.runtime.model import Embedder
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.reader import AgentReader
from pagemind.runtime.reviewing import Reviewing
from pagemind.runtime.revoke import Revocation, Revoking
from pagemind.runtime.state.audit import Head
from pagemind.runtime.state.home import AgentLock, Registered
from pagemind.runtime.state.shared_blocks import SharedBlocks
from pagemind.runtime.tiers.write_back import WriteBack
from pagemind.runtime.tiers_writer import TiersWriter
from pagemind.runtime.time_machine import TimeMachine
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.trusting import Trusted, Trusting


class AgentWriter(AgentReader, TiersWriter):
    """Made by `Runtime.writer(name)`, which takes the lock; a context manager."""

    def __init__(
        self,
        registered: Registered,
        folder: Path,
        *,
        clock: Clock,
        counter: TokenCounter,
        embedder: Callable[[AgentDefinition], Embedder | None],
        write_back: WriteBack,
        lock: AgentLock,
        archives: Archives | None = None,
        shared_blocks: SharedBlocks | None = None,
        noted: Callable[[Head], None] | None = None,
    ) -> None:
        super().__init__(
            registered,
            folder,
            clock=clock,
            counter=counter,
            embedder=embedder,
            archives=archives,
            shared_blocks=shared_blocks,
        )
        self.lapsed: list[str] = []  # calls that waited for a person, and what became of them
        self._hold(registered.id, write_back, lock, noted)

    @property
    def embedding(self) -> tuple[str, Embedder | None]:
        return self.definition.embedding, self._embedder(self.definition)

    def accept_tools(self, servers: Mapping[str, ServerSeen]) -> None:
        """From now on the model reads what these MCP servers, by their names, say of their tools,
        as a person has seen it (mcp.look.look)."""
        database = self.state.database
        kept = seen_in(database.meta(MCP_SEEN))
        with database.transaction():
            for name, seen in servers.items():
                kept[name] = seen.accept()
                self.state.audit.add(
                    "tools accepted", f"mcp:{name}", by="user", tools=len(seen.tools)
                )
            database.set_meta(MCP_SEEN, stored_as(kept))

    def _load(self) -> QueueManager:
        manager = super()._load()
        self._approvals = Approvals(self.state.database, manager, self.lapsed)
        if self.state.history.epoch() is None:
            manager.load()  # begins the first epoch: what is recorded now belongs to its queue
        take_up(self.state, manager.context.core, self.shared_blocks, tell=manager.append)
        return manager

    def observe(self, text: str, *, source: str, speaker: str = "") -> Message:
        """Record something that happened: searchable at once, in the queue of the next turn."""
        message = self.queue_manager.append(observation(text, source, speaker))
        self._kick()
        return message

    @property
    def time_machine(self) -> TimeMachine:
        """Rewind, undo, bring back. A call that waits for a person, or that a dead process left
        open, gets its result first."""
        registry = registry_of(self.definition, self.protocol, state=self.state)
        effects = {tool.name: tool.effect for tool in registry}

        def effect(name: str) -> str:
            return effects.get(name, "world")

        manager = self.queue_manager
        self._approvals.lapse()
        mend(manager, effect, self.shared_blocks)
        return TimeMachine(
            self.name,
            self.state,
            count=self._counter.count,
            live=self.context.core.live,
            effect=effect,
            zone=self.zone,
            moved=self._moved,
        )

    def reload(self) -> None:
        """Main context was changed beside the queue manager: it is made anew."""
        self._moved()

    def _moved(self) -> None:
        self._queue_manager = None  # made anew when it is next asked for
        self._kick()

    @property
    def trusting(self) -> Trusting:
        """Who says how far something is trusted: a person."""
        return Trusting(self.state, partial(retold.around, self.state, count=self._counter.count))

    def trust(self, *ids: str, distrust: bool = False) -> list[Trusted]:
        """Trust messages (m42), records (a7), pages (p17) or blocks (block:human), or trust them no
        more; all that changed, what rests on them among it. Raises NotFound, UserError."""
        trusting = self.trusting
        return self.trusted(trusting.find(ids, distrust=distrust))

    def trusted(self, wanted: Sequence[Trusted]) -> list[Trusted]:
        """As `trusting` has found it."""
        changed = self.trusting.say(wanted)
        self._moved()
        return changed

    def restore_block(self, label: str, version: int) -> str:
        """Take edits of core memory back; the value. Raises BlockNotFound, NotFound."""
        return self.editor().restore(label, version)

    def write_block(self, label: str, value: str) -> str:
        """Write a block anew; the value. Raises BlockNotFound, BlockLimitExceeded."""
        return self.editor().replace(label, value)

    @property
    def reviewing(self) -> Reviewing:
        """What waits for a person, and its decisions."""
        return Reviewing(self.state, self.editor)

    def revoke(self, source: str, *, dry_run: bool = False) -> Revocation:
        """Take back all that came from a source; with `dry_run` only say what that would be.
        Raises NotFound for a source that nothing came from."""
        revoking = Revoking(self.state, self.editor)
        if dry_run:
            return revoking.preview(source)
        done = revoking.revoke(source)
        self._kick()
        return done

    def editor(self, origin: Origin = "user") -> CoreEditor:
        """Core memory, edited by a person."""
        return CoreEditor(
            self.state,
            self.context.core,
            author="user",
            origin=origin,
            tell=self.queue_manager.append,
            shared=self.shared_blocks,
        )
