"""A small authority for the tiers' tests: messages and passages in dicts, with an outbox."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pagemind.runtime.errors import ModelUnreachable
from pagemind.runtime.message import Message, Provenance, Role, Text
from pagemind.runtime.model import EmbeddingIdentity
from pagemind.runtime.models.hashing_embedder import HashingEmbedder
from pagemind.runtime.outbox import OutboxItem, Tier
from pagemind.runtime.page import Page
from pagemind.runtime.passage import Passage

START = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)


class Authority:
    """Implements Outbox and View."""

    def __init__(self) -> None:
        self.said: dict[int, Message] = {}
        self.kept: dict[int, Passage] = {}
        self.unwritten: dict[tuple[Tier, str], int] = {}
        self.context: set[int] = set()
        self.ranges: list[tuple[int, int]] | None = None
        self.shown: dict[tuple[Tier, int], datetime] = {}
        self._number = 0

    # --- what happens ---

    def say(self, text: str, speaker: str = "Sam", role: Role = "user", **fields: object) -> int:
        """A message, one minute after the last; its seq."""
        seq = len(self.said) + 1
        message = Message(
            role,
            (Text(text),),
            seq=seq,
            turn=seq,
            conversation=1,
            speaker=speaker,
            said_at=START + timedelta(minutes=seq),
        )
        self.said[seq] = replace(message, **fields)  # type: ignore[arg-type]  # free by design
        self._note("recall", f"m{seq}")
        return seq

    def keep(self, text: str, *tags: str, **fields: object) -> int:
        """A passage; its number."""
        number = len(self.kept) + 1
        passage = Passage(number, f"id-{number}", text, tags=tags, created_at=START)
        self.kept[number] = replace(passage, **fields)  # type: ignore[arg-type]  # free by design
        self._note("archival", f"a{number}")
        return number

    def edit(self, number: int, text: str) -> None:
        old = self.kept[number]
        self.kept[number] = replace(old, text=text, version=old.version + 1)
        self._note("archival", f"a{number}")

    def retire(self, number: int) -> None:
        old = self.kept[number]
        self.kept[number] = replace(old, provenance=Provenance(status="retired"))
        self._note("archival", f"a{number}")

    def refill(self) -> int:
        for seq in self.said:
            self._note("recall", f"m{seq}")
        for number in self.kept:
            self._note("archival", f"a{number}")
        return len(self.unwritten)

    def _note(self, tier: Tier, key: str) -> None:
        self._number += 1
        self.unwritten.pop((tier, key), None)
        self.unwritten[tier, key] = self._number

    # --- Outbox ---

    def pending(self, limit: int) -> list[OutboxItem]:
        items = []
        for (tier, key), number in list(self.unwritten.items())[:limit]:
            index = int(key[1:])
            if tier == "recall":
                before = tuple(self.said[i] for i in (index - 2, index - 1) if i in self.said)
                message = self.said[index]
                items.append(OutboxItem(number, tier, "put", key, message=message, before=before))
            elif self.kept[index].provenance.status == "retired":
                items.append(OutboxItem(number, tier, "delete", key))
            else:
                items.append(OutboxItem(number, tier, "put", key, passage=self.kept[index]))
        return items

    def done(self, items: Sequence[OutboxItem]) -> None:
        for item in items:
            if self.unwritten.get((item.tier, item.key)) == item.number:
                del self.unwritten[item.tier, item.key]

    # --- View (count is both's) ---

    def count(self, tier: Tier | None = None) -> int:
        return sum(tier in (None, t) for t, _ in self.unwritten)

    def messages(self, seqs: Sequence[int]) -> Mapping[int, Message]:
        return {seq: self.said[seq] for seq in seqs if seq in self.said}

    def pages(self, numbers: Sequence[int]) -> Mapping[int, Page]:
        return {}

    def passages(self, numbers: Sequence[int]) -> Mapping[int, Passage]:
        return {
            n: self.kept[n]
            for n in numbers
            if n in self.kept and self.kept[n].provenance.status != "retired"
        }

    def live(self) -> Sequence[tuple[int, int]] | None:
        return self.ranges

    def page_of(self, seq: int) -> str | None:
        return None if seq in self.context else f"p{(seq - 1) // 10 + 1}"

    def in_context(self, seq: int) -> bool:
        return seq in self.context

    def accessed(self, tier: Tier, keys: Sequence[int]) -> Mapping[int, datetime]:
        return {key: self.shown[tier, key] for key in keys if (tier, key) in self.shown}

    def superseded(self, numbers: Sequence[int]) -> Mapping[int, Sequence[Passage]]:
        return {}

    def about(self, words: str) -> Sequence[str]:
        return ()

    def newer(self, seqs: Sequence[int], words: str) -> Mapping[int, Sequence[int]]:
        return {}

    def speakers(self) -> Sequence[str]:
        return sorted({m.speaker for m in self.said.values()})


class AuthorityView(Authority):
    """The same, counting what a search looks through instead of what is unwritten."""

    def __init__(self, authority: Authority) -> None:
        self.__dict__ = authority.__dict__

    def count(self, tier: Tier | None = None) -> int:
        return len(self.said) if tier == "recall" else len(self.kept)


class BrokenEmbedder:
    """Fails until it is mended."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder()
        self.broken = True
        self.calls = 0

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._inner.identity

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        if self.broken:
            raise ModelUnreachable("no route to the embedder")
        return self._inner.embed(texts)

    def close(self) -> None:
        self._inner.close()
