"""What facts tell a search of words."""

from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.fact_sources import facts_about, newer_messages
from pagemind.runtime.facts import FactBook
from pagemind.runtime.state.state import State


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path, FrozenClock())


def test_facts_are_found_by_whom_a_query_names(state: State) -> None:
    """By every name of it, whatever its case; without facts nothing is looked up."""
    assert not facts_about(state, "Sam")
    book = FactBook(state)
    book.add("Sam Jones", "likes", "tea")
    book.add("Bob", "likes", "tea")
    assert facts_about(state, "What does sam jones's dog eat?") == {"a1"}
    assert facts_about(state, "Does anybody like tea?") == frozenset()


def test_a_message_is_over_when_what_it_told_is(state: State) -> None:
    """Of several facts the one counts that is asked for."""
    book = FactBook(state)
    clock = state.clock
    assert isinstance(clock, FrozenClock)
    book.add("Sam", "lives_in", "Lisbon", sources=["m1"])
    book.add("Sam", "works_at", "the dairy", sources=["m1"])
    clock.advance(days=1)
    book.add("Sam", "lives_in", "Porto", sources=["m5"])
    clock.advance(days=1)
    book.add("Sam", "lives_in", "Faro", sources=["m9"])
    assert newer_messages(state, [1, 5, 9], "Where does Sam live?") == {1: (9,), 5: (9,)}
    assert newer_messages(state, [1], "Where does Sam work?") == {}
    assert newer_messages(state, [7], "Where does Sam live?") == {}
