"""What precedes many messages is read at once, and is what reading one by one finds."""

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.message import Message, Text
from pagemind.runtime.state.state import State

KINDS = ("talk", "observation", "notice", "reading")
stored = st.tuples(st.sampled_from(KINDS), st.integers(1, 3))


@settings(max_examples=40, deadline=None)
@given(said=st.lists(stored, max_size=40), data=st.data())
def test_many_at_once_find_what_each_alone_finds(
    said: list[tuple[str, int]], data: st.DataObject
) -> None:
    """Gaps, other conversations and notices in between change nothing."""
    with tempfile.TemporaryDirectory() as folder:
        state = State(Path(folder), FrozenClock())
        with state.database.transaction():
            for kind, conversation in said:
                message = Message("user", (Text("x"),), conversation=conversation)
                # The kinds are drawn from the literals.
                state.journal.append(replace(message, kind=kind), tokens=1)
        seqs = list(range(1, len(said) + 1))
        some = data.draw(st.lists(st.sampled_from(seqs), unique=True)) if seqs else []
        each = {seq: state.journal.before(seq, 2) for seq in some}
        assert state.journal.before_each(some, 2) == each
        state.close()
