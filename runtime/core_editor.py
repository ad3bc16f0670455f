"""Core memory as tools and people edit it: each edit is stored as a version, then shown.

Implements services.Core. The in-memory blocks follow the commit, so that a failed transaction
leaves both as they were.
"""

from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.message import Origin
from pagemind.runtime.state.state import State


class CoreEditor:
    """Edits on behalf of `author`: the model by default."""

    def __init__(
        self, state: State, core: CoreMemory, *, author: str = "model", origin: Origin = "model"
    ) -> None:
        self._state = state
        self._core = core
        self._author = author
        self._origin: Origin = origin

    def labels(self) -> list[str]:
        return self._core.labels()

    def append(self, block: str, content: str) -> str:
        return self._save(self._core.get(block, to_edit=True).appended(content), "append")

    def edit(self, block: str, old_text: str, new_text: str) -> str:
        return self._save(self._core.get(block, to_edit=True).edited(old_text, new_text), "edit")

    def rewrite(self, block: str, content: str) -> str:
        return self._save(self._core.get(block, to_edit=True).with_value(content), "rewrite")

    def _save(self, block: Block, reason: str) -> str:
        database = self._state.database
        with database.transaction():
            self._state.blocks.save(
                block,
                author=self._author,
                reason=reason,
                seq=self._state.journal.last_seq,
                origin=self._origin,
                trust=None,
            )
            database.after_commit(lambda: self._core.put(block))
        return block.value
