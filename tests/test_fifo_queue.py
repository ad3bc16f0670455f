"""The FIFO queue: whole groups, in order, and a sum that is right."""

import pytest

from pagemind.runtime.fifo_queue import Entry, FifoQueue, group
from pagemind.runtime.message import Message, Role, Text, ToolCall
from pagemind.runtime.view import View


def entry(
    seq: int, role: Role = "user", *, calls: str = "", answers: str = "", tokens: int = 10
) -> Entry:
    """A message; `calls` and `answers` are call ids, a letter each."""
    message = Message(
        role,
        (Text(f"text {seq}"),),
        tool_calls=tuple(ToolCall(letter, "f", "{}") for letter in calls),
        tool_call_id=answers,
        seq=seq,
    )
    return Entry(message, message, tokens, tokens, View())


def seqs(entries: list[Entry]) -> list[list[int]]:
    return [[m.seq for m in each.messages] for each in group(entries)]


def test_a_call_and_its_results_are_one_group() -> None:
    """Everything else stands alone."""
    entries = [
        entry(1),
        entry(2, "assistant", calls="ab"),
        entry(3, "tool", answers="a"),
        entry(4, "tool", answers="b"),
        entry(5, "assistant"),
        entry(6),
    ]
    assert seqs(entries) == [[1], [2, 3, 4], [5], [6]]
    assert [g.tokens for g in group(entries)] == [10, 30, 10, 10]


def test_an_id_used_again_belongs_to_the_latest_call() -> None:
    """Servers that restart their numbering do not join two groups."""
    entries = [
        entry(1, "assistant", calls="a"),
        entry(2, "tool", answers="a"),
        entry(3, "assistant", calls="a"),
        entry(4, "tool", answers="a"),
    ]
    assert seqs(entries) == [[1, 2], [3, 4]]


def test_results_without_a_call_stand_alone() -> None:
    """An orphan is a group of its own, and a stranger's result joins no group."""
    entries = [entry(1, "tool", answers="x"), entry(2, "assistant", calls="a")]
    assert seqs([*entries, entry(3, "tool", answers="z")]) == [[1], [2], [3]]


def test_what_happened_while_a_tool_ran_stays_with_its_group() -> None:
    """An observation between a call and its result does not split them."""
    entries = [
        entry(1, "assistant", calls="ab"),
        entry(2, "tool", answers="a"),
        entry(3),
        entry(4, "tool", answers="b"),
        entry(5),
    ]
    assert seqs(entries) == [[1, 2, 3, 4], [5]]


def test_an_unanswered_call_does_not_hold_what_follows() -> None:
    """A call that never got its result is a group without it."""
    assert seqs([entry(1, "assistant", calls="a"), entry(2), entry(3)]) == [[1], [2], [3]]


def test_the_sum_follows_every_change() -> None:
    """push, replace, evict and drop keep `tokens` equal to the sum of the entries."""
    queue = FifoQueue([entry(1), entry(2, tokens=5)])
    queue.push(entry(3, tokens=7))
    assert queue.tokens == 22
    queue.replace(entry(2, tokens=1))
    assert queue.tokens == 18
    assert [e.seq for e in queue] == [1, 2, 3]
    queue.evict(2)
    assert queue.tokens == 8
    queue.drop(3)
    assert queue.tokens == sum(e.tokens for e in queue) == 1
    assert 2 in queue
    assert 3 not in queue


def test_seq_only_grows() -> None:
    """A message never gets in before one that is there."""
    queue = FifoQueue([entry(2)])
    with pytest.raises(AssertionError):
        queue.push(entry(1))


@pytest.mark.parametrize(
    ("entries", "newest"),
    [
        ([], []),
        ([entry(1)], [1]),
        ([entry(1), entry(2, "assistant", calls="a"), entry(3, "tool", answers="a")], [2, 3]),
        ([entry(1, "tool", answers="x"), entry(2, "tool", answers="y")], [2]),
        ([entry(1, "assistant", calls="a"), entry(2, "tool", answers="z")], [2]),
        (
            [entry(1, "assistant", calls="ab"), entry(2, "tool", answers="a"), entry(3)],
            [3],
        ),
        (
            [
                entry(1, "assistant", calls="ab"),
                entry(2, "tool", answers="a"),
                entry(3),
                entry(4, "tool", answers="b"),
            ],
            [1, 2, 3, 4],
        ),
    ],
)
def test_newest_is_the_last_group(entries: list[Entry], newest: list[int]) -> None:
    """Found from the tail, it is what grouping everything gives."""
    assert [e.seq for e in FifoQueue(entries).newest()] == newest
    assert (seqs(entries)[-1:] or [[]])[0] == newest
