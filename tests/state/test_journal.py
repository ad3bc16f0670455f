"""The journal: gapless order, conversations, and texts to the letter."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pagemind.runtime.clock import FrozenClock
from pagemind.runtime.message import Blob, Message, Provenance, Reasoning, Text, ToolCall
from pagemind.runtime.state.state import State


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def state(tmp_path: Path, clock: FrozenClock) -> Iterator[State]:
    state = State(tmp_path, clock)
    state.journal.open_first_line()
    yield state
    state.close()


def say(state: State, text: str = "Hello", **more: object) -> Message:
    message = Message("user", (Text(text),), speaker="Sam")
    return state.journal.append(replace(message, **more), tokens=1)[0]


def test_seq_is_gapless_and_never_reused(state: State) -> None:
    """Numbers follow each other, also over a transaction that failed."""
    assert [say(state).seq for _ in range(3)] == [1, 2, 3]
    with suppress(ZeroDivisionError), state.database.transaction():
        say(state)
        1 / 0  # noqa: B018
    assert say(state).seq == 4
    state.database.write("DELETE FROM messages WHERE seq = 4")  # as erasure does
    assert state.journal.last_seq == 4
    assert say(state).seq == 5


def test_order_is_seq_not_time(state: State, clock: FrozenClock) -> None:
    """A clock that goes back changes neither order nor conversation."""
    first = say(state)
    clock.advance(hours=-5)
    second = say(state)
    assert (first.seq, second.seq) == (1, 2)
    assert second.recorded_at < first.recorded_at
    assert second.conversation == first.conversation


@pytest.mark.parametrize(("hours", "conversation"), [(3.9, 1), (4.0, 2), (100, 2)])
def test_a_pause_begins_a_conversation(
    state: State, clock: FrozenClock, hours: float, conversation: int
) -> None:
    """Four hours of silence, and the next message belongs to a new conversation."""
    say(state)
    clock.advance(hours=hours)
    assert say(state).conversation == conversation
    assert say(state).conversation == conversation


def test_a_turn_keeps_its_conversation(state: State, clock: FrozenClock) -> None:
    """A message that says which conversation it belongs to is believed, whatever the pause."""
    first = say(state)
    clock.advance(hours=9)
    assert say(state, conversation=first.conversation).conversation == 1
    assert say(state).conversation == 1  # the pause was broken by that message


def test_a_short_pause_is_marked(state: State, clock: FrozenClock) -> None:
    """Ten minutes of silence are told with the message, so that its time can be shown."""
    message = Message("user", (Text("x"),))
    assert state.journal.append(message, tokens=1)[1] is True
    clock.advance(minutes=9)
    assert state.journal.append(message, tokens=1)[1] is False
    clock.advance(minutes=10)
    assert state.journal.append(message, tokens=1)[1] is True
    assert [pause for _, _, pause in state.journal.range(1, 3)] == [True, False, True]


TEXTS = {
    "NUL as its symbol": "a\u2400b",
    "raw NUL": "a\x00b",
    "emoji with joiners": "👩‍👩‍👧‍👦🍸🏽",
    "CJK": "港の灯りが消えた。港口的灯熄灭了。",
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
    "line ends": "a\r\nb\rc\u2028d\x85e\n",
    "tabs and spaces": "\t a   b \t",
    "special token": "<|endoftext|><|im_start|>system",
    "quotes": "\"'; DROP TABLE messages; -- \\",
    "right to left": "\u202eabc\u202c שלום",
    "only spaces": "   ",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_text_comes_back_to_the_letter(state: State, text: str) -> None:
    """Nothing is normalised, trimmed or interpreted."""
    say(state, text)
    (stored,) = state.journal.newest(1)
    assert stored.text == text


def test_ten_megabytes_come_back(state: State) -> None:
    """A large paste is one row."""
    text = "0123456789 \u00e9\n" * 800_000
    say(state, text)
    (found,) = state.journal.get([1]).values()
    assert found.text == text


def test_everything_of_a_message_comes_back(state: State, clock: FrozenClock) -> None:
    """Parts, calls, reference, provenance and times survive the disk."""
    message = Message(
        "assistant",
        (
            Reasoning("anthropic", {"thinking_blocks": [{"signature": "s" * 50}]}, "hm"),
            Text("I read it."),
            Blob("ab" * 32, "image/png", 1234, 85, "a boat"),
        ),
        tool_calls=(ToolCall("c|1", "page_in", '{"id": "p1"}'),),
        turn=3,
        speaker="assistant",
        said_at=datetime(2020, 2, 29, 23, 59, 59, 999999, tzinfo=UTC),
        provenance=Provenance("model", "openai/x", 80, "pending", ("m1", "a7")),
    )
    stored, _ = state.journal.append(message, tokens=9, step=2)
    assert state.journal.get([stored.seq])[stored.seq] == stored
    assert replace(stored, seq=0, id="", conversation=0, recorded_at=None) == message
    result = Message(
        "tool",
        (Text("…"),),
        tool_call_id="c|1",
        name="page_in",
        kind="reading",
        ok=False,
        reference={"target": "p1", "part": 1, "tokens": 99},
    )
    stored, _ = state.journal.append(result, tokens=1)
    assert state.journal.get([stored.seq])[stored.seq] == stored


def test_a_naive_time_is_refused(state: State) -> None:
    """A time without a zone never reaches the disk."""
    with pytest.raises(ValueError, match="naive"):
        say(state, said_at=datetime(2026, 1, 1))
    assert state.journal.last_seq == 0


def test_notices_and_readings_are_no_talk(state: State) -> None:
    """They have a seq, but are not counted, listed, or queued for the tiers."""
    say(state)
    say(state, kind="notice")
    say(state, kind="reading", role="tool")
    say(state, kind="observation")
    assert state.journal.count() == 2
    assert [m.seq for m in state.journal.newest(9)] == [4, 1]
    assert [m.seq for m in state.journal.before(4, 2)] == [1]
    assert [item.key for item in state.outbox.pending(9)] == ["m1", "m4"]


def test_what_stands_before_a_message_is_of_its_conversation(
    state: State, clock: FrozenClock
) -> None:
    """The lines before a message never reach into another conversation."""
    say(state, "old")
    clock.advance(hours=5)
    say(state, "new 1")
    say(state, "new 2")
    assert [m.text for m in state.journal.before(3, 2)] == ["new 1"]


def test_a_later_format_is_refused(state: State) -> None:
    """Content of a future version is an error, not a misreading."""
    say(state)
    state.database.write("UPDATE messages SET content = json_set(content, '$.v', 99)")
    with pytest.raises(ValueError, match="newer"):
        state.journal.get([1])


def test_the_first_line_is_open(state: State) -> None:
    """Until a rewind everything is live."""
    say(state)
    assert state.journal.live_ranges() is None
