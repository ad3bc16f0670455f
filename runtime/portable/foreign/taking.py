"""Puts what a reader gives into an agent, inside one transaction: messages as history that is
already paged out, memories as passages, blocks where there is room for them.

What was taken before is known by its id, which is made of the tool and its own key: the same file
adds nothing the second time, a newer one adds what is new. Nothing is trusted more than an import.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pagemind.runtime.archival_memory import each_once
from pagemind.runtime.core_editor import CoreEditor
from pagemind.runtime.core_memory import Block
from pagemind.runtime.message import (
    TRUST,
    Message,
    Provenance,
    Text,
    ToolCall,
    clean_json,
    clean_text,
)
from pagemind.runtime.page import Group
from pagemind.runtime.portable.foreign.exchanges import Exchanges
from pagemind.runtime.portable.foreign.items import Item, Kept, Known, Left, Said, Talk
from pagemind.runtime.portable.foreign.pager import Pager
from pagemind.runtime.settings import (
    CONVERSATION_PAUSE_SECONDS,
    FOREIGN_BATCH,
    FOREIGN_BLOCK_FRACTION,
    MAX_MESSAGE_BYTES,
    PASSAGE_CHARS,
    TIME_PAUSE_SECONDS,
)
from pagemind.runtime.state.bulk import append_many, known
from pagemind.runtime.state.denied import ERASED, Denied
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.writer import AgentWriter

_LABEL = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_EMPTY = "(empty)"  # a result must say something


@dataclass(slots=True)
class Taken:
    """What was new, what was there, and what was left out, with how often."""

    messages: int = 0
    conversations: int = 0
    passages: int = 0
    blocks: int = 0
    duplicates: int = 0
    left: Counter[tuple[str, str]] = field(default_factory=Counter)
    pages: int = 0
    paged_out: bool = False  # the talk so far left the window


@dataclass(slots=True)
class _Pending:
    """A group that waits to be stored: its ids, and the conversation that it belongs to."""

    group: list[Said]
    ids: list[str]
    talk: "_Open"
    at: datetime
    pause: bool
    fresh: bool  # a new conversation begins with it


@dataclass(slots=True)
class _Open:
    """The talk that is being read; `number` is that of its conversation, once it has one."""

    talk: Talk
    at: datetime | None
    number: int = 0
    begun: bool = False


class Taking:
    """One import into an agent that is held for writing. `tool` is a person's word for where it
    comes from, `new` says that nobody has ever talked with the agent."""

    def __init__(
        self,
        writer: AgentWriter,
        *,
        source: str,
        tool: str,
        file: str,
        count: TokenCounter,
        new: bool,
        denied: Denied | None = None,
        stop: Callable[[int], None] = lambda messages: None,
    ) -> None:
        self._denied = denied if denied is not None and denied.anything else None
        self.done = Taken()
        self._writer = writer
        self._state = writer.state
        self._source = source
        self._tool = tool
        self._count = count
        self._new = new
        self._stop = stop
        self._made = Provenance("import", clean_text(f"{source}: {file}"), TRUST["import"])
        self._now = self._state.clock.now()
        self._exchanges = Exchanges()
        self._open = _Open(Talk(""), None)
        self._pending: list[_Pending] = []
        self._blocks: list[Known] = []
        self._pager: Pager | None = None
        self._seq = 0
        self._since = self._state.journal.last_seq
        journal = self._state.journal
        self._conversation = max(
            journal.conversation, int(self._state.database.meta("conversations", "0"))
        )

    def take(self, items: Iterable[Item]) -> Taken:
        """All of it. Raises what the reader raises: then nothing of it may be committed."""
        for item in items:
            if self._was_erased(item):
                what = "message" if isinstance(item, Said) else "memory"
                self._left(Left(what, ERASED))
            elif isinstance(item, Said):
                self._groups(self._exchanges.add(self._checked(item)))
            elif isinstance(item, Talk):
                self._groups(self._exchanges.close())
                self._open = _Open(item, item.at)
            elif isinstance(item, Kept):
                self._keep(item)
            elif isinstance(item, Known):
                self._blocks.append(item)
            else:
                self._left(item)
        self._groups(self._exchanges.close())
        self._store()
        self._set_blocks()
        if self._pager is not None:
            self._state.database.set_meta("conversations", str(self._conversation))
            self._pager.close()
            self.done.pages = self._pager.written
        self._state.audit.add(
            "imported",
            self._source,
            by="user",
            trust=self._made.trust,
            text=self._made.detail,
            messages=self.done.messages,
            records=self.done.passages,
        )
        return self.done

    def _was_erased(self, item: Item) -> bool:
        """What was erased from this home is known by its words, or by its tool's id."""
        if self._denied is None or not isinstance(item, Said | Kept):
            return False
        kind = "message" if isinstance(item, Said) else "memory"
        return self._denied.has_text(item.text) or self._denied.has_id(self._id(kind, item.key))

    def _left(self, left: Left) -> None:
        self.done.left[left.what, left.why] += left.count

    # --- messages -------------------------------------------------------------------------------

    def _checked(self, said: Said) -> Said:
        text = clean_text(said.text)
        if len(text) > MAX_MESSAGE_BYTES:
            self._left(Left("message", f"it is longer than {MAX_MESSAGE_BYTES:,} characters"))
            text = ""
        return replace(said, text=text)

    def _groups(self, groups: Iterable[list[Said] | Left]) -> None:
        for group in groups:
            if isinstance(group, Left):
                self._left(group)
                continue
            now = self._open
            head = group[0]
            before = now.at
            at = head.at or before or self._now
            gap = (at - before).total_seconds() if before and now.begun else 0.0
            fresh = now.talk.by_pauses and gap >= CONVERSATION_PAUSE_SECONDS
            if fresh:
                now = self._open = _Open(replace(now.talk), at)
            pause = not now.begun or gap >= TIME_PAUSE_SECONDS
            now.begun, now.at = True, group[-1].at or at
            ids = [self._id("message", each.key) for each in group]
            self._pending.append(_Pending(group, ids, now, at, pause, fresh))
            if len(self._pending) >= FOREIGN_BATCH:
                self._store()

    def _store(self) -> None:
        """Put the waiting groups into the journal, but for those that are there."""
        heads = [each.ids[0] for each in self._pending]
        there = known(self._state.database, heads) if heads else {}
        new: list[tuple[Message, int, bool]] = []
        seen: set[str] = set()
        for each in self._pending:
            head = each.ids[0]
            if head in there:
                seq, number = there[head]
                each.talk.number = each.talk.number or number
                if seq <= self._since:
                    self.done.duplicates += len(each.group)
                else:
                    self._left(Left("message", "its id stands twice in the file", len(each.group)))
            elif head in seen:
                self._left(Left("message", "its id stands twice in the file", len(each.group)))
            else:
                seen.update(each.ids)
                new += self._messages(each)
        self._pending.clear()
        append_many(self._state.database, new)
        self.done.messages += len(new)
        self._stop(self.done.messages)

    def _messages(self, pending: _Pending) -> list[tuple[Message, int, bool]]:
        """A group as messages, with the next numbers; the pager has them too."""
        if self._pager is None:
            self._pager = Pager(self._writer, self._tool)
            self.done.paged_out = self._pager.written > 0
            self._seq = self._state.journal.last_seq
        if not pending.talk.number:
            self._conversation += 1
            pending.talk.number = self._conversation
            self.done.conversations += 1
        count = self._count.message
        found: list[tuple[Message, int, bool]] = []
        for said, id in zip(pending.group, pending.ids, strict=True):
            self._seq += 1
            message = self._message(said, id, pending)
            found.append((message, count(message), pending.pause and not found))
        tokens = sum(size for _, size, _ in found)
        self._pager.add(Group(tuple(message for message, _, _ in found), tokens))
        return found

    def _message(self, said: Said, id: str, pending: _Pending) -> Message:
        orphan = said.role == "tool" and len(pending.group) == 1
        result = said.role == "tool" and not orphan
        text = said.text or (_EMPTY if result else "")
        speaker = clean_text(said.speaker).strip()[:200]
        calls = tuple(
            ToolCall(clean_text(call.id), clean_text(call.name), clean_text(call.arguments))
            for call in said.calls
        )
        return Message(
            "user" if orphan else said.role,
            (Text(text),) if text else (),
            calls,
            tool_call_id=clean_text(said.answers) if result else "",
            name=speaker if result else "",
            kind="observation" if orphan else "talk",
            seq=self._seq,
            id=id,
            conversation=pending.talk.number,
            speaker=speaker or said.role,
            said_at=said.at or pending.at,
            recorded_at=self._now,
            provenance=self._made,
            ok=said.ok,
        )

    # --- memories -------------------------------------------------------------------------------

    def _keep(self, kept: Kept) -> None:
        text = clean_text(kept.text)
        if len(text) > PASSAGE_CHARS:
            self._left(Left("memory", f"it is longer than {PASSAGE_CHARS:,} characters"))
            return
        _, new = self._state.passages.insert(
            text,
            tags=each_once([clean_text(tag) for tag in kept.tags]),
            importance=None,
            metadata=clean_json(kept.metadata),
            seq=self._state.journal.last_seq,
            provenance=self._made,
            author="user",
            id=self._id("memory", kept.key),
            created_at=kept.at,
        )
        self.done.passages += new
        self.done.duplicates += not new

    def _set_blocks(self) -> None:
        """Blocks that are empty here are filled, those that are not here are made; in a new agent
        they take the place of what its definition says. What is too long becomes a passage."""
        here = {block.label: block for block in self._state.blocks.all()}
        for each in self._blocks:
            value = clean_text(each.value)
            block = here.get(each.label)
            if not each.label or set(each.label) - set(_LABEL) or not each.label[0].isalpha():
                self._left(Left("block", f"{each.label[:40]!r} is no label here"))
            elif not value.strip():
                continue
            elif block is not None and block.value == value:
                self.done.duplicates += 1
            elif each.label in self._writer.definition.profiles:
                self._keep(Kept(value, f"block {each.label}", tags=(each.label,)))
                self._left(Left("block", f"{each.label} is a profile here: kept as a passage"))
            elif block is not None and block.value and not self._new:
                self._left(Left("block", f"{each.label} has a text of its own here"))
            elif self._too_long(value):
                self._keep(Kept(value, f"block {each.label}", tags=(each.label,)))
                self._left(
                    Left("block", f"{each.label} is too long for this window: kept as a passage")
                )
            else:
                self._set_block(each, value, block)
                self.done.blocks += 1

    def _too_long(self, value: str) -> bool:
        usable = self._writer.window().usable
        return self._count.count(value) > usable * FOREIGN_BLOCK_FRACTION

    def _set_block(self, known: Known, value: str, block: Block | None) -> None:
        limit = max(known.limit, len(value))
        if block is None:
            made = Block(known.label, value, limit, clean_text(known.description))
        else:
            made = replace(
                block, value=value, limit=max(block.limit, len(value)), version=block.version + 1
            )
        if self._pager is not None or self._new:  # the prompt's head is made after this
            seq = self._state.journal.last_seq
            self._state.blocks.save(
                made, author="user", reason="import", seq=seq, origin="import", trust=None
            )
            return
        CoreEditor(
            self._state,
            self._writer.context.core,
            author="user",
            origin="import",
            tell=self._writer.queue_manager.append,
        ).put(made, "import")

    def _id(self, kind: str, key: str) -> str:
        """An id that is always the same for the same thing of the same tool (UUIDv8)."""
        text = "\0".join(("pagemind import", self._source.replace("jsonl", "openai"), kind, key))
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        variant = "89ab"[int(digest[16], 16) & 3]
        return (
            f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"
        )


def skipped(taken: Taken) -> Sequence[tuple[str, str, int]]:
    """What was left out and why, the most frequent first."""
    return [(what, why, n) for (what, why), n in taken.left.most_common()]
