"""Pages: immutable runs of evicted messages, cut from groups; directories of them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pagemind.runtime.message import Message
from pagemind.runtime.settings import CONVERSATION_PAUSE_SECONDS, FANOUT

Kind = Literal["page", "directory"]


@dataclass(frozen=True, slots=True)
class Page:
    """Evicted messages first_seq … last_seq; `tokens` is what reading all of it costs.

    A directory is the same of 16 consecutive siblings, on the `level` above theirs; pages are
    level 0. Both are numbered in one sequence each, in the order they were written. `heat` says
    how often it was read or found of late; `parent` is the number of the directory it is in.
    """

    number: int
    first_seq: int
    last_seq: int
    first_at: datetime
    last_at: datetime
    messages: int
    tokens: int
    gist: str
    keywords: tuple[str, ...]
    trust: int
    gist_author: str = "runtime"
    heat: float = 0.0
    parent: int | None = None
    level: int = 0

    @property
    def kind(self) -> Kind:
        return "directory" if self.level else "page"

    @property
    def short_id(self) -> str:
        return f"{'d' if self.level else 'p'}{self.number}"

    @property
    def pages(self) -> int:
        """How many pages it holds: 1, or those of a directory, which is always full."""
        return 1 if self.level == 0 else int(FANOUT**self.level)


@dataclass(frozen=True, slots=True)
class Group:
    """The unit of eviction: one plain message, or a call with all its results."""

    messages: tuple[Message, ...]
    tokens: int

    @property
    def first_seq(self) -> int:
        return self.messages[0].seq

    @property
    def last_seq(self) -> int:
        return self.messages[-1].seq


def cut(groups: Sequence[Group], page_tokens: int) -> list[list[Group]]:
    """Split groups into runs of at most `page_tokens`, at pauses and new conversations if near.

    Greedy; when a run is full it is cut at the widest pause in its last third, so that a page
    rather ends with a subject than in the middle of one. A group above the limit is a page alone.
    """
    runs: list[list[Group]] = []
    run: list[Group] = []
    size = 0
    for group in groups:
        if run and size + group.tokens > page_tokens:
            at = _best_cut([*run, group])
            runs.append(run[:at])
            run = run[at:]
            size = sum(each.tokens for each in run)
            if run and size + group.tokens > page_tokens:
                runs.append(run)
                run, size = [], 0
        run.append(group)
        size += group.tokens
    if run:
        runs.append(run)
    return [each for each in runs if each]


def _best_cut(run: Sequence[Group]) -> int:
    """Where to cut before the last group, or at the widest pause in the last third before it."""
    end = len(run) - 1
    best, widest = end, 0.0
    for at in range(max(1, end - end // 3), end + 1):
        before, after = run[at - 1].messages[-1], run[at].messages[0]
        if before.recorded_at is None or after.recorded_at is None:
            continue
        gap = (after.recorded_at - before.recorded_at).total_seconds()
        if before.conversation != after.conversation:
            gap = max(gap, CONVERSATION_PAUSE_SECONDS)
        if gap > widest:
            best, widest = at, gap
    return best
