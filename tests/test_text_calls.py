"""Calls that a model writes as text."""

import json

import pytest

from pagemind.runtime.text_calls import CallHold, calls_in

NAMES = ("core_append", "clock_now")
BARE = '{"name": "core_append", "arguments": {"content": "Sam"}}'

FORMS = {
    "bare": BARE,
    "spaced": f"\n  {BARE}\n",
    "tagged": f"<tool_call>\n{BARE}\n</tool_call>",
    "never closed": f"<tool_call>{BARE}",
    "json fence": f"```json\n{BARE}\n```",
    "plain fence": f"```\n{BARE}\n```",
    "tagged in a fence": f"```\n<tool_call>{BARE}</tool_call>\n```",
    "marked": f"[TOOL_CALLS] [{BARE}]",
    "parameters": BARE.replace("arguments", "parameters"),
    "as on the wire": json.dumps(
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "core_append", "arguments": '{"content": "Sam"}'},
        }
    ),
    "function beside arguments": '{"function": "core_append", "arguments": {"content": "Sam"}}',
}

NO_CALLS = {
    "prose": "I would call core_append with Sam.",
    "a call in prose": f"Sure! {BARE}",
    "a call and a remark": f"{BARE}\nDone.",
    "a remark after the tag": f"<tool_call>{BARE}</tool_call> Done.",
    "an unknown function": BARE.replace("core_append", "rm_rf"),
    "one of two unknown": f"[{BARE}, {BARE.replace('core_append', 'rm_rf')}]",
    "data": '{"name": "core_append", "age": 7}',
    "no arguments": '{"name": "core_append"}',
    "arguments that are a list": '{"name": "core_append", "arguments": ["Sam"]}',
    "two sets of arguments": '{"name": "core_append", "arguments": {}, "args": {}}',
    "cut off": BARE[:-3],
    "broken": BARE.replace('"Sam"', "Sam"),
    "another shape": '{"type": "bot_response", "message": "Hi."}',
    "a name that is no text": '{"name": 7, "arguments": {}}',
    "a number": "42",
    "nothing": "",
    "a fenced program": '```python\nprint("Sam")\n```',
    "deep nesting": "[" * 100_000,
}


def streamed(text: str, size: int) -> tuple[str, str]:
    """What was shown, and what is held at the end."""
    hold = CallHold()
    shown = "".join(hold.feed(text[at : at + size]) for at in range(0, len(text), size))
    return shown, hold.held


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_content_that_is_a_call_is_a_call(text: str) -> None:
    """Every common way of writing a call is read to the same call, which has no id yet."""
    (call,) = calls_in(text, NAMES)
    assert (call.id, call.name, call.parsed()) == ("", "core_append", {"content": "Sam"})


@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_anything_else_is_text(text: str) -> None:
    """Prose, data, unknown functions and broken JSON are never run."""
    assert calls_in(text, NAMES) == ()


def test_several_calls_keep_their_order() -> None:
    """A list and a run of tags hold one call each."""
    now = '{"name": "clock_now", "arguments": {}}'
    for text in (f"[{BARE}, {now}]", f"<tool_call>{BARE}</tool_call>\n<tool_call>{now}"):
        assert [call.name for call in calls_in(text, NAMES)] == ["core_append", "clock_now"]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_call_is_never_shown(text: str, size: int) -> None:
    """However it streams, a person does not read the JSON of a call."""
    assert streamed(text, size) == ("", text)


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("text", NO_CALLS.values(), ids=NO_CALLS)
def test_no_text_is_lost(text: str, size: int) -> None:
    """What is shown and what is held make up the text."""
    text = text[:2000]
    assert "".join(streamed(text, size)) == text


@pytest.mark.parametrize(
    "text", ["Hello.", "[1] is a footnote", '{"colour": ', "```python\n", "<b>", "{1, 2}"]
)
def test_text_flows_as_soon_as_it_can_be_no_call(text: str) -> None:
    """An answer is held back for a few characters at most."""
    assert streamed(text, 1) == (text, "")
