"""AgentReader: reads an agent that another process or thread may be running.

It sees every acknowledged message, those that LanceDB does not have yet included, and never takes
the lock or writes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Any

from pagemind.runtime.acceptance import definition_of
from pagemind.runtime.agent_archives import AgentArchives
from pagemind.runtime.approvals import pending_in
from pagemind.runtime.archives import Archives
from pagemind.runtime.clock import Clock, rfc3339
from pagemind.runtime.definition import AgentDefinition
from pagemind.runtime.definition_parts import Searching
from pagemind.runtime.errors import UserError
from pagemind.runtime.inspection import Inspection, inspect
from pagemind.runtime.made_of import core_of, registry_of, tools_cost, zone_of
from pagemind.runtime.main_context import MainContext
from pagemind.runtime.message import Message
from pagemind.runtime.model import Embedder, ModelRequest
from pagemind.runtime.mould import fences_of
from pagemind.runtime.page_reader import PageReader
from pagemind.runtime.person import ApprovalRequest
from pagemind.runtime.pressure import Thresholds, Window, window
from pagemind.runtime.queue_manager import QueueManager
from pagemind.runtime.settings import DEFAULT_WINDOW_TOKENS, PAGE_TOKENS, STATE_SCHEMA
from pagemind.runtime.shared_copies import SharedCopies
from pagemind.runtime.state.home import AgentLock, Registered
from pagemind.runtime.state.shared_blocks import SharedBlocks
from pagemind.runtime.step_trust import untrusted
from pagemind.runtime.summarizer import Summarizer
from pagemind.runtime.tiers.legs import Source
from pagemind.runtime.tiers_reader import TiersReader
from pagemind.runtime.tokens import Calibration, TokenCounter, first_guess
from pagemind.runtime.tool import ToolRegistry
from pagemind.runtime.trust_view import TrustView, trust_view
from pagemind.runtime.untrusted import OPEN, Fences


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """One row of `agents list`."""

    name: str
    id: str
    definition: str
    model: str
    messages: int
    passages: int
    pages: int
    in_use: bool
    created_at: datetime
    last_active_at: datetime
    cost: float
    cost_known: bool
    bytes: int
    pending: ApprovalRequest | None = None  # the call that waits for a person's consent
    tags: tuple[str, ...] = ()
    problem: str = ""  # why the agent cannot be read; the counts are unknown then

    def as_json(self) -> dict[str, Any]:
        """An item of `agents list --json` (contract)."""
        return {
            "name": self.name,
            "id": self.id,
            "definition": self.definition,
            "model": self.model,
            "messages": self.messages,
            "passages": self.passages,
            "pages": self.pages,
            "in_use": self.in_use,
            "created_at": rfc3339(self.created_at),
            "last_active_at": rfc3339(self.last_active_at),
            "cost": {"amount": self.cost, "currency": "USD", "known": self.cost_known},
            "bytes": self.bytes,
            "tags": list(self.tags),
            "schema_version": STATE_SCHEMA,
            "problem": self.problem,
            "pending": self.pending.as_json() if self.pending is not None else None,
        }


def unreadable(registered: Registered, problem: str) -> AgentInfo:
    """An agent whose state cannot be read: it is listed, so that a person learns of it."""
    return AgentInfo(
        name=registered.name,
        id=registered.id,
        definition=registered.definition,
        model=registered.model,
        messages=0,
        passages=0,
        pages=0,
        in_use=False,
        created_at=registered.created_at,
        last_active_at=registered.last_active_at,
        cost=0.0,
        cost_known=False,
        bytes=0,
        problem=problem,
    )


class AgentReader(TiersReader):
    """Made by `Runtime.reader(name)`; a context manager. `embedder` gives that of a definition."""

    def __init__(
        self,
        registered: Registered,
        folder: Path,
        *,
        clock: Clock,
        counter: TokenCounter,
        embedder: Callable[[AgentDefinition], Embedder | None],
        archives: Archives | None = None,
        shared_blocks: SharedBlocks | None = None,
    ) -> None:
        super().__init__(registered.name, folder, clock)
        self.registered = registered
        self._counter = counter
        self._embedder = embedder
        self.definition = definition_of(self.state.database)
        self.sight = self.definition.sight().of_person
        self._queue_manager: QueueManager | None = None
        self._archives = archives
        named = self.definition.shared_blocks if shared_blocks is not None else {}
        blocks = shared_blocks or SharedBlocks(self.state.database, clock)
        self.shared_blocks = SharedCopies(self.state, blocks, named, agent=self.name)

    def info(self) -> AgentInfo:
        """Counts and sizes."""
        state = self.state
        _, _, cost, known = state.history.usage()
        return AgentInfo(
            name=self.registered.name,
            id=self.registered.id,
            definition=self.registered.definition,
            model=self.registered.model or state.database.meta("model"),
            messages=state.journal.count(),
            passages=state.passages.count(),
            pages=state.pages.count(),
            in_use=AgentLock(self.folder, self.name).held(),
            created_at=self.registered.created_at,
            last_active_at=self.registered.last_active_at,
            cost=cost,
            cost_known=known,
            bytes=self.bytes_on_disk(),
            pending=pending_in(state),
            tags=self.definition.tags,
        )

    # --- main context ---------------------------------------------------------------------------

    @property
    def model_name(self) -> str:
        """The model of the last turn, or the stored choice."""
        return self.state.database.meta("model") or self.registered.model

    @property
    def protocol(self) -> str:
        return self.state.database.meta("protocol") or self.definition.protocol

    def window(self) -> Window:
        """The window of the last turn; before any, what the definition says or the default."""
        stored = self.state.database.meta("window")
        if stored:
            tokens, reserve, source = stored.split(" ", 2)
            return Window(int(tokens), int(reserve), source)
        declared = self.definition.context_window
        tokens_, source_ = (
            (declared, "definition") if declared else (DEFAULT_WINDOW_TOKENS, "default")
        )
        return window(tokens_, source_, self.definition.output_reserve)

    @property
    def queue_manager(self) -> QueueManager:
        """Main context as it is now, for looking at."""
        if self._queue_manager is None:
            self._queue_manager = self._load()
        return self._queue_manager

    def _load(self) -> QueueManager:
        state, counter = self.state, self._counter
        zone = zone_of(self.definition)
        registry: ToolRegistry = registry_of(self.definition, self.protocol, state=self.state)
        context = MainContext(
            self.definition.instructions(self.protocol),
            core_of(state, self.definition, self.protocol),
            registry.schemas(),
            counter,
            tools_cost=tools_cost(self.protocol),
            fences=fences_of(state),
        )
        context.core_trust = lambda: state.blocks.least_trust(context.core.shown_versions())
        if self.protocol != "guided":
            context.core_apart = lambda: untrusted(context.core_trust())
        factor = self.calibration
        spec = self.definition.pressure
        manager = QueueManager(
            state,
            context,
            Summarizer(None, counter.count, lambda: 0),
            thresholds=Thresholds(spec.warn, spec.flush, spec.keep),
            window=lambda: self.window().scaled(factor),
            zone=zone,
            read=self.pages_in(context.fences).text_of,
            written=lambda: None,
        )
        if state.history.epoch() is not None:
            manager.load()
        return manager

    @property
    def context(self) -> MainContext:
        return self.queue_manager.context

    @property
    def calibration(self) -> float:
        return self.counted.factor

    @property
    def counted(self) -> Calibration:
        """What the model's replies taught of our counter."""
        return self.state.calibration(self.model_name) or first_guess(self.model_name)

    def request(self) -> ModelRequest:
        """The request that the next step would send, without a new event."""
        return self.context.render(self.window().reserve)

    def inspect(self) -> Inspection:
        """The window, what the next flush would take of it, and what lies on disk."""
        return inspect(
            self.state,
            self.queue_manager,
            model=self.model_name,
            window=self.window(),
            calibration=self.counted,
        )

    def trust_view(self) -> TrustView:
        """The rules, and what is untrusted in the window."""
        return trust_view(self.state, self.context, self.definition.trust)

    # --- the tiers ------------------------------------------------------------------------------

    @property
    def pages(self) -> PageReader:
        """Pages as text, for people."""
        return self.pages_in(OPEN)

    def pages_in(self, fences: Fences, part_tokens: int = PAGE_TOKENS) -> PageReader:
        """Pages as text for a model: what came from outside stands in these fences."""
        return PageReader(
            self.state,
            count=self._counter.count,
            zone=zone_of(self.definition),
            part_tokens=lambda: part_tokens,
            fences=fences,
        )

    @cached_property
    def shared(self) -> AgentArchives | None:
        """The archives that its searches look through too; None for none."""
        names = [each.name for each in self.definition.archives]
        if self._archives is None or not names:
            return None
        return AgentArchives(self._archives, names, lambda: self.embedder)

    def _sources(self) -> Sequence[Source]:
        return self.shared.sources() if self.shared is not None else ()

    @property
    def embedder(self) -> Embedder | None:
        """The embedder that made the tables. Where the definition names another one by now,
        reading goes on with the old until `memory reembed` is done."""
        made_by = self.state.database.meta("embedding", self.definition.embedding)
        if made_by == self.definition.embedding:
            return self._embedder(self.definition)
        try:
            return self._embedder(self.definition.model_copy(update={"embedding": made_by}))
        except UserError:  # it may not be used any more (local_only): words are still searched
            return None

    @property
    def searching(self) -> Searching:
        return self.definition.search

    @property
    def per_source(self) -> int:
        return self.definition.trust.per_source

    @property
    def zone(self) -> tzinfo:
        """The agent's time zone."""
        return zone_of(self.definition)

    def local_now(self) -> datetime:
        """The time now, in the agent's zone."""
        return self.state.clock.now().astimezone(self.zone)

    def _resident(self, seq: int) -> bool:
        epoch = self.state.history.epoch()
        if epoch is None or seq >= epoch.queue_start or seq == epoch.held:
            return True
        return bool(epoch.pins) and seq in self.queue_manager.pinning.of_epoch(epoch)

    def messages(self, limit: int) -> list[Message]:
        """The newest messages, oldest of them first."""
        return list(reversed(self.state.journal.newest(limit)))

    def close(self) -> None:
        super().close()
        if self.shared is not None:
            self.shared.close()
