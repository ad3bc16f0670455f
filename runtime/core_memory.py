"""Core memory: small labelled blocks that the model edits itself. Pure; the caller stores.

Every edit returns a new Block or raises a BlockError with the value unchanged. Texts are kept to
the byte: tabs, CRLF and combining characters are never normalised. Limits are in characters.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from xml.sax.saxutils import quoteattr

from pagemind.runtime.errors import (
    BlockLimitExceeded,
    BlockNotFound,
    BlockReadOnly,
    EditMismatch,
)
from pagemind.runtime.profile import Profile
from pagemind.runtime.template import load
from pagemind.runtime.untrusted import closed


@dataclass(frozen=True, slots=True)
class Block:
    """One block; `version` counts its values from 1."""

    label: str
    value: str
    limit: int
    description: str = ""
    read_only: bool = False
    version: int = 1

    def with_value(self, value: str) -> "Block":
        """The next version. Raises BlockLimitExceeded."""
        if len(value) > self.limit:
            raise BlockLimitExceeded(
                f"{self.label}: {len(value):,} of {self.limit:,} characters,"
                f" {len(value) - self.limit:,} too many; shorten it, or archive some of it first."
                " The block is unchanged."
            )
        return replace(self, value=value, version=self.version + 1)

    def appended(self, content: str) -> "Block":
        """With `content` on a line of its own at the end."""
        if not content.strip():
            raise EditMismatch(f"{self.label}: there is nothing to append")
        glue = "" if not self.value or self.value.endswith("\n") else "\n"
        return self.with_value(self.value + glue + content)

    def edited(self, old_text: str, new_text: str) -> "Block":
        """With the one place that reads `old_text` replaced. Raises EditMismatch."""
        if not old_text:
            raise EditMismatch(f"{self.label}: old_text is empty; use core_append to add text")
        places = _places(self.value, old_text)
        if not places:
            raise EditMismatch(_not_found(self, old_text))
        if len(places) > 1:
            lines = ", ".join(str(self.value.count("\n", 0, at) + 1) for at in places[:10])
            raise EditMismatch(
                f"{self.label}: old_text occurs {len(places)} times (lines {lines});"
                " give more of the text around the one you mean"
            )
        at = places[0]
        return self.with_value(self.value[:at] + new_text + self.value[at + len(old_text) :])


def _places(value: str, old: str) -> list[int]:
    """Every place where `old` starts, overlaps included ("aaaa" has three "aa")."""
    places, at = [], value.find(old)
    while at >= 0:
        places.append(at)
        at = value.find(old, at + 1)
    return places


def _not_found(block: Block, old: str) -> str:
    lines = block.value.splitlines()
    close = get_close_matches(old.strip(), [line.strip() for line in lines], n=3, cutoff=0.4)
    # A short quote of a long line scores low by ratio; sharing a word is the better hint then.
    if not close:
        words = {word.lower() for word in old.split() if len(word) > 3}
        close = [line for line in lines if words & {w.lower() for w in line.split()}][:3]
    if not lines:
        return f"{block.label}: the block is empty; use core_append"
    nearest = "".join(f"\n  {line}" for line in close)
    return f"{block.label}: old_text does not occur." + (
        f" Closest lines:{nearest}" if close else ""
    )


class CoreMemory:
    """The blocks of one agent, in order. With `live` an edit is shown at once; without, when
    refresh() is called: the blocks are current, and render() shows what was current then.
    `profiles` are those of its blocks that hold JSON."""

    def __init__(
        self,
        blocks: Iterable[Block] = (),
        *,
        live: bool = True,
        profiles: Mapping[str, Profile] | None = None,
    ) -> None:
        self.profiles = dict(profiles or {})
        self._blocks = {block.label: block for block in blocks}
        self._shown = dict(self._blocks)
        self.live = live
        # Asked for many times a turn, changed in few turns.
        self._rendered: tuple[str | None, str | None] = (None, None)  # shown, refreshed

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks.values())

    def labels(self) -> list[str]:
        return list(self._blocks)

    def get(self, label: str, *, to_edit: bool = False) -> Block:
        """Raises BlockNotFound with the labels and the nearest, BlockReadOnly for an edit."""
        if label not in self._blocks:
            close = get_close_matches(label, self._blocks, n=1)
            nearest = f" Did you mean {close[0]}?" if close else ""
            labels = ", ".join(self._blocks) or "none"
            raise BlockNotFound(f"there is no block {label!r}.{nearest} Blocks: {labels}.")
        block = self._blocks[label]
        if to_edit and block.read_only:
            raise BlockReadOnly(f"{label} is read-only")
        return block

    def put(self, block: Block) -> None:
        """Keep a block, new or changed."""
        self._blocks[block.label] = block
        self._rendered = (self._rendered[0], None)
        if self.live:
            self.refresh()

    def refresh(self) -> None:
        """Show every edit from now on."""
        if self._shown != self._blocks:
            self.show(self._blocks.values())

    def show(self, blocks: Iterable[Block]) -> None:
        """Show these versions until refresh(): what a process that ended had in its prompt."""
        self._shown = {block.label: block for block in blocks}
        self._rendered = (None, self._rendered[1])

    def shown(self) -> list[Block]:
        """The blocks that render() shows, in order."""
        return list(self._shown.values())

    def shown_versions(self) -> dict[str, int]:
        """The version of each block that render() shows."""
        return {block.label: block.version for block in self._shown.values()}

    def render(self, *, refreshed: bool = False) -> str:
        """The text of main context. Nothing volatile is in it: it is part of the stable prefix.
        `refreshed`: as it would be after refresh()."""
        text = self._rendered[refreshed]
        if text is None:
            text = self._text(self._blocks if refreshed else self._shown)
            shown, fresh = self._rendered
            self._rendered = (shown, text) if refreshed else (text, fresh)
        return text

    def _text(self, blocks: Mapping[str, Block]) -> str:
        if not blocks:
            return ""
        lines = "\n".join(
            [
                "<core_memory>",
                *(_render(each, each.label in self.profiles) for each in blocks.values()),
                "</core_memory>",
            ]
        )
        prompt = load("core_memory") if self.live else load("core_memory_on_flush")
        return prompt.fill(blocks=lines).strip()


def misfits(blocks: Iterable[Block], profiles: Mapping[str, Profile]) -> dict[str, str]:
    """What of each block does not fit its profile: its schema has changed, say."""
    found = {
        block.label: profiles[block.label].faults_of(block.value)
        for block in blocks
        if block.label in profiles
    }
    return {label: "; ".join(faults) for label, faults in found.items() if faults}


def _render(block: Block, profile: bool) -> str:
    about = f" description={quoteattr(block.description)}" if block.description else ""
    flag = ' read_only="true"' if block.read_only else ""
    flag += ' format="json"' if profile else ""
    # A value must not be able to close its own fence.
    value = closed(block.value, "block", "core_memory")
    return (
        f'<block label="{block.label}"{about} chars="{len(block.value)}/{block.limit}"{flag}>\n'
        f"{value}\n</block>"
    )
