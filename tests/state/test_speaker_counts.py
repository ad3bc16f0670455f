"""What can be found is counted as it is written, so that no search counts the history."""

from pathlib import Path

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.message import Message, Text
from pagemind.runtime.state.state import State


def test_the_counts_follow_the_messages(tmp_path: Path) -> None:
    """Talk and observations count under their speaker, notices do not, deleted ones no more."""
    state = State(tmp_path, FrozenClock())
    for kind, speaker in [
        ("talk", "sam"),
        ("talk", "assistant"),
        ("observation", "sam"),
        ("notice", "pagemind"),
    ]:
        state.journal.append(Message("user", (Text("x"),), kind=kind, speaker=speaker), tokens=1)
    assert state.journal.count() == 3
    assert sorted(state.journal.speakers()) == ["assistant", "sam"]
    state.database.write("DELETE FROM messages WHERE speaker = 'assistant'")
    assert state.journal.count() == 2
    assert state.journal.speakers() == ["sam"]
    state.close()


def test_an_empty_journal_counts_nothing(tmp_path: Path) -> None:
    """No row is no sum."""
    state = State(tmp_path, FrozenClock())
    assert (state.journal.count(), state.journal.speakers()) == (0, [])
    state.close()
