"""The newest group is found from the tail of the queue."""

import pytest

from pagemind.runtime.fifo_queue import Entry, FifoQueue
from pagemind.runtime.message import Message, ToolCall
from pagemind.runtime.view import View


def a_queue(shape: str) -> FifoQueue:
    """u a user's message, a an assistant's, c a call, r its result, x a result without a call."""
    entries = []
    for seq, letter in enumerate(shape, 1):
        message = {
            "u": Message("user", seq=seq),
            "a": Message("assistant", seq=seq),
            "c": Message("assistant", tool_calls=(ToolCall("1", "f", "{}"),), seq=seq),
            "r": Message("tool", tool_call_id="1", seq=seq),
            "x": Message("tool", tool_call_id="?", seq=seq),
        }[letter]
        entries.append(Entry(message, message, 1, 1, View()))
    return FifoQueue(entries)


@pytest.mark.parametrize(
    "shape", ["u", "uau", "uc", "ucr", "ucrr", "ucru", "ux", "x", "ucrx", "xx"]
)
def test_the_newest_group_is_the_last_of_all_groups(shape: str) -> None:
    """Reading from the tail finds what cutting the whole queue finds."""
    queue = a_queue(shape)
    newest = tuple(entry.message for entry in queue.newest())
    assert newest == queue.groups()[-1].messages


def test_an_empty_queue_has_no_newest_group() -> None:
    """There is nothing to be in it."""
    assert FifoQueue().newest() == []
