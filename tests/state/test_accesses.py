"""When a model was last shown what."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.services import Hit
from pagemind.runtime.state.state import State


def test_the_last_time_counts_by_tier_and_number(tmp_path: Path) -> None:
    """m7 and a7 are not the same; what was never shown is left out."""
    clock = FrozenClock()
    state = State(tmp_path, clock)
    state.database.take()
    first = clock.now()
    state.accesses.record("recall", [7, 8])
    clock.advance(seconds=60)
    state.accesses.record_shown([Hit("m7", "recall", "x", 1), Hit("a7", "archival", "x", 1)])
    state.accesses.record_shown([Hit("h:a9", "archival", "x", 1, archive="h")])
    later = first + timedelta(seconds=60)
    assert state.accesses.read("recall", [6, 7, 8]) == {7: later, 8: first}
    assert state.accesses.read("archival", range(1, 2000)) == {7: later}
    assert state.accesses.read("pages", []) == {}
    state.close()


def test_what_was_not_stored_was_not_shown(tmp_path: Path) -> None:
    """It is part of the transaction it stands in."""
    state = State(tmp_path, FrozenClock())
    state.database.take()
    with suppress(RuntimeError), state.database.transaction():
        state.accesses.record("recall", [1])
        raise RuntimeError
    assert state.accesses.read("recall", [1]) == {}
    state.close()
