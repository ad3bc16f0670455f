"""Blocks, passages and the outbox: every version is kept, and what changed is queued once."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.core_editor import CoreEditor
from pagemind.runtime.core_memory import Block, CoreMemory
from pagemind.runtime.errors import BlockLimitExceeded
from pagemind.runtime.message import Message, Provenance, Text
from pagemind.runtime.passage import Passage
from pagemind.runtime.state.state import State


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    state = State(tmp_path, FrozenClock())
    yield state
    state.close()


def keep(state: State, text: str, *tags: str) -> tuple[Passage, bool]:
    return state.passages.insert(
        text,
        tags=tags,
        importance=None,
        metadata={},
        seq=0,
        provenance=Provenance("model", "x", 80),
        author="model",
    )


def block(state: State, value: str, version: int = 1, label: str = "human") -> None:
    state.blocks.save(
        Block(label, value, 100, version=version),
        author="model",
        reason="test",
        seq=0,
        origin="model",
        trust=None,
    )


# --- blocks -------------------------------------------------------------------------------------


def test_every_version_of_a_block_is_kept(state: State) -> None:
    """The newest value is the block; all of them are its history."""
    for version, value in enumerate(["", "Sam", "Sam\nPorto"], 1):
        block(state, value, version)
    assert [(b.value, b.version) for b in state.blocks.all()] == [("Sam\nPorto", 3)]
    assert [(v.version, v.value) for v in state.blocks.history("human")] == [
        (1, ""),
        (2, "Sam"),
        (3, "Sam\nPorto"),
    ]


def test_blocks_keep_their_order(state: State) -> None:
    """An edit does not move a block: its place is part of the prompt's prefix."""
    for label in ("persona", "human", "scratch"):
        block(state, "", 1, label)
    block(state, "x", 2, "persona")
    assert [b.label for b in state.blocks.all()] == ["persona", "human", "scratch"]


def test_a_lost_update_is_refused(state: State) -> None:
    """A version that does not follow the stored one is a fault, and nothing is written."""
    block(state, "", 1)
    block(state, "one", 2)
    with pytest.raises(AssertionError):
        block(state, "other", 2)
    assert state.blocks.all()[0].value == "one"


def test_a_refused_edit_changes_nothing(state: State) -> None:
    """An edit over the limit leaves block, history and the window as they were."""
    block(state, "x" * 99, 1)
    core = CoreMemory(state.blocks.all())
    editor = CoreEditor(state, core)
    with pytest.raises(BlockLimitExceeded, match=r"110 of 100 characters, 10 too many"):
        editor.append("human", "y" * 10)
    assert core.get("human").value == state.blocks.all()[0].value == "x" * 99
    assert len(state.blocks.history("human")) == 1


def test_the_window_follows_the_commit(state: State) -> None:
    """When the transaction around an edit fails, the block in the window is the old one."""
    block(state, "old", 1)
    core = CoreMemory(state.blocks.all())
    with suppress(ZeroDivisionError), state.database.transaction():
        CoreEditor(state, core).rewrite("human", "new")
        1 / 0  # noqa: B018
    assert core.get("human").value == "old"
    assert CoreEditor(state, core).rewrite("human", "newer") == "newer"
    assert core.get("human").version == 2


def test_two_edits_in_one_transaction(state: State) -> None:
    """A second edit of the same block before the commit builds on the first."""
    block(state, "", 1)
    core = CoreMemory(state.blocks.all())
    editor = CoreEditor(state, core)
    with state.database.transaction():
        editor.append("human", "one")
        editor.append("human", "two")
    assert core.get("human").value == "one\ntwo"
    assert core.get("human").version == 3


# --- passages -----------------------------------------------------------------------------------


def test_the_same_text_is_stored_once(state: State) -> None:
    """White space around it makes no other passage; a retired one does not count."""
    first, new = keep(state, "The boat is Nomad.")
    again, new_again = keep(state, "  The boat is Nomad.\n")
    assert (new, new_again, again.number) == (True, False, first.number)
    state.passages.set_status(first.number, "retired", author="model", reason="x", seq=0)
    other, new = keep(state, "The boat is Nomad.")
    assert (new, other.number) == (True, 2)


def test_every_version_of_a_passage_is_kept(state: State) -> None:
    """Edits and retirement are versions; the number stays."""
    keep(state, "Nomad", "boat")
    edited = state.passages.edit(1, "Nomad II", author="model", reason="edited", seq=4)
    assert edited is not None
    assert (edited.version, edited.tags) == (2, ("boat",))
    state.passages.set_status(1, "retired", author="user", reason="deleted", seq=5)
    assert [(v.version, v.value, v.author) for v in state.passages.history(1)] == [
        (1, "Nomad", "model"),
        (2, "Nomad II", "model"),
        (3, "Nomad II", "user"),
    ]
    assert state.passages.count() == 0
    assert state.passages.edit(1, "x", author="m", reason="r", seq=0) is None
    assert state.passages.edit(9, "x", author="m", reason="r", seq=0) is None


def test_a_retired_passage_can_come_back(state: State) -> None:
    """Forgetting is recoverable."""
    keep(state, "Nomad")
    state.passages.set_status(1, "retired", author="m", reason="r", seq=0)
    assert state.passages.set_status(1, "retired", author="m", reason="r", seq=0) is None
    state.passages.set_status(1, "active", author="m", reason="r", seq=0)
    assert [p.text for p in state.passages.newest(5)] == ["Nomad"]
    assert [i.op for i in state.outbox.pending(9)] == ["put"]


# --- the outbox ---------------------------------------------------------------------------------


def say(state: State, text: str) -> None:
    state.journal.append(Message("user", (Text(text),)), tokens=1)


def test_pending_is_oldest_first_and_once_a_key(state: State) -> None:
    """A key that changes again moves to the end and stands there once, with its newest state."""
    keep(state, "first")
    say(state, "hello")
    state.passages.edit(1, "changed", author="m", reason="r", seq=0)
    items = state.outbox.pending(9)
    assert [(i.tier, i.key) for i in items] == [("recall", "m1"), ("archival", "a1")]
    assert items[1].passage is not None
    assert items[1].passage.text == "changed"
    assert state.outbox.count() == 2
    assert state.outbox.count("recall") == 1


def test_a_key_that_changed_meanwhile_stays(state: State) -> None:
    """done() forgets what was written, not what changed after it was read."""
    keep(state, "first")
    say(state, "hello")
    written = state.outbox.pending(9)
    state.passages.edit(1, "changed", author="m", reason="r", seq=0)
    state.outbox.done(written)
    (left,) = state.outbox.pending(9)
    assert left.key == "a1"
    assert left.passage is not None
    assert left.passage.text == "changed"


def test_a_retired_passage_is_a_deletion(state: State) -> None:
    """Put and retired before it was ever written: the tiers are told to delete."""
    keep(state, "first")
    state.passages.set_status(1, "retired", author="m", reason="r", seq=0)
    (item,) = state.outbox.pending(9)
    assert (item.op, item.passage, item.message) == ("delete", None, None)


def test_an_erased_message_is_a_deletion(state: State) -> None:
    """What the authority no longer has is removed from the tiers."""
    say(state, "hello")
    state.database.write("DELETE FROM messages WHERE seq = 1")
    (item,) = state.outbox.pending(9)
    assert (item.op, item.message) == ("delete", None)


def test_the_lines_before_go_with_a_message(state: State) -> None:
    """An item carries up to two messages that precede it, for the three-line field."""
    for text in ("one", "two", "three", "four"):
        say(state, text)
    last = state.outbox.pending(9)[-1]
    assert [m.text for m in last.before] == ["two", "three"]


def test_a_failed_transaction_queues_nothing(state: State) -> None:
    """A row and its place in the outbox are one."""
    with suppress(ZeroDivisionError), state.database.transaction():
        say(state, "hello")
        1 / 0  # noqa: B018
    assert state.outbox.count() == 0


def test_refill_queues_everything_that_is_live(state: State) -> None:
    """A rebuild writes every message and every active passage again."""
    say(state, "hello")
    keep(state, "one")
    keep(state, "two")
    state.passages.set_status(1, "retired", author="m", reason="r", seq=0)
    state.outbox.done(state.outbox.pending(9))
    assert state.outbox.refill() == 2
    assert {i.key for i in state.outbox.pending(9)} == {"m1", "a2"}
