"""SharedCopies: the shared blocks of one agent, of each of which it keeps a copy among its own.

What the model sees, what past requests and exports hold is the copy; it follows the shared block
between turns (`taken_up`), and each edit goes to the shared block first (`change`). A copy that
differs for whatever reason becomes like the shared block again.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from pagemind.runtime.core_memory import Block
from pagemind.runtime.errors import BlockChanged, BlockError, SharedBlockExists
from pagemind.runtime.message import TRUST, Origin
from pagemind.runtime.state.blocks import BlockVersion
from pagemind.runtime.state.shared_blocks import SharedBlock, SharedBlocks
from pagemind.runtime.state.state import State


@dataclass(frozen=True, slots=True)
class TakenUp:
    """What another agent or a person made of a shared block: the next version of the copy."""

    block: Block
    shared: SharedBlock

    @property
    def author(self) -> str:
        return self.shared.newest.author

    @property
    def origin(self) -> Origin:
        return "agent" if self.shared.origin == "model" else self.shared.origin

    @property
    def reason(self) -> str:
        made = self.shared.newest
        return f"{self.shared.name} version {made.version}: {made.reason}"


class SharedCopies:
    """`named` gives the shared block of each label that has one."""

    def __init__(
        self, state: State, blocks: SharedBlocks, named: Mapping[str, str], *, agent: str
    ) -> None:
        self._state = state
        self._blocks = blocks
        self._named = dict(named)
        self._agent = agent
        self._told: dict[str, tuple[str, int]] = {}  # what a refused edit has told the model

    def __contains__(self, label: object) -> bool:
        return label in self._named

    def name_of(self, label: str) -> str:
        return self._named[label]

    def now(self, blocks: Iterable[Block]) -> list[Block]:
        """These blocks as they are now: shared ones with the value, version and limit of all."""
        return [self._now(block) for block in blocks]

    def _now(self, block: Block) -> Block:
        shared = self._blocks.get(self._named[block.label]) if block.label in self else None
        return block if shared is None else _as(block, shared)

    def history(self, label: str) -> list[BlockVersion]:
        """Every version of the shared block, the oldest first."""
        return self._blocks.history(self._named[label])

    def trust_of(self, name: str, version: int) -> int:
        """How far a version of a shared block is trusted."""
        return self._blocks.trust_of(name, version)

    # --- following -----------------------------------------------------------------------------

    def taken_up(self) -> list[TakenUp]:
        """The blocks that changed since they were looked at last, as the next versions of their
        copies. A shared block that is not there yet is made of the copy."""
        if not self._named:
            return []
        found = []
        for copy in self._state.blocks.all():
            if copy.label not in self:
                continue
            shared = self._shared(copy)
            if (shared.value, shared.limit, shared.description) != (
                copy.value,
                copy.limit,
                copy.description,
            ):
                block = replace(_as(copy, shared), version=copy.version + 1)
                found.append(TakenUp(block, shared))
            elif self._state.blocks.shared().get(copy.label) != (shared.id, shared.version):
                self.note(copy.label, shared)
        return found

    def _shared(self, copy: Block) -> SharedBlock:
        name = self._named[copy.label]
        if found := self._blocks.get(name):
            return found
        try:
            return self._blocks.make(
                name,
                copy.value,
                limit=copy.limit,
                description=copy.description,
                author=self._agent,
                origin="operator",
                trust=self._state.blocks.trust_of(copy.label),
            )
        except SharedBlockExists:  # another process was quicker
            return self._blocks.find(name)

    def note(self, label: str, shared: SharedBlock) -> None:
        """The copy is as this version says."""
        self._state.blocks.note_shared(label, shared.id, shared.version)

    def as_told(self, label: str, value: str) -> None:
        """Somebody else writes the shared block: a replay, of which nobody else is part."""
        self._blocks.change(
            self._named[label],
            lambda now: value,
            author="trace",
            reason="replay",
            origin="agent",
            trust=TRUST["agent"],
        )

    # --- editing --------------------------------------------------------------------------------

    def change(
        self,
        copy: Block,
        make: Callable[[Block], Block],
        *,
        author: str,
        origin: Origin,
        reason: str,
        whole: bool,
        trust: int,
        most: int | None,
    ) -> tuple[Block, int]:
        """The next version of the copy, once the shared block has it, and how far it is trusted:
        as whoever writes, and no more than what stays in it (`most`; None: the version before).
        `whole`: the value is written anew, which is refused if somebody has changed it since it
        was seen.

        Raises BlockChanged with the text of now, BlockError.
        """
        seen = self._told.get(copy.label) or self._state.blocks.shared().get(copy.label)

        def made_of(shared: SharedBlock) -> str:
            others = None if seen == (shared.id, shared.version) else shared
            if others is not None and whole:
                raise self._changed(copy.label, shared, "")
            try:
                return make(_as(copy, shared)).value
            except BlockError as error:
                if others is None:
                    raise
                raise self._changed(copy.label, shared, f"{error.message} ") from None

        self._shared(copy)
        made = self._blocks.change(
            self._named[copy.label],
            made_of,
            author=self._agent if author == "model" else author,
            reason=reason,
            origin=origin,
            trust=trust,
            most=most,
        )
        self.note(copy.label, made)
        self._told.pop(copy.label, None)
        return replace(_as(copy, made), version=copy.version + 1), made.trust

    def _changed(self, label: str, shared: SharedBlock, why: str) -> BlockChanged:
        self._told[label] = (shared.id, shared.version)
        return BlockChanged(
            f"{why}{label} is shared and was changed by {shared.newest.author} since you saw it;"
            f" nothing of yours was written. It now reads:\n{shared.value}"
        )


def _as(copy: Block, shared: SharedBlock) -> Block:
    """What the shared block says, under the agent's label and terms."""
    return replace(
        copy,
        value=shared.value,
        limit=shared.limit,
        description=shared.description,
        version=shared.version,
    )
