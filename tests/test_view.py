"""Views: how a message is shown, deterministic, within its size, and with a way to the rest."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from odd_texts import ODD

from pagemind.runtime.message import Message, Provenance, Text, ToolCall, clean_text
from pagemind.runtime.settings import EXCERPT_MIN_TOKENS
from pagemind.runtime.tokens import TokenCounter
from pagemind.runtime.view import View, show

counter = TokenCounter()
ZONE = ZoneInfo("America/Los_Angeles")


def shown(message: Message, view: View, *, pause: bool = False) -> Message:
    return show(
        message,
        view,
        pause=pause,
        whole=counter.message(message),
        zone=ZONE,
        count=counter.count,
        read=lambda m: f"read {m.reference}",
    )


def user(text: str, **more: object) -> Message:
    return Message("user", (Text(text),), seq=42, **more)


def test_full_is_the_message_itself() -> None:
    """Without a pause and a foreign speaker nothing is added."""
    message = user("Hello", speaker="user")
    assert shown(message, View()) is message


def test_the_time_stands_after_a_pause_in_the_agents_zone() -> None:
    """On both sides of a change to summer time the local hour is right."""
    winter = user("Hi", said_at=datetime(2026, 3, 7, 20, 0, tzinfo=UTC))
    summer = user("Hi", said_at=datetime(2026, 3, 9, 20, 0, tzinfo=UTC))
    assert shown(winter, View(), pause=True).text == "[Sat 2026-03-07 12:00] Hi"
    assert shown(summer, View(), pause=True).text == "[Mon 2026-03-09 13:00] Hi"
    assert shown(summer, View()).text == "Hi"


def test_the_agents_own_words_go_back_as_they_were() -> None:
    """No time is put before an assistant's text: the prefix must stay the same."""
    said = Message("assistant", (Text("Hi"),), said_at=datetime(2026, 3, 7, tzinfo=UTC))
    assert shown(said, View(), pause=True) is said


def test_a_speaker_and_a_source_are_named() -> None:
    """Who speaks is told where there may be several; an observation says whose it is."""
    assert shown(user("Hi", speaker="Sam"), View()).text == "Sam: Hi"
    seen = user("dark", kind="observation", provenance=Provenance("tool", "sensor", 40))
    assert shown(seen, View()).text == "[observed, sensor] dark"


@pytest.mark.parametrize("limit", [EXCERPT_MIN_TOKENS, 200, 1000])
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_an_excerpt_is_short_and_names_the_rest(text: str, limit: int) -> None:
    """Start, end and a handle to the whole, within the limit, for any text."""
    text = clean_text(text)
    made = shown(user(text), View("excerpt", limit))
    if counter.count(text) <= limit // 2:
        assert made.text == text
        return
    assert counter.count(made.text) <= limit
    if made.text != text:
        assert 'page_in("m42")' in made.text


def test_an_excerpt_has_start_and_end() -> None:
    """Both ends of a long message tell what it is."""
    made = shown(user("START " + "word " * 2000 + "END"), View("excerpt", 100)).text
    assert made.startswith("START word")
    assert made.endswith("END")
    assert "tokens in all" in made


def test_long_arguments_are_cut_and_stay_json() -> None:
    """A call shown as an excerpt keeps its keys and is an object that a provider accepts."""
    call = ToolCall("c1", "write", '{"path": "a.txt", "text": "' + "word " * 3000 + '", "n": 3}')
    message = Message("assistant", (), tool_calls=(call,), seq=7)
    made = shown(message, View("excerpt", 200))
    assert counter.message(made) < 300
    arguments = made.tool_calls[0].parsed()
    assert arguments["path"] == "a.txt"
    assert arguments["n"] == 3
    assert made.tool_calls[0].id == "c1"


def test_arguments_that_are_long_in_number_are_cut() -> None:
    """A thousand short values are no way around the limit."""
    import json

    call = ToolCall("c1", "f", json.dumps({f"key{n}": n for n in range(2000)}))
    made = shown(Message("assistant", (), tool_calls=(call,), seq=7), View("excerpt", 100))
    assert counter.message(made) < 250
    assert made.tool_calls[0].parsed()


def test_a_cut_call_tells_how_to_read_it() -> None:
    """Where the arguments were cut, the message says with which id the whole is read."""
    call = ToolCall("c1", "write", '{"text": "' + "word " * 3000 + '"}')
    made = shown(Message("assistant", (), tool_calls=(call,), seq=7), View("excerpt", 200))
    assert "m7" in made.tool_calls[0].arguments or "m7" in made.text


def test_a_handle_is_one_line() -> None:
    """A finished result says who answered, how much, and how to read it again."""
    result = Message("tool", (Text("word " * 500),), name="fetch", seq=9, tool_call_id="c")
    made = shown(result, View("handle"), pause=True)
    assert made.text.startswith("[fetch answered ")
    assert 'page_in("m9")' in made.text
    assert "\n" not in made.text
    assert made.tool_call_id == "c"


def test_a_reading_is_made_again() -> None:
    """It is stored as a reference and shown as what it refers to."""
    message = Message("tool", (Text("[read p1]"),), kind="reading", reference={"target": "p1"})
    assert shown(message, View("reading")).text == "read {'target': 'p1'}"
    assert shown(message, View("full")).text == "[read p1]"


def test_the_same_view_gives_the_same_text() -> None:
    """Any past request can be made again."""
    message = user("word " * 3000)
    assert shown(message, View("excerpt", 100)) == shown(message, View("excerpt", 100))
