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
    """Split groups into runs of at most `page_tokens`, at ends of turns, and of those at pauses and
    new conversations if near.

    Greedy; when a run is full it is cut at the widest pause in its last third, so that a page
    rather ends with a subject than in the middle of one; a question and its answer are torn apart
    only where no page would hold both. A group above the limit is a page alone.
    """
    runs: list[list[Group]] = []
    run: list[Group] = []
    size = 0
    for group in groups:
        if run and size + group.tokens > page_tokens:
            at = _best_cut([*run, group], page_tokens)
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


def turn_ends(before: Group, after: Group) -> bool:
    """Whether one turn ends and another begins between two neighbours."""
    last, first = before.messages[-1].turn, after.messages[0].turn
    return last != first or last == 0  # 0: part of no turn


def _best_cut(run: Sequence[Group], page_tokens: int) -> int:
    """Where to cut before the last group: in the last third before it at an end of a turn, rather
    where the minute changes as well (times are shown to the minute); if there is none, at the last
    end before; in one long turn anywhere in that third. Of several at the widest pause."""
    end = len(run) - 1
    near = range(max(1, end - end // 3), end + 1)
    fitting = _fitting(run, page_tokens)
    ends = [at for at in fitting if turn_ends(run[at - 1], run[at])]
    late = [at for at in ends if at in near]
    clear = [at for at in late if _minute_changes(run[at - 1], run[at])]
    within = [at for at in fitting if at in near]
    return max(
        clear or late or ends[-1:] or within, key=lambda at: (_pause(run[at - 1], run[at]), at)
    )


def _fitting(run: Sequence[Group], page_tokens: int) -> list[int]:
    """Where a cut leaves no more than a page after it, lest the rest is cut again at once."""
    fitting: list[int] = []
    left = 0
    for at in range(len(run) - 1, 0, -1):
        left += run[at].tokens
        if left > page_tokens and at < len(run) - 1:
            break
        fitting.insert(0, at)
    return fitting


def _minute_changes(before: Group, after: Group) -> bool:
    last, first = before.messages[-1], after.messages[0]
    if last.recorded_at is None or first.recorded_at is None:
        return False
    if last.conversation != first.conversation:
        return True
    return last.recorded_at.timestamp() // 60 != first.recorded_at.timestamp() // 60


def _pause(before: Group, after: Group) -> float:
    """Seconds between two neighbours; a new conversation counts as a long pause."""
    last, first = before.messages[-1], after.messages[0]
    if last.recorded_at is None or first.recorded_at is None:
        return 0.0
    gap = (first.recorded_at - last.recorded_at).total_seconds()
    return max(gap, CONVERSATION_PAUSE_SECONDS) if last.conversation != first.conversation else gap
