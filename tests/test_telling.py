"""How much a line tells that a question does not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.message import Message, Text
from pagemind.runtime.services import Hit
from pagemind.runtime.state.state import State
from pagemind.runtime.telling import Telling

TALK = ["Tell me more about that boat, please.", "Boats again, is it?"] * 3


@pytest.fixture
def telling(tmp_path: Path) -> Iterator[Telling]:
    state = State(tmp_path, FrozenClock())
    with state.database.transaction():
        for text in TALK:
            state.journal.append(Message("user", (Text(text),)), tokens=1)
    yield Telling(state)
    state.close()


def line(text: str, speaker: str = "sam") -> Hit:
    return Hit("m1", "recall", text, 1.0, speaker=speaker)


def test_what_is_said_again_and_again_tells_little(telling: Telling) -> None:
    """The question itself tells nothing, talk a little, a statement much."""
    question = "what is the boat called?"
    said = ("What is that boat called?", "Boats again, is it?", "It is called Nomad.")
    told = [telling.of(line(text), question) for text in said]
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[2] > told[1] == telling.of(line("Again, and again."), question)


@pytest.mark.parametrize(
    ("text", "speaker", "question", "speaks"),
    [
        ("Nour's boat is green.", "sam", "Which boat is Nour's?", True),
        ("My boat is green.", "Nour", "Which boat is Nour's?", True),
        ("Ines's boat is green.", "sam", "Which boat is Nour's?", False),
        ("Nour's cousin's boat is green.", "sam", "Which boat is Nour's?", False),
        ("Nour's cousin's boat is green.", "sam", "Which boat is Nour's cousin's?", True),
        ("Nour’s cousin’s boat is green.", "sam", "Which boat is Nour's?", False),
    ],
)
def test_whom_the_question_names(
    telling: Telling, text: str, speaker: str, question: str, speaks: bool
) -> None:
    """The subject or the speaker; whose cousin it is, is somebody else."""
    nobody = telling.of(line(text, speaker), question.lower())
    assert (telling.of(line(text, speaker), question) > nobody) == speaks
