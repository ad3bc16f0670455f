"""repair_arguments: whatever a model wrote as arguments becomes the JSON text of an object."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagemind.runtime.arguments import ends_in_text, plain_arguments, repair_arguments, unparsed
from pagemind.runtime.message import ToolCall


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (None, {}),
        ("", {}),
        ({"x": 1}, {"x": 1}),
        ('{"x": 1}', {"x": 1}),
        ('"{\\"x\\": 1}"', {"x": 1}),
        ('{"x": 1}{"x": 1}', {"x": 1}),
        ('{"x": "long te', {"x": "long te"}),
        ("{'x': 1,}", {"x": 1}),
        ('```json\n{"x": 1}\n```', {"x": 1}),
        ('{"x": NaN}', {"x": None}),
        ('{"x": "\\ud83c\\udf78"}', {"x": "🍸"}),
        ('{"x": "\\ud83c"}', {"x": "\ufffd"}),
    ],
)
def test_what_can_be_read_is_mended(raw: object, value: dict) -> None:
    """Doubled, quoted, cut-off and sloppy objects become the object that was meant."""
    assert json.loads(repair_arguments(raw)) == value


@pytest.mark.parametrize("raw", ["call me maybe", "[1, 2]", "7", "[" * 5000, "{" * 300_000])
def test_what_cannot_be_read_is_kept_and_recognised(raw: str) -> None:
    """The raw text stays readable for the model, and the executor can tell."""
    call = ToolCall("c1", "f", repair_arguments(raw))
    assert raw.startswith(unparsed(call) or "nothing")


def test_a_sound_object_is_kept_to_the_letter() -> None:
    """Spacing and key order are part of the prompt's stable prefix."""
    raw = '{ "b":1,\n  "a": "é" }'
    assert repair_arguments(raw) == plain_arguments(raw) == raw
    assert unparsed(ToolCall("c1", "f", raw)) is None


@given(st.one_of(st.text(st.characters(codec=None)), st.recursive(st.floats(), st.lists)))
def test_any_input_gives_a_json_object_in_utf8(raw: object) -> None:
    """No input raises, and the outcome is always an encodable JSON object."""
    text = repair_arguments(raw)
    text.encode("utf-8")
    assert isinstance(json.loads(text), dict)


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ('{"content": "a long te', True),
        ('{"content": "a \\"quoted\\" te', True),
        ('{"content": "ends in a slash \\', True),
        ('{"content": "whole"', False),
        ('{"content": "whole"}', False),
        ("{'content': 'it is'}", False),
        ('he said "hi', False),
        ("", False),
    ],
)
def test_arguments_that_break_off_inside_a_text_are_known(text: str, broken: bool) -> None:
    """A missing brace is sloppy; a text without its end was cut off."""
    assert ends_in_text(text) is broken
