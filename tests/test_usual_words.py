"""How usual a word is in an agent's life."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.message import Message, Text
from pagemind.runtime.settings import USUAL_SAMPLE
from pagemind.runtime.state.state import State
from pagemind.runtime.usual_words import UsualWords


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    state = State(tmp_path, FrozenClock())
    yield state
    state.close()


def say(state: State, *texts: str) -> None:
    with state.database.transaction():
        for text in texts:
            state.journal.append(Message("user", (Text(text),)), tokens=1)


def test_a_word_that_is_said_again_and_again_is_usual(state: State) -> None:
    """And one that was said once, or never, is rare; no words at all tell nothing."""
    say(state, *["The boat is painted."] * 4, "The boat is called Nomad.")
    usual = UsualWords(state)
    assert usual.rarity(["nomad"]) == usual.rarity(["unheard"]) == 1.0
    assert usual.rarity(["boat"]) == 0.2
    assert usual.rarity(["boat", "nomad"]) == pytest.approx(0.6)
    assert usual.rarity([]) == 0.0


def test_counts_follow_the_history_as_it_grows(state: State) -> None:
    """Not at every message: when it is a quarter longer."""
    say(state, *["Nothing new about the harbour."] * 8)
    usual = UsualWords(state)
    assert usual.rarity(["heron"]) == 1.0
    say(state, "A heron.", "A heron.")
    assert usual.rarity(["heron"]) == 1.0
    say(state, "A heron.", "A heron.")
    assert usual.rarity(["heron"]) == 0.25


def test_a_long_history_is_sampled_evenly(state: State) -> None:
    """What counting costs does not grow with it."""
    say(state, *(f"word{n // 100}" for n in range(2 * USUAL_SAMPLE)))
    usual = UsualWords(state)
    last = 2 * USUAL_SAMPLE // 100 - 1
    assert usual.rarity(["word0"]) == usual.rarity([f"word{last}"]) == pytest.approx(1 / 50)


def test_a_words_weight_falls_with_each_time(state: State) -> None:
    """As it is written, whatever its ending; one without meaning has none."""
    say(state, *["The boats are painted."] * 4, "That boat is called Nomad.", "Boats!")
    usual = UsualWords(state)
    assert usual.weight("Nomad") == 1.0
    assert 1.0 > usual.weight("painted") > usual.weight("Boat's") > 0.0
    assert usual.weight("the") == usual.weight("…") == 0.0


def test_without_a_history_every_word_is_rare(state: State) -> None:
    """Nothing was said, nothing is usual."""
    assert UsualWords(state).weight("Nomad") == UsualWords(state).rarity(["nomad"]) == 1.0
