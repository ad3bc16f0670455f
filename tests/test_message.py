"""The canonical message: text, its JSON, and the cleaning at the border."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_texts import ODD

from pagemind.runtime.message import (
    Blob,
    Message,
    Reasoning,
    Text,
    ToolCall,
    clean_json,
    clean_text,
    parts_from_json,
    parts_to_json,
)

any_text = st.text(st.characters(codec=None), max_size=80)


@given(any_text)
def test_a_clean_text_can_be_stored_anywhere(text: str) -> None:
    """UTF-8 takes it, no NUL is left, and cleaning it again changes nothing."""
    clean = clean_text(text)
    clean.encode("utf-8")
    assert "\x00" not in clean
    assert clean_text(clean) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("\ud83c\udf78", "🍸"),
        ("half \ud83c", "half \ufffd"),
        ("\udf78 half", "\ufffd half"),
        ("\udf78\ud83c", "\ufffd\ufffd"),
        ("a\x00b", "a\u2400b"),
        ("cafe\u0301 \r\n\t", "cafe\u0301 \r\n\t"),
    ],
)
def test_what_cleaning_does(text: str, clean: str) -> None:
    """Two halves become their character, a half alone U+FFFD; nothing else changes."""
    assert clean_text(text) == clean


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_clean_json_can_be_stored(value: object) -> None:
    """Every text in any JSON value is cleaned, keys too."""
    json.dumps(clean_json(value), ensure_ascii=False).encode("utf-8")


@given(
    st.lists(
        st.one_of(
            any_text.map(clean_text).map(Text),
            st.builds(Reasoning, st.just("x"), json_values.map(clean_json), st.just("hm")),
            st.builds(
                Blob, st.just("ab" * 32), st.just("image/png"), st.just(9), st.just(9), st.just("c")
            ),
        ),
        max_size=4,
    ).map(tuple),
    st.lists(st.builds(ToolCall, st.just("c1"), st.just("f"), st.just('{"a": "é"}')), max_size=2),
    st.booleans(),
)
def test_json_and_back(parts: tuple[object, ...], calls: list[ToolCall], ok: bool) -> None:
    """What is stored is what was said."""
    message = Message(
        "assistant",
        parts,
        tool_calls=tuple(calls),
        tool_call_id="c9",
        name="f",
        ok=ok,
        reference={"target": "p1", "part": 2},
    )
    text = parts_to_json(message)
    back = Message("assistant", **parts_from_json(text))
    assert back == message
    assert parts_to_json(back) == text


def test_letters_are_stored_as_letters() -> None:
    """No escapes blow up Chinese text."""
    assert "港の灯" in parts_to_json(Message("user", (Text("港の灯"),)))


def test_a_newer_format_is_refused() -> None:
    """Rather than misread."""
    with pytest.raises(ValueError, match="newer"):
        parts_from_json('{"v": 99, "parts": []}')


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        ('{"a": 1}', {"a": 1}),
        *((text, {}) for text in ("", "{}", "[1]", '"a"', "not json", '{"a', "null", "[" * 9999)),
        ('{"a": "\\ud83c"}', {"a": "\ufffd"}),
    ],
)
def test_arguments_are_an_object_or_empty(arguments: str, parsed: dict[str, object]) -> None:
    """parsed() never raises."""
    assert ToolCall("c", "f", arguments).parsed() == parsed


def test_the_text_of_a_message_is_its_texts_and_captions() -> None:
    """Reasoning is not text."""
    parts = (
        Reasoning("x", {}, "secret"),
        Text("Look:"),
        Blob("ab" * 32, "image/png", 9, 9, "a boat"),
    )
    message = Message("assistant", parts)
    assert message.text == "Look:\n[image/png: a boat]"
    assert message.with_text("Hm").parts == (parts[0], Text("Hm"))
    assert message.with_text("").parts == (parts[0],)


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_texts_survive(text: str) -> None:
    """Through JSON and back."""
    message = Message("user", (Text(clean_text(text)),))
    assert Message("user", **parts_from_json(parts_to_json(message))) == message
