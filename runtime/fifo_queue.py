"""The FIFO queue of main context. push() adds at the tail; evict() removes whole groups from the
head; callers have written everything to the state database before.

An entry is a message, how it is shown, and what that costs. The recursive summary is the queue's
first slot in the paper; here it stands in the context head, so that the queue holds messages only.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pagemind.runtime.message import Message
from pagemind.runtime.page import Group
from pagemind.runtime.view import View


@dataclass(frozen=True, slots=True)
class Entry:
    """A resident message. `shown` is what the model sees; `tokens` counts that; `whole` all of it.

    `pause`: it follows a pause, so that its time is shown.
    """

    message: Message
    shown: Message
    tokens: int
    whole: int
    view: View
    pause: bool = False

    @property
    def seq(self) -> int:
        return self.message.seq

    @property
    def tells(self) -> bool:
        """Whether what it says can be read: a handle or a reference says nothing of it."""
        form = self.view.form
        return form in ("full", "excerpt", "reading") and (
            self.message.kind != "reading" or form == "reading"
        )


class FifoQueue:
    """Resident messages in order of seq."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = {entry.seq: entry for entry in entries}
        self._tokens = sum(entry.tokens for entry in self._entries.values())

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, seq: int) -> bool:
        return seq in self._entries

    def shows(self, seq: int) -> bool:
        """Whether a message is here and not set aside."""
        entry = self._entries.get(seq)
        return entry is not None and entry.view.form != "aside"

    @property
    def tokens(self) -> int:
        """What all entries cost as they are shown."""
        return self._tokens

    def push(self, entry: Entry) -> None:
        assert not self._entries or entry.seq > next(reversed(self._entries))
        self._entries[entry.seq] = entry
        self._tokens += entry.tokens

    def replace(self, entry: Entry) -> None:
        """Show a resident message in another form."""
        self._tokens += entry.tokens - self._entries[entry.seq].tokens
        self._entries[entry.seq] = entry

    def evict(self, before_seq: int) -> None:
        """Drop every entry below `before_seq`."""
        for seq in [seq for seq in self._entries if seq < before_seq]:
            self._tokens -= self._entries.pop(seq).tokens

    def drop(self, seq: int) -> None:
        self._tokens -= self._entries.pop(seq).tokens

    def newest(self) -> list[Entry]:
        """The entries of the newest group; what they cost to find does not grow with the queue."""
        entries: list[Entry] = []
        calls_missing: set[str] = set()
        for entry in reversed(self._entries.values()):
            entries.append(entry)
            message = entry.message
            if message.role == "tool":
                calls_missing.add(message.tool_call_id)
            elif message.tool_calls or not calls_missing:
                break
        entries.reverse()
        return entries[-len(group(entries)[-1].messages) :] if entries else []

    def since_calls(self) -> list[Entry]:
        """The newest message with calls and all that follow it; empty if there is none."""
        entries: list[Entry] = []
        for entry in reversed(self._entries.values()):
            entries.append(entry)
            if entry.message.tool_calls:
                return entries[::-1]
        return []

    def runs(self) -> list[tuple[int, int]]:
        """The seqs of all entries as ranges, both ends included. Most often it is one."""
        if not self._entries:
            return []
        first, last = next(iter(self._entries)), next(reversed(self._entries))
        if last - first + 1 == len(self._entries):  # asked at every step
            return [(first, last)]
        runs = [(first, first)]
        for seq in self._entries:
            start, end = runs[-1]
            if seq > end + 1:
                runs.append((seq, seq))
            else:
                runs[-1] = (start, seq)
        return runs

    def groups(self) -> list[Group]:
        """The units of eviction, oldest first; `Group.tokens` counts messages as shown."""
        return group(list(self._entries.values()))


def group(entries: list[Entry]) -> list[Group]:
    """Cut entries into groups: a message with calls keeps its results, and what came between
    (a tool may record an observation while it runs)."""
    groups: list[list[Entry]] = []
    waiting: set[str] = set()
    calling = 0  # the group whose calls are waiting for results
    for entry in entries:
        message = entry.message
        if message.role == "tool" and message.tool_call_id in waiting:
            waiting.discard(message.tool_call_id)
            between = [each for later in groups[calling + 1 :] for each in later]
            groups[calling:] = [[*groups[calling], *between, entry]]
            continue
        groups.append([entry])
        if message.tool_calls:
            waiting = {call.id for call in message.tool_calls}
            calling = len(groups) - 1
    return [Group(tuple(e.message for e in each), sum(e.tokens for e in each)) for each in groups]
