"""Core memory as tools and people edit it: each edit is stored as a version, then shown.

Implements services.Core. The in-memory blocks follow the commit, so that a failed transaction
leaves both as they were. An edit of a shared block is an edit for all who share it; one of a
profile is held to its schema. A block is trusted as the least of what stands in it: whoever adds to
it vouches for what is added. Only `memory trust` says otherwise (trusting.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.errors import EditMismatch, NotFound, ToolFailed
from pagemind.runtime.message import TRUST, Message, Origin, Provenance, Text, clean_text
from pagemind.runtime.shared_copies import SharedCopies
from pagemind.runtime.sources import sources_now
from pagemind.runtime.state.state import State
from pagemind.runtime.step_trust import FULL, StepTrust, untrusted
from pagemind.runtime.template import load

_REASON = 60  # characters of a path, in the history of a block


class CoreEditor:
    """Edits on behalf of `author`: the model by default; `trust` is how far what it writes is
    trusted, where that is not the origin's own. `tell` queues a notice of a change that
    the model did not make itself, where the prompt shows it only later."""

    def __init__(
        self,
        state: State,
        core: CoreMemory,
        *,
        author: str = "model",
        origin: Origin = "model",
        trust: int | None = None,
        tell: Callable[[Message], object] | None = None,
        shared: SharedCopies | None = None,
        step_trust: StepTrust | None = None,
    ) -> None:
        self._state = state
        self._shared = shared
        self._core = core
        self._author = author
        self._origin: Origin = origin
        self._trust = trust
        self._tell = tell
        self._step_trust = step_trust or StepTrust()

    def labels(self) -> list[str]:
        return self._core.labels()

    @property
    def shows_edits(self) -> bool:
        """Whether the prompt shows an edit at once; else from the next flush on."""
        return self._core.live

    def append(self, block: str, content: str) -> str:
        content = self._screened(content)
        to_edit = self._text(self._to_edit(block))
        return self._change(to_edit, lambda b: b.appended(content), "append")

    def edit(self, block: str, old_text: str, new_text: str) -> str:
        old, new = clean_text(old_text), self._screened(new_text)
        to_edit = self._text(self._to_edit(block))
        return self._change(to_edit, lambda b: b.edited(old, new), "edit")

    def rewrite(self, block: str, content: str) -> str:
        content = self._screened(content)
        return self._rewrite(self._to_edit(block), content, "rewrite", by_person=False)

    def set(self, block: str, path: str, value: Any) -> str:
        """Set one field of a profile, or delete it with None."""
        reason = f"{'delete' if value is None else 'set'} {clean_text(path)[:_REASON]}"
        return self.patch(block, {path: value}, reason)

    def patch(self, block: str, changes: Mapping[str, Any], reason: str) -> str:
        """Set several fields of a profile as one version: all of them, or none."""
        changes = self._state.screen.look(self._author, self._origin).json(dict(changes), block)
        to_edit = self._to_edit(block)
        profile = self._core.profiles.get(block)
        if profile is None:
            named = ", ".join(self._core.profiles) or "none"
            raise EditMismatch(
                f"{block} is text, not a profile: use core_append or core_edit. Profiles: {named}."
            )
        return self._change(
            to_edit, lambda b: b.with_value(profile.patched(b.value, changes)), reason
        )

    def _screened(self, content: str) -> str:
        """What of it is kept. What stands in the block already is nobody's new word."""
        return self._state.screen.look(self._author, self._origin).text(clean_text(content))

    def _text(self, block: Block) -> Block:
        """Raises EditMismatch for a profile: its JSON is not edited as text."""
        if block.label in self._core.profiles:
            raise EditMismatch(
                f"{block.label} is a profile (JSON): use core_set with the path of a field, such as"
                " pets[0].name, or notes[-] for one more in a list"
            )
        return block

    def _rewrite(self, block: Block, content: str, reason: str, *, by_person: bool) -> str:
        profile = self._core.profiles.get(block.label)

        def rewritten(now: Block) -> Block:
            if profile is None:
                return now.with_value(content)
            return now.with_value(profile.rewritten(now.value, content, by_person=by_person))

        return self._change(block, rewritten, reason, whole=True)

    def _to_edit(self, label: str) -> Block:
        """As it is stored: an earlier edit of the same transaction is not in the window yet."""
        return CoreMemory(self._state.blocks.all()).get(label, to_edit=True)

    def replace(self, block: str, content: str, reason: str = "rewrite") -> str:
        """Give a block a new value, as a person does: also one that the model may not edit."""
        by_person = self._author == "user"
        return self._rewrite(
            self._core.get(block), clean_text(content), reason, by_person=by_person
        )

    def put(self, block: Block, reason: str, *, anew: bool = False) -> str:
        """Store a block as it is, a new one too: it came out of a file; `anew`: nothing in it is
        from the version before."""
        return self._save(block, reason, FULL if anew else None)

    def restore(self, block: str, version: int) -> str:
        """Give a block the value that it had in a version, as a new version. Also for blocks that
        the model may not edit: only people restore. Raises NotFound."""
        current = self._core.get(block)
        shared = self._shared is not None and block in self._shared
        history = self._shared if shared and self._shared else self._state.blocks
        versions = history.history(block)
        old = next((each.value for each in versions if each.version == version), None)
        if old is None:
            raise NotFound(
                f"block {block!r} has no version {version}",
                hint=f"its versions are 1 to {len(versions)}",
            )

        def restored(now: Block) -> Block:
            # A limit may have become smaller since; what was there may come back all the same.
            roomy = replace(now, limit=max(now.limit, len(old)))
            return replace(roomy.with_value(old), limit=now.limit)

        named = self._shared.name_of(block) if shared and self._shared else block
        most = history.trust_of(named, version)
        return self._change(current, restored, f"restored version {version}", most=most)

    def _change(
        self,
        block: Block,
        make: Callable[[Block], Block],
        reason: str,
        *,
        whole: bool = False,
        most: int | None = None,
    ) -> str:
        """Store what `make` makes of a block; of a shared one, of what all have now."""
        if self._shared is None or block.label not in self._shared:
            return self._save(make(block), reason, most)
        with self._state.database.transaction():
            changed, trust = self._shared.change(
                block,
                make,
                author=self._author,
                origin=self._origin,
                reason=reason,
                whole=whole,
                trust=self._own_trust(),
                most=most,
            )
            return self._save(changed, reason, trust)

    def _own_trust(self) -> int:
        """How far what this author writes is trusted. Raises ToolFailed where it writes nothing."""
        if self._step_trust.tainted or (self._author == "worker" and untrusted(self._trust or 0)):
            raise ToolFailed("text from outside was in view: core memory is not written then")
        trust = self._step_trust() if self._trust is None else self._trust
        return min(TRUST[self._origin], trust)

    def _save(self, block: Block, reason: str, most: int | None) -> str:
        """`most` is how far what stays in it is trusted; None: as the version before."""
        trust = self._own_trust()
        most = self._state.blocks.trust_of(block.label) if most is None else most
        database = self._state.database
        with database.transaction():
            self._state.blocks.save(
                block,
                author=self._author,
                reason=reason,
                seq=self._state.journal.last_seq,
                origin=self._origin,
                trust=min(trust, most),
            )
            if self._author == "model":
                self._state.lineage.add(
                    f"block:{block.label}",
                    sources_now(self._state),
                    "from",
                    version=block.version,
                    seq=self._state.journal.last_seq,
                )
            database.after_commit(lambda: self._core.put(block))
            if self._tell is not None and not self._core.live:
                text = load("block_changed").fill(block=block.label, value=block.value).strip()
                made_by = Provenance("runtime", "core memory").at_most(min(trust, most))
                self._tell(
                    Message(
                        "user",
                        (Text(text),),
                        kind="notice",
                        speaker="pagemind",
                        provenance=made_by,
                    )
                )
        return block.value


def take_up(
    state: State,
    core: CoreMemory,
    shared: SharedCopies,
    *,
    tell: Callable[[Message], object] | None = None,
) -> dict[str, str]:
    """Take up what others have made of the shared blocks; the new values by their labels."""
    taken = {}
    for each in shared.taken_up():
        editor = CoreEditor(
            state,
            core,
            author=each.author,
            origin=each.origin,
            trust=each.shared.trust,
            tell=tell,
        )
        with state.database.transaction():
            taken[each.block.label] = editor.put(each.block, each.reason, anew=True)
            shared.note(each.block.label, each.shared)
    return taken
