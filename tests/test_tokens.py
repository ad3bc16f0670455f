"""Counting: everything that is sent, for any text, without a network; and what models teach."""

import pytest
from odd_texts import ODD

from pagemind.runtime.message import Blob, Message, Reasoning, Text, ToolCall
from pagemind.runtime.model import ToolSchema, Usage
from pagemind.runtime.tokens import Calibration, TokenCounter, first_guess

counter = TokenCounter()


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_any_text_can_be_counted(text: str) -> None:
    """No text panics the tokenizer, and a special token's look-alike is plain text."""
    assert counter.count(text) > 0


def test_special_tokens_are_text() -> None:
    """Someone who types a control token has typed letters."""
    assert counter.count("<|endoftext|>") > 3


def test_a_long_text_counts_as_its_parts() -> None:
    """Counting in pieces changes next to nothing."""
    text = "The harbour light went out at nine. " * 20_000
    piece = counter.count("The harbour light went out at nine. " * 1000)
    assert abs(counter.count(text) - 20 * piece) < 0.001 * 20 * piece


def test_the_cache_does_not_hold_long_texts() -> None:
    """A book is remembered by its hash, so that a cache of counts does not keep a library."""
    own = TokenCounter()
    own.count("x y " * 100_000)
    assert sum(len(key) for key in own._seen) < 1000
    assert own.count("x y " * 100_000) == counter.count("x y " * 100_000)


def test_everything_of_a_message_counts() -> None:
    """Calls, ids, reasoning and blobs are sent too."""
    plain = counter.message(Message("assistant", (Text("Hi"),)))
    call = ToolCall("call_1234", "core_append", '{"block": "human", "content": "Sam"}')
    for more in (
        Message("assistant", (Text("Hi"),), tool_calls=(call,)),
        Message("assistant", (Text("Hi"), Reasoning("x", {"reasoning_content": "let me think"}))),
        Message("assistant", (Text("Hi"), Blob("ab" * 32, "image/png", 5, 85))),
        Message("tool", (Text("Hi"),), tool_call_id="call_1234"),
    ):
        assert counter.message(more) > plain


def test_schemas_count() -> None:
    """Functions are part of the prompt."""
    schema = ToolSchema("f", "Does something useful.", {"type": "object", "properties": {}})
    assert counter.tools((schema, schema)) == 2 * counter.tools((schema,)) > 20


# --- calibration ----------------------------------------------------------------------------------


def test_a_model_that_counts_more_shrinks_our_window() -> None:
    """The factor is the worse of average and last, with a margin."""
    learnt = first_guess("openai/x").learn(1000, Usage(1500))
    assert learnt.factor == pytest.approx(1.5 * 1.05)
    better = learnt.learn(1000, Usage(1000))
    assert 1.0 < better.ratio < 1.5
    assert better.factor > 1.05


@pytest.mark.parametrize("usage", [Usage(), Usage(0, 50), Usage(-1)])
def test_missing_usage_teaches_nothing(usage: Usage) -> None:
    """0 means unknown, not free."""
    start = Calibration(1.2, 1.2, 3)
    assert start.learn(1000, usage) == start


def test_a_tiny_prompt_teaches_nothing() -> None:
    """In a short request the overhead of a template drowns the ratio."""
    assert Calibration(1.0, 1.0).learn(50, Usage(500)) == Calibration(1.0, 1.0)


def test_nonsense_is_bounded() -> None:
    """A provider that reports absurd numbers cannot take the whole window away."""
    assert Calibration(1.0, 1.0).learn(1000, Usage(10**9)).factor <= 2.5 * 1.05
    assert Calibration(1.0, 1.0).learn(100_000, Usage(1)).factor >= 0.5


def test_foreign_tokenizers_get_a_margin_before_the_first_reply() -> None:
    """Until a model has reported anything, other families are given more room."""
    assert first_guess("anthropic/x").factor > first_guess("openai/gpt-4o").factor
